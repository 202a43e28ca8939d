/**
 * `npm test`: finds or installs a browser, builds, runs the unit tests and then the end-to-end tests, and closes with one
 * line of totals. The end-to-end tests run even where unit tests failed, so that one run tells everything.
 */
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { browserVersion, requireBrowser } from './browser.ts'
import { buildParts } from './build.ts'
import { root, runStep } from './steps.ts'

type Totals = { passed: number; failed: number; skipped: number }

/** Each half of the tests takes some minutes on an idle machine; this is what a busy one may need. */
const stepMaxMs = 20 * 60_000

const reports = join(root, 'test-results')
const unitReport = join(reports, 'unit.json')
const windowReport = join(reports, 'e2e.json')

async function report(path: string): Promise<unknown> {
  return JSON.parse(await readFile(path, 'utf8').catch(() => 'null'))
}

async function unitTests(): Promise<Totals> {
  const ran = await runStep({
    name: 'unit tests',
    script: 'node_modules/vitest/vitest.mjs',
    args: ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${unitReport}`],
    // The build before it left `production` here, with which React has no test functions.
    env: { NODE_ENV: 'test' },
    limit: stepMaxMs,
  })
  const result = (await report(unitReport)) as {
    numPassedTests: number
    numFailedTests: number
    numPendingTests: number
    numTodoTests: number
    numFailedTestSuites: number
  } | null
  if (!result) return { passed: 0, failed: 1, skipped: 0 }
  // A file that could not even be loaded has no failed test of its own.
  const failed = result.numFailedTests || (ran ? 0 : 1)
  return { passed: result.numPassedTests, failed, skipped: result.numPendingTests + result.numTodoTests }
}

async function endToEndTests(browser: string): Promise<Totals> {
  const files = await readdir(join(root, 'e2e'), { recursive: true })
  if (!files.some((file) => file.endsWith('.spec.ts'))) return { passed: 0, failed: 0, skipped: 0 }
  const ran = await runStep({
    name: 'end-to-end tests',
    script: 'node_modules/@playwright/test/cli.js',
    args: ['test', '--reporter=list,json'],
    env: { LATHE_BROWSER: browser, PLAYWRIGHT_JSON_OUTPUT_FILE: windowReport },
    limit: stepMaxMs,
  })
  const result = (await report(windowReport)) as {
    stats: { expected: number; unexpected: number; flaky: number; skipped: number }
    errors: unknown[]
  } | null
  if (!result) return { passed: 0, failed: 1, skipped: 0 }
  const { expected, unexpected, flaky, skipped } = result.stats
  return { passed: expected + flaky, failed: unexpected || (ran ? 0 : Math.max(1, result.errors.length)), skipped }
}

const from = performance.now()
await rm(reports, { recursive: true, force: true })
await mkdir(reports, { recursive: true })
const browser = await requireBrowser()
console.log(`Browser: ${await browserVersion(browser)}`)
await buildParts()
const totals = [await unitTests(), await endToEndTests(browser)]
const sum = (key: keyof Totals) => totals.reduce((total, each) => total + each[key], 0)
const skipped = sum('skipped') > 0 ? `, ${sum('skipped')} skipped` : ''
console.log(
  `\n${sum('passed')} passed, ${sum('failed')} failed${skipped} (${Math.round((performance.now() - from) / 1000)} s)`,
)
process.exitCode = sum('failed') === 0 && sum('passed') > 0 ? 0 : 1
