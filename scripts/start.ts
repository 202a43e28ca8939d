/**
 * `npm start`: the native window where Electron's binary is present or can be fetched, else the same workbench behind the
 * loopback host, in a browser's app window if there is one, else at an address to open.
 */
import { spawn } from 'node:child_process'
import { access, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { findBrowser, sandboxArguments } from './browser.ts'
import { buildParts, isStale } from './build.ts'

const root = resolve(import.meta.dirname, '..')
const args = process.argv.slice(2)
/** Electron's binary is some 100 MB; whoever has no network for it should not wait for long. */
const fetchLimit = 90_000

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

const hasDisplay =
  process.platform === 'darwin' ||
  process.platform === 'win32' ||
  Boolean(process.env['DISPLAY'] || process.env['WAYLAND_DISPLAY'])

async function electronBinary(): Promise<string | undefined> {
  const folder = join(root, 'node_modules/electron')
  const installed = async () => {
    const name = await readFile(join(folder, 'path.txt'), 'utf8').catch(() => '')
    const path = process.env['ELECTRON_OVERRIDE_DIST_PATH'] ?? join(folder, 'dist', name.trim())
    return name && (await exists(path)) ? path : undefined
  }
  const present = await installed()
  if (present) return present
  console.error(`Fetching Electron (once, at most ${fetchLimit / 1000} s) ...`)
  const fetched = await new Promise<boolean>((done) => {
    const child = spawn(process.execPath, [join(folder, 'install.js')], { stdio: 'ignore', timeout: fetchLimit })
    child.once('error', () => done(false))
    child.once('close', (code) => done(code === 0))
  })
  return fetched ? installed() : undefined
}

/** Runs a program in our place: its exit is ours, and the signals we get are its own. */
async function become(program: string, programArgs: string[]): Promise<never> {
  const child = spawn(program, programArgs, { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
  const code = await new Promise<number>((done, fail) => {
    child.once('error', fail)
    child.once('close', (status, signal) => done(status ?? (signal ? 130 : 1)))
  })
  process.exit(code)
}

async function serveInBrowser(reason: string): Promise<never> {
  console.error(`${reason} Serving the same window on this machine's loopback address instead.`)
  const host = spawn(process.execPath, [join(root, 'out/main/lathe.js'), 'serve', '--json', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => host.kill(signal))
  const ended = new Promise<number>((done, fail) => {
    host.once('error', fail)
    host.once('close', (status) => done(status ?? 130))
  })
  const lines = createInterface({ input: host.stdout })
  const first = await Promise.race([new Promise<string>((done) => lines.once('line', done)), ended.then(() => '')])
  if (!first) process.exit((await ended) || 1)
  const { url } = JSON.parse(first) as { url: string }

  const browser = hasDisplay ? await findBrowser().catch(() => undefined) : undefined
  if (!browser) {
    console.error('Open this address in a browser; Ctrl+C ends the host.')
    console.log(url)
    process.exit(await ended)
  }
  const profile = await mkdtemp(join(tmpdir(), 'lathe-window-'))
  const window = spawn(
    browser,
    [
      `--app=${url}`,
      `--user-data-dir=${profile}`,
      '--no-first-run',
      '--no-default-browser-check',
      ...sandboxArguments(),
    ],
    { stdio: 'ignore' },
  )
  const closed = new Promise<boolean>((done) => {
    window.once('error', () => done(false))
    window.once('close', (status) => done(status === 0))
  })
  const shown = await Promise.race([closed, ended.then(() => true)])
  if (shown) host.kill('SIGTERM')
  else {
    console.error(`${browser} could not show it. Open this address in a browser; Ctrl+C ends the host.`)
    console.log(url)
  }
  window.kill()
  const code = await ended
  await rm(profile, { recursive: true, force: true, maxRetries: 3 })
  process.exit(code)
}

if (await isStale()) await buildParts()
if (!(await exists(join(root, 'out/main/main.js')))) await serveInBrowser('The native shell is not built.')
if (!hasDisplay) await serveInBrowser('There is no display for a native window.')
const electron = await electronBinary()
if (electron) await become(electron, [...sandboxArguments(), root, ...args])
await serveInBrowser("Electron's binary is not here and could not be fetched.")
