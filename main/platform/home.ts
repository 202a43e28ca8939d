/** The data folder: where it is, what lies in it, and which one process owns it (S-135, S-136, A-41). */
import { randomUUID } from 'node:crypto'
import { link, mkdir, readFile, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { homedir, hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { LatheError } from '../../preload/contract/errors.ts'
import { writePrivateFile } from './private-file.ts'

/** How often an owner shows that it lives, and after what silence it no longer counts as living. */
const renewMs = 5_000
const staleMs = 15_000
const pollMs = 100

/** `LATHE_HOME`, else the platform's place for application data. */
export function dataFolder(env: NodeJS.ProcessEnv = process.env, platform: NodeJS.Platform = process.platform): string {
  if (env['LATHE_HOME']) return env['LATHE_HOME']
  if (platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'Lathe')
  if (platform === 'win32') return join(env['APPDATA'] ?? join(homedir(), 'AppData', 'Roaming'), 'Lathe')
  return join(env['XDG_DATA_HOME'] || join(homedir(), '.local', 'share'), 'lathe')
}

export type Ownership = {
  readonly instanceId: string
  /** Aborted once another process has taken the folder over, as after this one was frozen for 15 s. */
  readonly lost: AbortSignal
  /** Gives the folder up; idempotent. */
  release(): Promise<void>
}

/**
 * Takes the data folder for this process, waiting at most `waitMs` for an owner that is ending; null where another
 * process keeps it. A dead owner is replaced at once, a silent one after 15 s.
 *
 * The lock is a file `owner-N.lock`, and the highest N owns. Taking over makes N + 1 with an exclusive link, so of
 * several that see the same dead owner one wins. The highest is never deleted, only marked as released: one that read the
 * folder long ago can make an old number, but then finds a higher one.
 */
export async function acquireHome(
  home: string,
  { waitMs = 5_000 }: { waitMs?: number } = {},
): Promise<Ownership | null> {
  await mkdir(home, { recursive: true, mode: 0o700 }).catch((error: Error) => {
    throw new LatheError('storage.failed', `The data folder ${home} cannot be made: ${error.message}`, {
      hint: 'Set LATHE_HOME to a folder, or mend what stands in its place.',
    })
  })
  const instanceId = randomUUID()
  for (const end = Date.now() + waitMs; ; await delay(pollMs)) {
    const number = await take(home, instanceId)
    if (number !== null) return own(home, instanceId, number)
    if (Date.now() >= end) return null
  }
}

/** What the owner of a data folder tells those that want to attach to it. */
export type HostFile = {
  pid: number
  instanceId: string
  version: string
  /** Path of the local socket or pipe. */
  endpoint: string
  url?: string
  lifetime: 'person' | 'on_demand'
}

/** Written once requests are answered, with mode 0600. */
export async function writeHostFile(home: string, host: HostFile): Promise<void> {
  await writePrivateFile(hostPath(home), JSON.stringify(host))
}

/** The living host of `home`; null where there is none, or its process is dead. */
export async function readHostFile(home: string): Promise<HostFile | null> {
  const host = parsed(await readFile(hostPath(home), 'utf8').catch(() => '')) as Partial<HostFile> | null
  if (!host || typeof host.instanceId !== 'string' || typeof host.endpoint !== 'string' || !isPid(host.pid)) return null
  return isAlive(host.pid) ? (host as HostFile) : null
}

/** Removes the file of this instance, never another's. */
export async function removeHostFile(home: string, instanceId: string): Promise<void> {
  const host = parsed(await readFile(hostPath(home), 'utf8').catch(() => '')) as Partial<HostFile> | null
  if (host?.instanceId === instanceId) await rm(hostPath(home), { force: true })
}

/** Who holds the lock of a data folder; null where nobody does (S-132). Changes nothing. */
export async function lockOwner(home: string): Promise<{ pid: number; isAlive: boolean } | null> {
  const newest = await highest(home)
  if (newest === 0) return null
  const lock = parsed(await readFile(lockPath(home, newest), 'utf8').catch(() => '')) as Partial<Lock> | null
  if (!lock || !isPid(lock.pid)) return null
  return { pid: lock.pid, isAlive: !(await isFree(lockPath(home, newest))) }
}

type Lock = { instanceId: string; pid: number; machine: string }

/** This process's lock number, or null where another owns. */
async function take(home: string, instanceId: string): Promise<number | null> {
  const newest = await highest(home)
  if (newest > 0 && !(await isFree(lockPath(home, newest)))) return null
  const mine = newest + 1
  const lock: Lock = { instanceId, pid: process.pid, machine: hostname() }
  if (!(await makeExclusively(lockPath(home, mine), JSON.stringify(lock)))) return null
  if ((await highest(home)) > mine) {
    await rm(lockPath(home, mine), { force: true })
    return null
  }
  for (const number of await numbers(home)) if (number < mine) await rm(lockPath(home, number), { force: true })
  return mine
}

function own(home: string, instanceId: string, number: number): Ownership {
  const path = lockPath(home, number)
  const lost = new AbortController()
  let released: Promise<void> | null = null
  const renewing = setInterval(() => {
    const now = new Date()
    utimes(path, now, now).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') return
      clearInterval(renewing)
      lost.abort()
    })
  }, renewMs)
  renewing.unref()

  return {
    instanceId,
    lost: lost.signal,
    release() {
      released ??= release()
      return released
    },
  }

  async function release(): Promise<void> {
    clearInterval(renewing)
    if (!lost.signal.aborted) await writePrivateFile(path, JSON.stringify({ released: true }))
  }
}

/** The file appears with its content or not at all; false where it is there already. */
async function makeExclusively(path: string, content: string): Promise<boolean> {
  const prepared = `${path}.${randomUUID()}`
  await writePrivateFile(prepared, content)
  try {
    await link(prepared, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    // A disk without hard links. For a moment the file is empty, which reads as a living owner.
    return await writeFile(path, content, { flag: 'wx', mode: 0o600 }).then(
      () => true,
      (second: NodeJS.ErrnoException) => {
        if (second.code === 'EEXIST') return false
        throw second
      },
    )
  } finally {
    await rm(prepared, { force: true })
  }
}

async function isFree(path: string): Promise<boolean> {
  const [text, file] = await Promise.all([readFile(path, 'utf8').catch(() => null), stat(path).catch(() => null)])
  // Gone since it was listed: somebody has just taken over.
  if (text === null || file === null) return false
  const lock = parsed(text) as Partial<Lock & { released: boolean }> | null
  if (lock?.released) return true
  // A pid says something on its own machine only; elsewhere, and where it was given to another process, silence decides.
  if (lock?.machine === hostname() && isPid(lock.pid) && !isAlive(lock.pid)) return true
  return Date.now() - file.mtimeMs > staleMs
}

async function highest(home: string): Promise<number> {
  return Math.max(0, ...(await numbers(home)))
}

async function numbers(home: string): Promise<number[]> {
  return (await readdir(home)).flatMap((name) => /^owner-(\d+)\.lock$/.exec(name)?.[1] ?? []).map(Number)
}

function lockPath(home: string, number: number): string {
  return join(home, `owner-${number}.lock`)
}

function hostPath(home: string): string {
  return join(home, 'host.json')
}

function isPid(pid: unknown): pid is number {
  return Number.isInteger(pid) && (pid as number) > 0
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Another user's process lives too.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
