/** A newer version of Lathe, from a feed of the test's own: the real updater, on the stand-in, down to the replaced file. */
import { createHash } from 'node:crypto'
import { chmod, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import packageJson from '../package.json' with { type: 'json' }
import type { LatheWindow } from './window.ts'
import { expect, test } from './desktop.ts'

test.skip(process.platform !== 'linux', 'What is replaced here is an AppImage.')

const newer = '#!/bin/sh\necho "$0" >> "$(dirname "$0")/started"\n'

class Feed {
  readonly asked: string[] = []
  /** Headers of every request. */
  readonly told: IncomingHttpHeaders[] = []
  readonly folder: string
  readonly env: Record<string, string>
  readonly #close: () => void
  /** What the feed says the file's hash is. */
  hash = createHash('sha512').update(newer).digest('base64')

  private constructor(folder: string, env: Record<string, string>, close: () => void) {
    this.folder = folder
    this.env = env
    this.#close = close
  }

  static async open(): Promise<Feed> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'lathe-feed-')))
    const server = createServer((request, response) => {
      feed.asked.push(request.url!.split('?')[0]!)
      feed.told.push(request.headers)
      if (request.url!.startsWith('/latest-linux.yml')) response.end(feed.description())
      else if (request.url!.startsWith('/Lathe.AppImage')) response.end(newer)
      else response.writeHead(404).end()
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const config = join(folder, 'app-update.yml')
    const app = join(folder, 'Lathe.AppImage')
    const { port } = server.address() as AddressInfo
    await writeFile(config, `provider: generic\nurl: http://127.0.0.1:${port}\nupdaterCacheDirName: lathe-updater\n`)
    await writeFile(app, '#!/bin/sh\nexit 1\n')
    await chmod(app, 0o755)
    const feed = new Feed(folder, { LATHE_UPDATE_CONFIG: config, APPIMAGE: app }, () => server.close())
    return feed
  }

  description(): string {
    const file = `url: Lathe.AppImage\n    sha512: ${this.hash}\n    size: ${newer.length}`
    return `version: 9.9.9\nfiles:\n  - ${file}\npath: Lathe.AppImage\nsha512: ${this.hash}\nreleaseNotes: Quieter <b>fans</b>.\nreleaseDate: '2026-11-29T00:00:00.000Z'\n`
  }

  installed(): Promise<string> {
    return readFile(join(this.folder, 'Lathe.AppImage'), 'utf8')
  }

  started(): Promise<string> {
    return readFile(join(this.folder, 'started'), 'utf8').catch(() => '')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#close()
    await rm(this.folder, { recursive: true })
  }
}

async function lookNow(window: LatheWindow): Promise<void> {
  await window.page.keyboard.press('Control+,')
  await window.dialog('Settings').getByRole('button', { name: 'Look now' }).click()
}

test('S-143 Z-227 Z-231 a newer version is looked for after a yes, names the turn it would stop, and is installed by a click', async ({
  open,
}) => {
  await using feed = await Feed.open()
  const desktop = await open({ env: feed.env, script: [{ emit: [{ text: 'Half an answer' }, { hang: true }] }] })
  const { app } = desktop
  const window = await desktop.begun()
  const bar = window.page.getByRole('status')
  await expect(bar.filter({ hasText: 'Look for a newer Lathe once a day?' })).toBeVisible()
  expect(feed.asked).toEqual([])
  await bar.getByRole('button', { name: 'Look for updates' }).click()
  await expect(bar.filter({ hasText: 'once a day' })).toHaveCount(0)

  await lookNow(window)
  const settings = window.dialog('Settings')
  await expect(settings).toContainText('Lathe 9.9.9 is ready')
  await expect(settings).toContainText('Quieter <b>fans</b>.')
  await window.page.keyboard.press('Escape')
  const offer = bar.filter({ hasText: 'Lathe 9.9.9 is ready to install.' })
  await expect(offer.getByRole('button', { name: 'Restart to update' })).toBeVisible()

  await window.send('Work')
  await expect(window.entry('Answer')).toContainText('Half an answer')
  await expect(offer).toContainText('restarting names it and asks first')
  await offer.getByRole('button', { name: 'Restart to update' }).click()
  const asked = (count: number) => app.until('asked', (state) => state.dialogs.length === count)
  const [first] = (await asked(1)).dialogs
  expect(first!.options).toMatchObject({
    message: 'Something is still running',
    detail: expect.stringContaining('Work'),
    buttons: ['Stop all and update', 'Cancel'],
    defaultId: 1,
  })
  await app.act('dialog.answer', { id: first!.id, answer: { response: 1 } })
  await expect(window.page.getByRole('button', { name: 'Stop', exact: true })).toBeVisible()
  expect(await feed.installed()).not.toBe(newer)

  await offer.getByRole('button', { name: 'Restart to update' }).click()
  const second = (await asked(2)).dialogs.at(-1)
  await app.act('dialog.answer', { id: second!.id, answer: { response: 0 } })
  expect(await app.ended).toBe(0)
  for (const { 'user-agent': agent, 'x-user-staging-id': number, ...rest } of feed.told) {
    expect(agent).toBe(`Lathe/${packageJson.version} linux-${process.arch}`)
    expect(number).toBe('none')
    expect(Object.keys(rest).sort()).toEqual(
      ['accept', 'cache-control', 'connection', 'host'].filter((name) => name in rest),
    )
  }
  expect(await feed.installed()).toBe(newer)
  await expect.poll(() => feed.started()).toContain('Lathe.AppImage')
})

test('Z-227 a file that is not what the feed said is not installed, and what is planned for the end comes at the end', async ({
  open,
}) => {
  await using feed = await Feed.open()
  const right = feed.hash
  feed.hash = createHash('sha512').update('another').digest('base64')
  const desktop = await open({ env: feed.env })
  const { app } = desktop
  const window = await desktop.begun()
  await lookNow(window)
  const settings = window.dialog('Settings')
  await expect(settings).toContainText('The last look failed')
  await expect(settings.getByRole('alert')).toContainText('sha512')
  feed.hash = right
  await settings.getByRole('button', { name: 'Look now' }).click()
  await expect(settings).toContainText('Lathe 9.9.9 is ready')
  await window.page.keyboard.press('Escape')
  await window.page.getByRole('button', { name: 'When I quit' }).click()
  await expect(window.page.getByRole('button', { name: 'When I quit' })).toHaveCount(0)
  expect(await feed.installed()).not.toBe(newer)
  await app.act('app.quit').catch(() => {})
  expect(await app.ended).toBe(0)
  expect(await feed.installed()).toBe(newer)
})
