/** A browser that may only watch: what it sees, what is not there for it, and how its rights come and go. */
import { mkdir } from 'node:fs/promises'
import type { Page } from '@playwright/test'
import { expect, type LatheWindow, test } from './window.ts'

const says = (text: string) => ({ emit: [{ text }] })
const writes = { emit: [{ call: { name: 'write_file', args: { path: 'made.txt', content: 'x' } } }] }
const pictures = process.env['LATHE_PICTURES']

/** Refusals that a page was sent: a button that cannot do what it says would bring one. */
function refusals(page: Page): string[] {
  const seen: string[] = []
  page.on('websocket', (socket) =>
    socket.on('framereceived', ({ payload }) => {
      if (String(payload).includes('access.denied')) seen.push(String(payload).slice(0, 300))
    }),
  )
  return seen
}

async function showBrowsers(window: LatheWindow) {
  await window.command('Settings')
  await window.page.getByRole('tab', { name: 'Browsers' }).click()
  return window.page.getByRole('list', { name: 'Signed-in browsers' }).getByRole('listitem')
}

test('S-31 Z-2 a browser is narrowed to watching and signed out from another one, and each takes hold at once', async ({
  open,
}) => {
  // Every button that is there is pressed.
  test.slow()
  const desk = await open({ script: [writes, says('First answer.'), says('Second answer.')] })
  const { window, lab } = desk
  await window.newSession()
  await window.send('first message')
  await window.approval.getByRole('button', { name: 'Allow once' }).click()
  await window.settled('completed')
  let denied: string[] = []
  const other = await desk.another(async (page) => {
    denied = refusals(page)
  })
  await other.sessions
    .getByRole('button', { name: /first message|A scripted title/ })
    .first()
    .click()
  await expect(other.message).toBeVisible()

  const listed = await showBrowsers(window)
  await expect(listed).toHaveCount(2)
  await expect(listed.filter({ hasText: 'This browser' })).toHaveCount(1)
  if (pictures) {
    await mkdir(pictures, { recursive: true })
    await window.page.screenshot({ path: `${pictures}/browsers.png` })
  }
  await window.page.getByRole('button', { name: /^Watch only:/ }).click()
  await expect(listed.filter({ hasText: 'Watches' })).toHaveCount(1)

  // The other window says so plainly, and goes on seeing what happens.
  await expect(other.page.getByRole('status', { name: 'Watching' })).toContainText('You are watching.')
  await expect(other.message).toBeHidden()
  await expect(other.button('New session')).toHaveCount(0)
  await window.page.keyboard.press('Escape')
  await window.send('second message')
  await window.settled('completed')
  await expect(other.transcript).toContainText('Second answer.')
  if (pictures) {
    await other.page.screenshot({ path: `${pictures}/watching.png` })
    await other.page.emulateMedia({ colorScheme: 'dark' })
    await other.page.screenshot({ path: `${pictures}/watching-dark.png` })
  }

  // What was changed is seen, without a way to take it back.
  await expect(await other.tab('Changes')).toContainText('made.txt')
  await expect(other.button(/^Undo/)).toHaveCount(0)

  // No button is there that would be refused; nor a key.
  for (const tab of ['Changes', 'Plan', 'Files', 'Context'] as const) await other.tab(tab)
  await other.page.keyboard.press('ControlOrMeta+n')
  await other.page.keyboard.press('F2')
  const names = await other.page
    .locator('button:visible:enabled')
    .evaluateAll((all) => [...new Set(all.map((one) => one.ariaLabel ?? one.textContent?.trim() ?? ''))])
  for (const name of names) {
    // What an earlier one has closed or hidden is not there any more.
    const button = other.button(name).first()
    if (await button.isVisible()) await button.click({ timeout: 1_000 }).catch(() => {})
    await other.page.keyboard.press('Escape')
  }
  expect(names.length).toBeGreaterThan(4)
  await other.page.keyboard.press('ControlOrMeta+Shift+P')
  const commands = other.dialog('Command palette').getByRole('option')
  await expect(commands.filter({ hasText: 'Focus next region' })).toHaveCount(1)
  await expect(commands.filter({ hasText: 'Delete session' })).toHaveCount(0)
  await other.page.keyboard.press('Escape')
  expect(denied).toEqual([])

  // Reloaded it still watches; the address it came by lets nobody in.
  await other.page.reload()
  await expect(
    other.page.getByRole('status', { name: 'Watching' }).or(other.page.getByText('You are watching')).first(),
  ).toBeVisible()

  await showBrowsers(window)
  await window.page.getByRole('button', { name: /^Allow everything:/ }).click()
  await other.sessions
    .getByRole('button', { name: /first message|A scripted title/ })
    .first()
    .click()
  await expect(other.message).toBeVisible()
  const rows = window.page.getByRole('list', { name: 'Signed-in browsers' }).getByRole('listitem')
  await rows
    .filter({ hasNotText: 'This browser' })
    .getByRole('button', { name: /^Sign out:/ })
    .click()
  await window.page.getByRole('alertdialog').getByRole('button', { name: 'Sign out' }).click()
  await expect(rows).toHaveCount(1)
  await expect(other.page.getByText('This browser is not signed in, or not any more.')).toBeVisible()
  expect(lab.asked()).toHaveLength(3)
})

test('S-31 S-139 `lathe serve --watch-link` prints one more address, which watches', async ({ open, browser }) => {
  const { lab } = await open({ script: [says('Seen.')] })
  const host = lab.start(['serve', '--json', '--watch-link'])
  const { watchUrl } = JSON.parse(await host.line((line) => line.includes('watchUrl'))) as { watchUrl: string }
  const context = await browser.newContext({ reducedMotion: 'reduce' })
  const page = await context.newPage()
  const denied = refusals(page)
  await page.goto(watchUrl)
  await expect(page.getByRole('heading', { name: 'You are watching' })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Open folder' })).toHaveCount(0)
  expect(page.url()).not.toContain('token')
  expect(denied).toEqual([])
  await context.close()
  host.kill('SIGTERM')
  await host.ended
})
