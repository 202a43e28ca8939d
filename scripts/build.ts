/**
 * Builds the product: `node scripts/build.ts [--if-stale] [main] [preload] [renderer]`, all parts by default. Output of an earlier build stays for a day, because a host that still runs
 * may load it; only then is it swept.
 */
import { glob, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { build } from 'vite'

const root = resolve(import.meta.dirname, '..')
const stamp = join(root, 'out/stamp')
const lock = join(root, 'out/lock')
const day = 24 * 60 * 60_000
const lockMadeMs = 1_000

const parts = [
  { name: 'main', entry: 'main/cli.ts', config: 'vite.main.config.ts' },
  { name: 'preload', entry: 'preload/preload.ts', config: 'vite.preload.config.ts' },
  { name: 'renderer', entry: 'renderer/main.tsx', config: 'vite.renderer.config.ts' },
]

const modified = (path: string) =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  )

/** Whether anything that goes into the build is newer than the build. `bin/lathe` asks the same with `find`. */
export async function isStale(): Promise<boolean> {
  const built = await modified(stamp)
  if (built === undefined || (await modified(join(root, 'out/main/lathe.js'))) === undefined) return true
  for await (const path of glob(['{main,preload,renderer}/**', 'package.json', 'vite.*.config.ts'], { cwd: root }))
    if (!/\.test\.tsx?$/.test(path) && ((await modified(join(root, path))) ?? 0) > built) return true
  return false
}

/** Whether the process that made the lock still lives; a lock that names nobody is being made this instant. */
async function isHeld(): Promise<boolean> {
  const pid = Number(await readFile(lock, 'utf8').catch(() => ''))
  if (!Number.isInteger(pid) || pid <= 0) return Date.now() - ((await modified(lock)) ?? 0) < lockMadeMs
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** One build at a time for one checkout; who comes second waits. */
async function locked<T>(work: () => Promise<T>): Promise<T> {
  await mkdir(join(root, 'out'), { recursive: true })
  for (;;) {
    try {
      await writeFile(lock, String(process.pid), { flag: 'wx' })
      break
    } catch {
      if (!(await isHeld())) await rm(lock, { recursive: true, force: true })
      await delay(100)
    }
  }
  try {
    return await work()
  } finally {
    await rm(lock, { force: true })
  }
}

async function sweep(folder: string, before: number): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => [])) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile() && (await stat(path)).mtimeMs < before) await rm(path)
  }
}

/** Builds the named parts, one line about each on stderr. A part whose entry does not exist is left out and named. */
export async function buildParts(names: string[] = parts.map(({ name }) => name)): Promise<void> {
  await locked(async () => {
    const began = new Date()
    for (const { name, entry, config } of parts.filter((part) => names.includes(part.name))) {
      if ((await modified(join(root, entry))) === undefined) {
        console.error(`build: ${name} left out, there is no ${entry}`)
        continue
      }
      const from = performance.now()
      await build({ ...(await import(join(root, config))).default, configFile: false })
      await sweep(join(root, 'out', name), began.getTime() - day)
      console.error(`build: ${name} in ${((performance.now() - from) / 1000).toFixed(1)} s`)
    }
    if (names.length === parts.length) {
      await writeFile(stamp, '')
      // The moment the build began: what was saved meanwhile is newer, so the next start builds again.
      await utimes(stamp, began, began)
    }
  })
}

if (import.meta.main) {
  const names = process.argv.slice(2).filter((argument) => argument !== '--if-stale')
  if (!process.argv.includes('--if-stale') || (await isStale())) await buildParts(names.length > 0 ? names : undefined)
}
