/**
 * `npm test`: finds or installs a browser, builds, runs the unit tests and then the end-to-end tests, and closes with one
 * line of totals. The end-to-end tests run even where unit tests failed, so that one run tells everything.
 */
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { browserVersion, requireBrowser } from './browser.ts'
import { buildParts } from './build.ts'
import { secondTriesFile } from './second-tries.ts'
import { root, runStep } from './steps.ts'

type Totals = {
  passed: number
  failed: number
  skipped: number
  /** Names of tests that passed only when they were run a second time: a race to be found, not a reason to stop. */
  secondTries: string[]
}

/** Each half of the tests takes some minutes on an idle machine; this is what a busy one may need. */
const stepMaxMs = 20 * 60_000

const reports = join(root, 'test-results')
const unitReport = join(reports, 'unit.json')
const windowReport = join(reports, 'e2e.json')

const nothing: Totals = { passed: 0, failed: 0, skipped: 0, secondTries: [] }

async function report(path: string): Promise<unknown> {
  return JSON.parse(await readFile(path, 'utf8').catch(() => 'null'))
}

async function unitTests(): Promise<Totals> {
  const ran = await runStep({
    name: 'unit tests',
    script: 'node_modules/vitest/vitest.mjs',
    args: [
      'run',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${unitReport}`,
      '--reporter=./scripts/second-tries.ts',
    ],
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
  if (!result) return { ...nothing, failed: 1 }
  // A file that could not even be loaded has no failed test of its own.
  const failed = result.numFailedTests || (ran ? 0 : 1)
  const secondTries = ((await report(secondTriesFile)) as string[] | null) ?? []
  return { passed: result.numPassedTests, failed, skipped: result.numPendingTests + result.numTodoTests, secondTries }
}

async function endToEndTests(browser: string): Promise<Totals> {
  const files = await readdir(join(root, 'e2e'), { recursive: true })
  if (!files.some((file) => file.endsWith('.spec.ts'))) return nothing
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
    suites: Suite[]
  } | null
  if (!result) return { ...nothing, failed: 1 }
  const { expected, unexpected, flaky, skipped } = result.stats
  const failed = unexpected || (ran ? 0 : Math.max(1, result.errors.length))
  return { passed: expected + flaky, failed, skipped, secondTries: result.suites.flatMap(flakyOf) }
}

type Suite = { suites?: Suite[]; specs: { file: string; title: string; tests: { status: string }[] }[] }

function flakyOf({ suites = [], specs }: Suite): string[] {
  const flaky = specs.filter(({ tests }) => tests.some(({ status }) => status === 'flaky'))
  return [...flaky.map(({ file, title }) => `e2e/${file}: ${title}`), ...suites.flatMap(flakyOf)]
}

const from = performance.now()
await rm(reports, { recursive: true, force: true })
await mkdir(reports, { recursive: true })
const browser = await requireBrowser()
console.log(`Browser: ${await browserVersion(browser)}`)
await buildParts()
const totals = [await unitTests(), await endToEndTests(browser)]
const sum = (key: 'passed' | 'failed' | 'skipped') => totals.reduce((total, each) => total + each[key], 0)
const secondTries = totals.flatMap((each) => each.secondTries)
if (secondTries.length > 0) console.log(`\nPassed only the second time:\n${secondTries.join('\n')}`)
const skipped = sum('skipped') > 0 ? `, ${sum('skipped')} skipped` : ''
console.log(
  `\n${sum('passed')} passed, ${sum('failed')} failed${skipped} (${Math.round((performance.now() - from) / 1000)} s)`,
)
process.exitCode = sum('failed') === 0 && sum('passed') > 0 ? 0 : 1
