/** The window in Chromium over the web host: first contentful paint, and when the first letter of a new session stands in its composer. */
import { chromium } from 'playwright'
import { Lab } from '../e2e/lab.ts'
import { requireBrowser, sandboxArguments } from '../scripts/browser.ts'
import { fiveTimes, report } from './figures.ts'

await using lab = await Lab.open()
const host = lab.start(['serve', '--json', '--workspace', lab.workspace])
const { url } = JSON.parse(await host.line((line) => line.includes('"url"'))) as { url: string }
const browser = await chromium.launch({ executablePath: await requireBrowser(), args: sandboxArguments() })

const runs = await fiveTimes(async () => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  const page = await context.newPage()
  await page.goto(url, { waitUntil: 'commit' })
  await page.getByRole('button', { name: 'New session', exact: true }).first().click()
  const composer = page.getByRole('textbox', { name: 'Message' })
  await composer.press('a')
  const typedMs = await composer.evaluate(
    (element) =>
      new Promise<number>((typed) => {
        const look = () => {
          const text = element instanceof HTMLTextAreaElement ? element.value : element.textContent
          if (text?.includes('a')) typed(performance.now())
          else requestAnimationFrame(look)
        }
        look()
      }),
  )
  const paintMs = await page.evaluate(
    () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN,
  )
  const loadedMb = await page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .reduce((sum, entry) => sum + (entry as PerformanceResourceTiming).decodedBodySize / 1_048_576, 0),
  )
  await context.close()
  return { paintMs, typedMs, loadedMb }
})
await browser.close()

report([
  { name: 'first contentful paint', unit: 'ms', values: runs.map((run) => run.paintMs) },
  { name: 'new session opened, first letter typed', unit: 'ms', values: runs.map((run) => run.typedMs) },
  { name: 'scripts, styles and fonts loaded until then', unit: 'MB', values: runs.map((run) => run.loadedMb) },
])
