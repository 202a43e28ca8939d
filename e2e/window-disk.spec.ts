/**
 * A disk that fails or stands still under a running host (`failing-disk.mjs`), and a database another program holds: the
 * window says so with "Try again", Stop reaches the model at once, and all goes on when the fault is over.
 */
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type { Lab } from './lab.ts'
import { expect, test, type DeskOptions, type LatheWindow } from './window.ts'

test.setTimeout(120_000)

type Fault = { code?: 'SQLITE_FULL' | 'SQLITE_IOERR_FSYNC'; ms?: number }

const failingDisk = pathToFileURL(join(import.meta.dirname, 'failing-disk.mjs')).href

function disk(): { options: Pick<DeskOptions, 'env'>; fail(fault: Fault): Promise<void>; heal(): Promise<void> } {
  const path = test.info().outputPath('disk.json')
  return {
    options: { env: { NODE_OPTIONS: `--import=${failingDisk}`, LATHE_DISK: path } },
    fail: (fault) => writeFile(path, JSON.stringify(fault)),
    heal: () => rm(path, { force: true }),
  }
}

/** Streams without end, a word every 20 ms. */
const talking = { emit: [{ words: 100_000, everyMs: 20 }] }
const slow = 'Saving is slow.'
const failed = 'Nothing can be saved at the moment'

/** Clicks "Stop"; milliseconds until the model's connection was closed. */
async function stopped(lab: Lab, window: LatheWindow): Promise<number> {
  const from = await window.button('Stop').evaluate((button) => {
    const at = Date.now()
    ;(button as HTMLButtonElement).click()
    return at
  })
  await expect.poll(() => lab.asked().at(-1)?.aborted, { intervals: [5] }).toBe(true)
  return Date.now() - from
}

for (const code of ['SQLITE_FULL', 'SQLITE_IOERR_FSYNC'] as const)
  test(`TA-35 T-41 T-95 ${code} while a turn runs: the window says so, Stop reaches the model, nothing is lost`, async ({
    open,
  }) => {
    const { fail, heal, options } = disk()
    const { lab, window } = await open({ ...options, script: [talking] })
    await window.newSession()
    await window.send('Talk')
    await expect(window.entry('Answer')).toContainText('word word word')
    await fail({ code })
    await expect(window.page.getByText(failed)).toBeVisible()
    await expect(
      window.page.getByText(code === 'SQLITE_FULL' ? 'Free some disk space' : 'Check the disk'),
    ).toBeVisible()
    await expect(window.button('Try again')).toBeVisible()
    for (const colorScheme of ['light', 'dark'] as const) {
      await window.page.emulateMedia({ colorScheme })
      await window.page.screenshot({ path: test.info().outputPath(`${code}-${colorScheme}.png`) })
    }
    // While it still fails.
    const ms = await stopped(lab, window)
    console.log(`${code}: the model's connection was closed ${ms} ms after Stop was clicked`)
    await expect(window.page.getByText(failed)).toBeVisible()
    await heal()
    // It may try by itself in this very moment, and the button is gone; at the latest it does so after 30 s.
    await window
      .button('Try again')
      .click({ timeout: 2_000 })
      .catch(() => {})
    await expect(window.page.getByText(failed)).toBeHidden({ timeout: 40_000 })
    await expect(window.button('Stop')).toBeHidden()
    await expect(window.entry('Answer')).toContainText('word word word')
    await expect(window.entry('Turn (stopped|failed)')).toHaveCount(1)

    lab.script([{ emit: [{ text: 'Well again.' }] }])
    await window.send('And now?')
    await expect(window.entry('Answer: Well again.')).toBeVisible()
    const { stdout } = await lab.lathe(['sessions', 'list', '--json'])
    const { id } = JSON.parse(stdout.split('\n')[0]!)
    const shown = await lab.lathe(['sessions', 'show', id])
    expect(shown.stdout.match(/^--- You$/gm)).toHaveLength(2)
  })

test('SA-4 TA-3 T-16 a message that a full disk refuses is not sent, says why, and the same one is sent once there is room', async ({
  open,
}) => {
  const { fail, heal, options } = disk()
  const desk = await open({ ...options, script: [{ emit: [{ text: 'Hello.' }] }] })
  const { lab, window } = desk
  await window.newSession()
  await fail({ code: 'SQLITE_FULL' })
  await window.send('Say hello')
  const unsent = window.entry('Not sent')
  await expect(unsent).toContainText('Say hello')
  await expect(unsent).toContainText('disk')
  expect(lab.asked()).toHaveLength(0)
  const other = await desk.another()
  for (const { page } of [window, other])
    await expect(page.getByRole('list', { name: 'Sessions' })).not.toContainText('Say hello')
  await window.page.screenshot({ path: test.info().outputPath('not-sent.png') })
  await heal()
  await unsent.getByRole('button', { name: 'Try again' }).click()
  await expect(window.entry('Answer: Hello.')).toBeVisible()
  await expect(window.entry('You: Say hello')).toHaveCount(1)
  await expect(unsent).toBeHidden()
})

test('S-18 SA-39 TA-12 a disk that stands still for 8 s: typing, drafts, Stop and /health answer, the window says so after 5 s', async ({
  open,
}) => {
  const { fail, heal, options } = disk()
  const { lab, window } = await open({ ...options, script: [talking] })
  await window.newSession()
  await window.send('Talk')
  await expect(window.entry('Answer')).toContainText('word word word')
  await fail({ ms: 60_000 })
  const from = Date.now()
  await expect(window.page.getByText(slow)).toBeVisible({ timeout: 20_000 })
  const saidMs = Date.now() - from
  for (const colorScheme of ['light', 'dark'] as const) {
    await window.page.emulateMedia({ colorScheme })
    await window.page.screenshot({ path: test.info().outputPath(`slow-${colorScheme}.png`) })
  }
  const asked = Date.now()
  expect((await fetch(new URL('/health', window.page.url()))).status).toBe(200)
  const healthMs = Date.now() - asked
  await window.message.fill('Typed while it stands still')
  const stopMs = await stopped(lab, window)
  console.log(
    `stalled disk: said after ${saidMs} ms, /health in ${healthMs} ms, Stop reached the model in ${stopMs} ms`,
  )
  await heal()
  await window.settled('stopped')
  await expect(window.entry('Turn ')).toHaveCount(1)
  await expect(window.page.getByText(slow)).toBeHidden()
  await expect(window.message).toHaveValue('Typed while it stands still')
})

test('T-95 every commit waits 2 s for the disk: slower, and all of it there', async ({ open }) => {
  const { fail, heal, options } = disk()
  const { lab, window } = await open({ ...options, script: [talking] })
  await window.newSession()
  await fail({ ms: 2_000 })
  await window.send('Talk')
  await expect(window.entry('Answer')).toContainText('word word word', { timeout: 30_000 })
  const ms = await stopped(lab, window)
  console.log(`fsync of 2 s: Stop reached the model in ${ms} ms`)
  await window.settled('stopped')
  await heal()
  lab.script([{ emit: [{ text: 'Quick again.' }] }])
  await window.send('And now?')
  await expect(window.entry('Answer: Quick again.')).toBeVisible()
})

test('T-41 SQLITE_BUSY: another program holds the database; it is said, tried again, and goes on', async ({ open }) => {
  const { lab, window } = await open({ script: [talking] })
  await window.newSession()
  await window.send('Talk')
  await expect(window.entry('Answer')).toContainText('word word word')
  const other = new DatabaseSync(join(lab.home, 'lathe.db'))
  try {
    // The host may be writing in this very moment.
    other.exec('PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE')
    await expect(window.page.getByText(failed).or(window.page.getByText(slow)).first()).toBeVisible({ timeout: 20_000 })
    await expect(window.page.getByText(failed)).toBeVisible({ timeout: 20_000 })
    const ms = await stopped(lab, window)
    console.log(`SQLITE_BUSY: Stop reached the model in ${ms} ms`)
    other.exec('ROLLBACK')
  } finally {
    other.close()
  }
  await expect(window.entry('Turn (stopped|failed)')).toHaveCount(1, { timeout: 60_000 })
  await expect(window.page.getByText(failed)).toBeHidden()
  await expect(window.entry('Answer')).toContainText('word word word')
})
