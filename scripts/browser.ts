/** Finds a Chromium that can show the window or run the tests: `node scripts/browser.ts` prints its path. */
import { execFile, spawn } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { chromium } from 'playwright'

const run = promisify(execFile)

const names = [
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
  'chrome',
  'microsoft-edge',
  'brave-browser',
]
const places: Partial<Record<NodeJS.Platform, string[]>> = {
  darwin: [
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
    '/Applications/Brave Browser.app/Contents/MacOS/Brave Browser',
  ],
  win32: ['ProgramFiles', 'ProgramFiles(x86)', 'LocalAppData'].flatMap((variable) => {
    const folder = process.env[variable]
    return folder
      ? [join(folder, 'Google/Chrome/Application/chrome.exe'), join(folder, 'Microsoft/Edge/Application/msedge.exe')]
      : []
  }),
}

async function firstExecutable(paths: (string | undefined)[]): Promise<string | undefined> {
  for (const path of paths) {
    if (!path) continue
    try {
      await access(path, constants.X_OK)
      return path
    } catch {
      // The next one.
    }
  }
  return undefined
}

/** `LATHE_BROWSER` if set, else Playwright's own, else the machine's; undefined where there is none. */
export async function findBrowser(): Promise<string | undefined> {
  const asked = process.env['LATHE_BROWSER']
  if (asked) {
    const found = await firstExecutable([asked])
    if (!found) throw new Error(`LATHE_BROWSER names ${asked}, which is not a program.`)
    return found
  }
  const onPath = (process.env['PATH'] ?? '')
    .split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
  return firstExecutable([chromium.executablePath(), ...onPath, ...(places[process.platform] ?? [])])
}

/** As `findBrowser`, but fetches one where there is none: Playwright's, or Debian's where we may install it. */
export async function requireBrowser(): Promise<string> {
  const found = await findBrowser()
  if (found) return found
  const playwright = join(import.meta.dirname, '../node_modules/playwright/cli.js')
  await attempt(process.execPath, [playwright, 'install', 'chromium'], 3 * 60_000)
  if (process.platform === 'linux' && process.getuid?.() === 0 && !(await findBrowser())) {
    await attempt('apt-get', ['update'], 2 * 60_000)
    await attempt('apt-get', ['install', '-y', '--no-install-recommends', 'chromium'], 6 * 60_000)
  }
  const installed = await findBrowser()
  if (installed) return installed
  throw new Error(
    'The tests need a Chromium. None was found and none could be installed. ' +
      'Install one (Debian: apt-get install chromium; elsewhere: npx playwright install chromium) or set LATHE_BROWSER to its path.',
  )
}

/** Runs a program to its end with its output on stderr; a failure is left for the caller to notice. */
async function attempt(program: string, args: string[], limitMs: number): Promise<void> {
  console.error(`browser: ${program === process.execPath ? 'playwright' : program} ${args.slice(-2).join(' ')}`)
  await new Promise<void>((done) => {
    const child = spawn(program, args, {
      stdio: ['ignore', 'ignore', 'inherit'],
      timeout: limitMs,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
    child.once('error', () => done())
    child.once('close', () => done())
  })
}

/** Chromium's sandbox cannot start as root or where user namespaces are off; only there it is left out. */
export function sandboxArguments(): string[] {
  return process.platform === 'linux' && process.getuid?.() === 0 ? ['--no-sandbox'] : []
}

/** The version line of a browser, for reports. */
export async function browserVersion(path: string): Promise<string> {
  const { stdout } = await run(path, ['--version'], { timeout: 10_000 })
  return stdout.trim()
}

if (import.meta.main) {
  const path = await requireBrowser()
  console.log(path)
}
