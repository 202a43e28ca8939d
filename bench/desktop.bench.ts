/**
 * The desktop application on its stand-in: from the start of the main bundle to the first window that can be shown, how
 * long quitting takes, and what the bundles weigh.
 */
import { readdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { DesktopApp } from '../e2e/electron-stand-in/driver.ts'
import { Lab } from '../e2e/lab.ts'
import { fiveTimes, report } from './figures.ts'

const out = resolve(import.meta.dirname, '../out')

await using lab = await Lab.open()

const runs = await fiveTimes(async () => {
  await using app = await DesktopApp.start({ env: lab.env, cwd: lab.workspace, args: ['.'] })
  const { readyMs } = await app.until('ready', (state) => state.readyMs !== null)
  const page = await app.firstPage()
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  const from = performance.now()
  await app.act('app.quit').catch(() => {})
  await app.ended
  return { readyMs: readyMs!, quitMs: performance.now() - from }
})

/** The scripts of a bundle, without maps, in KB. */
async function weight(bundle: string): Promise<number> {
  const files = await readdir(join(out, bundle), { recursive: true, withFileTypes: true })
  const shipped = files.filter((file) => file.isFile() && !file.name.endsWith('.map'))
  const sizes = await Promise.all(
    shipped.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size),
  )
  return sizes.reduce((sum, size) => sum + size, 0) / 1_024
}

report([
  { name: 'main bundle started until its window can be shown', unit: 'ms', values: runs.map((run) => run.readyMs) },
  { name: 'quitting', unit: 'ms', values: runs.map((run) => run.quitMs) },
  { name: 'main bundle', unit: 'KB', values: [await weight('main')] },
  { name: 'preload bundle', unit: 'KB', values: [await weight('preload')] },
  { name: 'renderer bundle', unit: 'KB', values: [await weight('renderer')] },
])
