/**
 * Looks into a packaged application: what is in its archive and beside it, whether that is enough to run, how big it is.
 * Each line of the answer is one check; `fault` says what is wrong with it.
 */
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, realpath, rm, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { DesktopApp } from '../e2e/electron-stand-in/driver.ts'
import { icons } from '../main/shell/identity.ts'
import packageJson from '../package.json' with { type: 'json' }
import { findBrowser } from './browser.ts'
import { shippedPackages } from './licences.ts'
import { fuseMark } from './stand-in-distribution.ts'
import { root } from './steps.ts'

const run = promisify(execFile)
const fromHere = createRequire(import.meta.url)
const fromBuilder = createRequire(fromHere.resolve('electron-builder/package.json'))
/** The packager's own reader of archives. */
const { extractAll, listPackage } = createRequire(fromBuilder.resolve('app-builder-lib/package.json'))(
  '@electron/asar',
) as { extractAll(archive: string, folder: string): void; listPackage(archive: string, options: object): string[] }
const limits = { archive: 40 * 1024 * 1024, unpacked: 32 * 1024 * 1024, entries: 1_400 }

export type Check = { name: string; fault: string | null; figure?: string }

/** `folder` is what electron-builder made with `--dir` on Linux; `appFolder` is where the sources are. */
export async function checkPackage(folder: string): Promise<Check[]> {
  const resources = join(folder, 'resources')
  const archive = join(resources, 'app.asar')
  const unpacked = join(resources, 'app.asar.unpacked')
  const entries = listPackage(archive, { isPack: false }).map((path) => path.replaceAll('\\', '/').slice(1))
  const extracted = await realpath(await mkdtemp(join(tmpdir(), 'lathe-package-')))
  const checks: Check[] = []
  const check = async (name: string, work: () => Promise<string | { fault: string }>): Promise<void> => {
    try {
      const said = await work()
      checks.push(typeof said === 'string' ? { name, fault: null, figure: said } : { name, ...said })
    } catch (error) {
      checks.push({ name, fault: error instanceof Error ? error.message : String(error) })
    }
  }
  try {
    await check('the archive holds no sources, tests, maps or binaries of others', async () => {
      const wrong = entries.filter(isForeign)
      return wrong.length > 0 ? { fault: wrong.slice(0, 20).join(', ') } : `${entries.length} entries`
    })
    await check('the archive holds what runs', async () => {
      const needed = [
        'package.json',
        'out/main/main.js',
        'out/main/cli.js',
        'out/preload/preload.cjs',
        'out/renderer/index.html',
        ...Object.values(icons(process.platform)).filter((path) => path !== null),
      ]
      const missing = needed.filter((path) => !entries.includes(path))
      return missing.length > 0
        ? { fault: `missing ${missing.join(', ')}` }
        : 'both doors, the preload script, the page, the pictures of tray and window'
    })
    await check('sizes are within their limits', async () => {
      const [inArchive, beside] = await Promise.all([stat(archive).then(({ size }) => size), bytesIn(unpacked)])
      const figure = `archive ${megabytes(inArchive)}, ${entries.length} entries, unpacked ${megabytes(beside)}`
      const over = inArchive > limits.archive || beside > limits.unpacked || entries.length > limits.entries
      return over ? { fault: figure } : figure
    })
    await check('native modules and ripgrep load from beside the archive', () => loadNatives(unpacked))
    await check('licences of all packages are collected', async () => {
      const text = await readFile(join(resources, 'licences.txt'), 'utf8')
      const packages = await shippedPackages()
      const missing = packages.filter(({ name, version }) => !text.includes(`${name} ${version}\n`))
      return missing.length > 0 ? { fault: missing.map(({ name }) => name).join(', ') } : `${packages.length} packages`
    })
    await check('fuses are as configured', async () => fusesOf(await readFile(join(folder, 'lathe-desktop'))))
    extractAll(archive, extracted)
    await cp(unpacked, extracted, { recursive: true })
    await check('the image library loads from the packaged tree', async () => {
      const sharp = createRequire(join(extracted, 'package.json'))('sharp') as { versions: Record<string, string> }
      return `sharp ${sharp.versions['sharp']} with libvips ${sharp.versions['vips']}`
    })
    await check('the version is the one of the sources', async () => {
      const { version } = JSON.parse(await readFile(join(extracted, 'package.json'), 'utf8')) as { version: string }
      return version === packageJson.version ? version : { fault: version }
    })
    await check('what was packaged opens its window, on the stand-in', () => opensWindow(extracted))
    await check('what was packaged is the command line too', () => answersCommands(extracted))
  } finally {
    await rm(extracted, { recursive: true, force: true })
  }
  return checks
}

/** What has no place in the archive for this platform. */
export function isForeign(path: string): boolean {
  if (/\.(map|tsx?|cts|mts|gyp|md|c|cc|h|o|a)$/.test(path) && !path.startsWith('assets/')) return true
  if (/(^|\/)(test|tests|__tests__|\.github)\//.test(path) && !path.startsWith('assets/')) return true
  if (/\.test\.[cm]?js$/.test(path) && !path.startsWith('assets/')) return true
  const own = `${process.platform}-${process.arch}`
  const binary = /(?:prebuilds\/|ripgrep-)((?:linux|linuxmusl|darwin|win32)-(?:x64|arm64|ia32|arm))/.exec(path)?.[1]
  return binary !== undefined && binary !== own
}

async function loadNatives(unpacked: string): Promise<string> {
  const require = createRequire(join(unpacked, 'node_modules/x.js'))
  const Database = require('better-sqlite3') as new (path: string) => {
    prepare(sql: string): { get(): { version: string } }
  }
  const { version } = new Database(':memory:').prepare('select sqlite_version() as version').get()
  const { spawn } = require('node-pty') as {
    spawn(
      file: string,
      args: string[],
      options: object,
    ): { onExit(listener: (end: { exitCode: number }) => void): void }
  }
  const exitCode = await new Promise<number>((done) =>
    spawn('/bin/sh', ['-c', 'exit 7'], {}).onExit((end) => done(end.exitCode)),
  )
  if (exitCode !== 7) throw new Error(`A terminal's program ended with ${exitCode} instead of 7.`)
  const { rgPath } = require('@vscode/ripgrep') as { rgPath: string }
  const { stdout } = await run(rgPath, ['--version'], { timeout: 10_000 })
  return `SQLite ${version}, a terminal, ${stdout.split('\n')[0]}`
}

/** The order of Electron's fuses, and how they are to stand: `1` on, `0` off. The last is as shipped: no packager sets it yet. */
const fuses = [
  'runAsNode 0',
  'cookieEncryption 1',
  'nodeOptions 0',
  'nodeCliInspect 0',
  'asarIntegrity 1',
  'onlyLoadAppFromAsar 1',
  'browserSnapshot 0',
  'fileProtocolPrivileges 0',
  'wasmTrapHandlers 1',
]

async function fusesOf(binary: Buffer): Promise<string | { fault: string }> {
  const at = binary.indexOf(fuseMark)
  if (at < 0) return { fault: 'The binary has no fuses.' }
  const [version, count] = binary.subarray(at + fuseMark.length)
  if (version !== 1 || count !== fuses.length)
    return { fault: `The binary has ${count} fuses of version ${version}: look at what is new.` }
  const wire = binary.toString('latin1', at + fuseMark.length + 2)
  const found = fuses.map((fuse, index) => `${fuse.split(' ')[0]} ${wire[index]}`)
  const wrong = found.filter((fuse, index) => fuse !== fuses[index])
  return wrong.length > 0 ? { fault: wrong.join(', ') } : found.join(', ')
}

async function opensWindow(app: string): Promise<string | { fault: string }> {
  if (!(await findBrowser())) return 'left out: no browser is here'
  const home = await mkdtemp(join(tmpdir(), 'lathe-home-'))
  const env = { PATH: process.env['PATH'], HOME: home, LATHE_HOME: join(home, 'data'), LANG: 'C.UTF-8' }
  const desktop = await DesktopApp.start({ env, cwd: home, app })
  try {
    const { readyMs } = await desktop.until('ready', (state) => state.readyMs !== null)
    const page = await desktop.firstPage()
    await page.getByRole('heading', { name: 'Welcome to Lathe' }).waitFor({ timeout: 20_000 })
    await desktop.act('app.quit').catch(() => {})
    const code = await desktop.ended
    return code === 0
      ? `window ready after ${Math.round(readyMs!)} ms`
      : { fault: `It ended with ${code}: ${desktop.output}` }
  } finally {
    await desktop[Symbol.asyncDispose]()
    await rm(home, { recursive: true, force: true })
  }
}

async function answersCommands(app: string): Promise<string> {
  const register = join(root, 'e2e/electron-stand-in/register.ts')
  const main = join(app, 'out/main/main.js')
  const { stdout } = await run(process.execPath, ['--import', register, main, '--command-line', '--version'], {
    timeout: 30_000,
  })
  if (stdout.trim() !== packageJson.version) throw new Error(`lathe --version said ${stdout}`)
  return `lathe --version says ${stdout.trim()}`
}

async function bytesIn(folder: string): Promise<number> {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
  const sizes = await Promise.all(files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`
}
