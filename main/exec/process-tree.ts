/**
 * The operating system's process table, and ending a whole tree of processes by it. A pid is only ever
 * signalled together with the start time it was noted with, so a pid that was given to another program is never touched.
 */
import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'

/** One row of the process table. `startTime` is opaque: equal for the same process, different for a reused pid. */
export type ProcessRow = { pid: number; parent: number; group: number; startTime: string; dead: boolean; name: string }

/** What belongs together: the leader, its group (group id = leader's pid), and whatever carries the marker. */
export type ProcessTree = {
  leader: number
  /** Null where it could not be read in time; then the group is trusted. */
  leaderStart: string | null
  /** `NAME=value` in the environment of all that was started for it; Linux only. */
  marker?: string | undefined
}

/** The operating system as this file needs it; replaced in tests only. */
export type ProcessSystem = {
  table(): Promise<ProcessRow[]>
  /** The rows of these pids only. */
  rows(pids: number[]): Promise<ProcessRow[]>
  hasMarker(pid: number, marker: string): Promise<boolean>
  /** Negative pid: the group. Throws as `process.kill` does. */
  signal(pid: number, signal: NodeJS.Signals): void
}

const pollMs = 20
const graceMs = 1_000
const forceMs = 5_000

/** `pid (name) state parent group ...`, the name may hold blanks and parentheses. */
function parseStat(text: string): ProcessRow | null {
  const open = text.indexOf('(')
  const close = text.lastIndexOf(')')
  if (open < 0 || close < 0) return null
  const fields = text.slice(close + 2).split(' ')
  const state = fields[0] ?? 'X'
  return {
    pid: Number(text.slice(0, open)),
    parent: Number(fields[1]),
    group: Number(fields[2]),
    startTime: fields[19] ?? '',
    dead: state === 'Z' || state === 'X',
    name: text.slice(open + 1, close),
  }
}

async function linuxRow(pid: number | string): Promise<ProcessRow | null> {
  return parseStat(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''))
}

const present = (row: ProcessRow | null): row is ProcessRow => row !== null

const linux: Omit<ProcessSystem, 'signal'> = {
  async table() {
    const entries = await readdir('/proc')
    const pids = entries.filter((entry) => /^\d+$/.test(entry))
    return (await Promise.all(pids.map(linuxRow))).filter(present)
  },
  async rows(pids) {
    return (await Promise.all(pids.map(linuxRow))).filter(present)
  },
  async hasMarker(pid, marker) {
    const environment = await readFile(`/proc/${pid}/environ`).catch(() => null)
    return environment !== null && `\0${environment.toString('latin1')}`.includes(`\0${marker}\0`)
  },
}

/** `ps` gives a start time of one second's precision, which is what a reused pid is told by on macOS and the BSDs. */
const otherUnix: Omit<ProcessSystem, 'signal'> = {
  async table() {
    const text = await new Promise<string>((resolve) => {
      const options = { timeout: 5_000, maxBuffer: 16 * 1024 * 1024, env: { PATH: '/bin:/usr/bin', LC_ALL: 'C' } }
      execFile('ps', ['-axo', 'pid=,ppid=,pgid=,stat=,lstart=,comm='], options, (_error, stdout) => resolve(stdout))
    })
    return text.split('\n').flatMap((line) => {
      const parts = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+\s+\S+\s+\d+\s+\S+\s+\d+)\s+(.*)$/.exec(line)
      if (!parts) return []
      const [, pid, parent, group, state, startTime, name] = parts as unknown as string[]
      const base = name!.slice(name!.lastIndexOf('/') + 1)
      return [
        {
          pid: Number(pid),
          parent: Number(parent),
          group: Number(group),
          startTime: startTime!,
          dead: state!.startsWith('Z'),
          name: base,
        },
      ]
    })
  },
  async rows(pids) {
    return (await this.table()).filter((row) => pids.includes(row.pid))
  },
  hasMarker: async () => false,
}

export const processSystem: ProcessSystem = {
  ...(process.platform === 'linux' ? linux : otherUnix),
  signal: (pid, signal) => void process.kill(pid, signal),
}

/** Start time of a process, or null where it is gone or the platform does not tell. */
export async function startTimeOf(pid: number, system: ProcessSystem = processSystem): Promise<string | null> {
  if (process.platform === 'win32') return null
  return (await system.rows([pid]))[0]?.startTime ?? null
}

/** True while a process of the group lives or waits to be collected; cheap, and exact enough to decide whether to look. */
export function groupMayLive(group: number): boolean {
  try {
    process.kill(-group, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** The living processes of a tree: its group, all descendants of it and of `known`, and those with its marker. */
export async function livingOf(
  tree: ProcessTree,
  known: ProcessRow[] = [],
  system: ProcessSystem = processSystem,
): Promise<ProcessRow[]> {
  const table = await system.table()
  const byPid = new Map(table.map((row) => [row.pid, row]))
  const children = Map.groupBy(table, (row) => row.parent)
  const found = new Map<number, ProcessRow>()
  const add = (row: ProcessRow): void => {
    if (found.has(row.pid) || row.pid === process.pid) return
    found.set(row.pid, row)
    for (const child of children.get(row.pid) ?? []) add(child)
  }

  const leader = byPid.get(tree.leader)
  const reused = leader !== undefined && tree.leaderStart !== null && leader.startTime !== tree.leaderStart
  if (!reused) {
    if (leader) add(leader)
    for (const row of table) if (row.group === tree.leader) add(row)
  }
  for (const row of known) {
    const now = byPid.get(row.pid)
    if (now && now.startTime === row.startTime) add(now)
  }
  if (tree.marker !== undefined) {
    const marker = tree.marker
    // Nothing of the tree is older than its leader; on Linux start times are ticks, so they compare.
    const since = Number(tree.leaderStart ?? 0)
    const unknown = table.filter(
      (row) => !row.dead && !found.has(row.pid) && row.pid !== process.pid && Number(row.startTime) >= since,
    )
    const marked = await Promise.all(unknown.map((row) => system.hasMarker(row.pid, marker)))
    unknown.forEach((row, index) => marked[index] && add(row))
  }
  return [...found.values()].filter((row) => !row.dead)
}

/** For each of these pids the name of a program it started that lives, the newest; null where there is none. */
export async function programsUnder(pids: readonly number[]): Promise<(string | null)[]> {
  if (pids.length === 0 || process.platform === 'win32') return pids.map(() => null)
  const children = Map.groupBy(await processSystem.table(), (row) => row.parent)
  return pids.map((pid) => children.get(pid)?.findLast((row) => !row.dead)?.name ?? null)
}

/** Those of `rows` that still live, each still the process it was noted as. */
async function stillAlive(rows: ProcessRow[], system: ProcessSystem): Promise<ProcessRow[]> {
  const now = new Map((await system.rows(rows.map((row) => row.pid))).map((row) => [row.pid, row]))
  return rows.filter((row) => now.get(row.pid)?.startTime === row.startTime && !now.get(row.pid)?.dead)
}

async function waitUntilDead(rows: ProcessRow[], limitMs: number, system: ProcessSystem): Promise<ProcessRow[]> {
  const until = performance.now() + limitMs
  let alive = await stillAlive(rows, system)
  while (alive.length > 0 && performance.now() < until) {
    await delay(pollMs)
    alive = await stillAlive(alive, system)
  }
  return alive
}

/** Only "no such process" and "not permitted" can come back, and neither may keep the next step from running. */
function send(pid: number, signal: NodeJS.Signals, system: ProcessSystem): void {
  try {
    system.signal(pid, signal)
  } catch {}
}

/**
 * Ends a tree: looks, asks with SIGTERM, waits up to `grace` ms, forces with SIGKILL what is left, also what left the
 * group (X-205 steps 1 to 5). Answers those that lived on after all of it; at most `grace` + 5 s.
 */
export async function endTree(
  tree: ProcessTree,
  options: { grace?: number | undefined; hangUp?: boolean; system?: ProcessSystem } = {},
): Promise<ProcessRow[]> {
  if (process.platform === 'win32') return endWindowsTree(tree.leader)
  const { grace = graceMs, hangUp = false, system = processSystem } = options
  let noted = await livingOf(tree, [], system)
  if (noted.length === 0) return []
  // An interactive shell ignores SIGTERM; told that its terminal has gone, it keeps its history and goes.
  if (hangUp && noted.some((row) => row.pid === tree.leader)) send(tree.leader, 'SIGHUP', system)
  if (noted.some((row) => row.group === tree.leader)) send(-tree.leader, 'SIGTERM', system)
  await waitUntilDead(noted, grace, system)

  // A process that forks while it is being ended needs another look; each round kills all that is known by then.
  const until = performance.now() + forceMs
  for (;;) {
    noted = await livingOf(tree, noted, system)
    if (noted.length === 0 || performance.now() > until) return noted
    if (noted.some((row) => row.group === tree.leader)) send(-tree.leader, 'SIGKILL', system)
    for (const row of await stillAlive(noted, system)) send(row.pid, 'SIGKILL', system)
    await waitUntilDead(noted, Math.min(500, Math.max(0, until - performance.now())), system)
  }
}

/** Windows has no groups to signal; its own tool walks the tree (X-205 step 4). */
async function endWindowsTree(leader: number): Promise<ProcessRow[]> {
  await new Promise<void>((resolve) => {
    execFile('taskkill', ['/PID', String(leader), '/T', '/F'], { timeout: forceMs, windowsHide: true }, () => resolve())
  })
  return []
}

/** Ends what an earlier, crashed host left running; false where that process is gone or its pid is another's. */
export async function endLeftover(left: ProcessTree & { bootId: string | null }): Promise<boolean> {
  if (left.leaderStart === null || left.bootId !== (await bootId())) return false
  const living = await livingOf(left)
  if (living.length === 0) return false
  await endTree(left)
  return true
}

/** Changes with every start of the machine; null where the platform does not tell. */
export async function bootId(): Promise<string | null> {
  if (process.platform !== 'linux') return null
  return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '')).trim() || null
}
