/**
 * What commands did to a workspace (F-902, F-903): its state is taken before a process runs and compared after it. A
 * difference belongs to the windows that were open when it was seen; two turns' windows make it uncertain. The state is
 * the checkpoint of docs/adr/0008.
 */
import { createHash } from 'node:crypto'
import { utimes } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, parse } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { newId } from '../../preload/contract/ids.ts'
import { coveredFilesMax, settleRetryMs } from '../../preload/contract/limits.ts'
import type { Blobs } from '../storage/blobs.ts'
import { linkMode, type FileChange } from './change.ts'
import { expiredCheckpoints, tidyCheckpoints } from './checkpoint-stores.ts'
import { quickCounts } from './diff.ts'
import type { Paths, Place } from './paths.ts'
import { markRenames } from './renames.ts'
import { ScanThread } from './scan-thread.ts'
import type { SearchProgram } from './search-program.ts'
import type { Difference, Held, ScanResult } from './workspace-scan.ts'

export type WorkspaceChangesOptions = {
  paths: Paths
  program: SearchProgram
  blobs: Blobs
  /** Where states and contents are kept: `LATHE_HOME/checkpoints`. */
  folder: string
  home?: string
  /** How long a call waits for the first state of a workspace; for tests. */
  firstWaitMs?: number
  /** Waits between tries to store what the end of a turn has found; for tests. */
  retryMs?: readonly number[]
}

/** Which call's process runs. */
export type Running = { place: Place; turnId: string; callId: string }

/** What is found once a turn has ended, and what the person is to be told of its checkpoint. */
export type TurnEnd = { changes: FileChange[]; notice: string | null }

type Window = {
  turnId: string
  differences: Map<string, Difference>
  uncertain: Set<string>
  /** Writes of the gate from this one on fell into it. */
  from: number
  /** The last look at it ended before all was seen. */
  isPartial: boolean
}

/** A window, where it is open, and the call that what is found in it belongs to. */
type Open = { state: WorkspaceState; window: Window; running: Running }

const firstWaitMs = 10_000
const firstScanMs = 60_000
const scanMs = 2_000
/** What a call had no time for is looked at when its turn has ended. */
const lastScanMs = 30_000
const recordedMax = 10_000
/** More files than these are not counted line by line. */
const countedMax = 200
const writesKept = 2_000

const partialNotice =
  'The workspace could not be looked at in time, so the checkpoint of this turn is partial: some changes made by its commands may be missing in Changes and cannot be undone. Edits by tools are all there.'

export class WorkspaceChanges {
  readonly #options: WorkspaceChangesOptions
  readonly #states = new Map<string, WorkspaceState>()
  /** What the gate wrote, by file and content, and the how manieth write it was: no command made those. */
  readonly #written = new Map<string, number>()
  #writes = 0
  /** Windows of turns that left processes running, or were not looked at whole, until the turn's end. */
  readonly #lingering = new Map<string, Open>()
  /** What is to be told of a turn's checkpoint when it ends. */
  readonly #notices = new Map<string, string>()
  /** Sessions that know that their workspace gets no checkpoints. */
  readonly #told = new Set<string>()
  #thread: ScanThread | null = null

  constructor(options: WorkspaceChangesOptions) {
    this.#options = options
  }

  /** Begins the checkpoint of a workspace beside the first model request (F-1001); never throws, never waits. */
  prepare(place: Place): void {
    void this.#stateOf(place).ready
  }

  /** The gate wrote this file. */
  noteWritten(real: string, after: string | null): void {
    const key = `${real}\0${after}`
    this.#written.delete(key)
    this.#written.set(key, ++this.#writes)
    if (this.#written.size > writesKept) this.#written.delete(this.#written.keys().next().value!)
  }

  /**
   * Opens a window around a process; the answered function closes it and tells the changes seen. With `lingers` the
   * process may outlive the call, and the window stays open for `turnEnded`; so it does where a call had no time for all.
   * Waits at most 10 s for the first state of a workspace, then goes on with a partial checkpoint (F-1001). Where none is
   * kept (F-1007) nothing is seen. Never throws (F-1014).
   */
  async begin(running: Running, { lingers = false } = {}): Promise<() => Promise<FileChange[]>> {
    const { place, turnId } = running
    const state = this.#stateOf(place)
    const isReady = await withinTime(state.ready, this.#options.firstWaitMs ?? firstWaitMs)
    if (isReady === false) {
      const { sessionId } = place
      if (state.unsuitable === null) this.#notices.set(turnId, partialNotice)
      else if (!this.#told.has(sessionId)) this.#notices.set(turnId, state.unsuitable)
      this.#told.add(sessionId)
      return async () => []
    }
    if (isReady === 'late') this.#notices.set(turnId, partialNotice)
    const held = this.#lingering.get(turnId)
    if (held) return () => this.#drain({ ...held, running }, scanMs)
    if (isReady === true) await state.update(scanMs)
    const open: Open = { state, window: state.open(turnId, this.#writes + 1), running }
    if (lingers) this.#lingering.set(turnId, open)
    return async () => {
      const changes = await this.#drain(open, scanMs)
      if (lingers) return changes
      if (open.window.isPartial && !this.#lingering.has(turnId)) this.#lingering.set(turnId, open)
      else state.close(open.window)
      return changes
    }
  }

  /** What was changed since by processes that outlived their calls, and what no call had time to look at. */
  async turnEnded(turnId: string): Promise<TurnEnd> {
    const held = this.#lingering.get(turnId)
    this.#lingering.delete(turnId)
    const changes = held ? await this.#drain(held, lastScanMs) : []
    for (const ms of held ? (this.#options.retryMs ?? settleRetryMs) : []) {
      if (held!.window.differences.size === 0) break
      await delay(ms, undefined, { ref: false })
      changes.push(...(await this.#drain(held!, lastScanMs)))
    }
    held?.state.close(held.window)
    if (held?.window.isPartial) this.#notices.set(turnId, partialNotice)
    const notice = this.#notices.get(turnId) ?? null
    this.#notices.delete(turnId)
    return { changes, notice }
  }

  /** Removes old stores (F-1013); answers the bytes freed. */
  tidy(): Promise<number> {
    return tidyCheckpoints(this.#options.folder, (path) => this.#isUsed(path))
  }

  /** Bytes that `tidy` would free now. */
  async expiredBytes(): Promise<number> {
    const expired = await expiredCheckpoints(this.#options.folder, (path) => this.#isUsed(path))
    return expired.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  #isUsed(store: string): boolean {
    return [...this.#states.values()].some((state) => state.store === store)
  }

  async dispose(): Promise<void> {
    await this.#thread?.end()
  }

  #stateOf(place: Place): WorkspaceState {
    const { workspace } = place
    let state = this.#states.get(workspace)
    if (!state) {
      this.#thread ??= new ScanThread()
      const name = createHash('sha256').update(workspace).digest('hex').slice(0, 32)
      const made = new WorkspaceState(place, join(this.#options.folder, name), this.#thread, this.#options)
      this.#states.set(workspace, (state = made))
      // A folder that was missing, a full disk: the next turn tries again.
      void made.ready.then((isReady) => !isReady && made.unsuitable === null && this.#states.delete(workspace))
    }
    return state
  }

  /** Compares, and takes what the window has seen out of it. */
  async #drain({ state, window, running }: Open, ms: number): Promise<FileChange[]> {
    const wasPartial = window.isPartial
    window.isPartial = !(await state.update(ms))
    const { differences, uncertain, from } = window
    window.differences = new Map()
    window.uncertain = new Set()
    window.from = this.#writes + 1
    // It stayed open for want of time, also while no process of the turn ran (F-903).
    if (wasPartial) for (const path of differences.keys()) uncertain.add(path)
    const byCommand = [...differences.values()].filter(
      ({ path, after }) => (this.#written.get(`${join(state.root, path)}\0${after?.hash ?? null}`) ?? 0) < from,
    )
    try {
      return await this.#record(state, byCommand, uncertain, running)
    } catch {
      // No contents can be stored, where the disk is full say: what was seen waits for the next look.
      for (const { path, before, after } of byCommand) {
        const newer = window.differences.get(path)
        window.differences.set(path, { ...(newer ?? { path, after }), before })
      }
      for (const path of uncertain) window.uncertain.add(path)
      window.from = from
      window.isPartial = true
      return []
    }
  }

  async #record(
    state: WorkspaceState,
    byCommand: readonly Difference[],
    uncertain: ReadonlySet<string>,
    running: Running,
  ): Promise<FileChange[]> {
    const { blobs } = this.#options
    const changes: FileChange[] = []
    const contents = new Map<string, Uint8Array>()
    const isCounted = byCommand.length <= countedMax
    for (const { path, before, after } of byCommand.slice(0, recordedMax)) {
      const [was, is] = await state.contents([before?.hash ?? null, after?.hash ?? null])
      if ((before && !was) || (after && !is)) continue
      for (const bytes of [was, is]) {
        if (!bytes) continue
        const hash = await blobs.put(bytes)
        if (isCounted) contents.set(hash, bytes)
      }
      const counts = isCounted ? await quickCounts(was ?? null, is ?? null) : { added: null, removed: null }
      changes.push({
        id: newId(),
        path,
        kind: before === null ? 'created' : after === null ? 'deleted' : 'edited',
        before: before?.hash ?? null,
        after: after?.hash ?? null,
        ...counts,
        by: 'command',
        callId: running.callId,
        ...(uncertain.has(path) ? { uncertain: true } : {}),
        ...modeOf(before, after),
      })
    }
    return markRenames(changes, (hash) => contents.get(hash) ?? null)
  }
}

/** Where it differs, and always of a link. */
function modeOf(before: Held | null, after: Held | null): Pick<FileChange, 'mode'> {
  const isLink = before?.mode === linkMode || after?.mode === linkMode
  if (before?.mode === after?.mode && !isLink) return {}
  return { mode: { before: before?.mode ?? null, after: after?.mode ?? null } }
}

/** One workspace: its state is compared by one scan at a time, and what differs goes to the windows open then. */
class WorkspaceState {
  /** Real path of the workspace. */
  root = ''
  readonly store: string
  /** Whether a first state was taken; resolves once, never rejects. */
  readonly ready: Promise<boolean>
  unsuitable: string | null = null
  readonly #place: Place
  readonly #thread: ScanThread
  readonly #options: WorkspaceChangesOptions
  readonly #windows = new Set<Window>()
  #last: Promise<unknown> = Promise.resolve()

  constructor(place: Place, store: string, thread: ScanThread, options: WorkspaceChangesOptions) {
    this.#place = place
    this.store = store
    this.#thread = thread
    this.#options = options
    this.ready = this.#first().catch(() => false)
  }

  open(turnId: string, from: number): Window {
    const window: Window = { turnId, differences: new Map(), uncertain: new Set(), from, isPartial: false }
    this.#windows.add(window)
    return window
  }

  close(window: Window): void {
    this.#windows.delete(window)
  }

  /** Compares, for at most `ms` and as long again for those before it. False where not all was looked at. */
  async update(ms: number): Promise<boolean> {
    const next = this.#last.then(async () => {
      const result = await this.#scan(ms)
      for (const difference of result.differences) this.#give(difference)
      return !result.partial && !result.tooMany
    })
    this.#last = next.catch(() => {})
    return (
      (await withinTime(
        next.catch(() => false),
        2 * ms,
      )) === true
    )
  }

  contents(hashes: (string | null)[]): Promise<(Uint8Array | null)[]> {
    return this.#thread.contents(this.store, hashes)
  }

  #give(difference: Difference): void {
    const turns = new Set([...this.#windows].map(({ turnId }) => turnId))
    for (const window of this.#windows) {
      const first = window.differences.get(difference.path)
      window.differences.set(difference.path, first ? { ...difference, before: first.before } : difference)
      if (turns.size > 1) window.uncertain.add(difference.path)
    }
  }

  async #first(): Promise<boolean> {
    const root = await this.#options.paths.resolve(this.#place, '.')
    this.root = root.real
    if (isHomeOrDrive(this.root, this.#options.home)) {
      this.unsuitable = unsuitable('is a home folder or a whole drive')
      return false
    }
    const first = this.#last.then(() => this.#scan(firstScanMs))
    this.#last = first.catch(() => {})
    const { tooMany } = await first
    if (tooMany) this.unsuitable = unsuitable(`has more than ${coveredFilesMax.toLocaleString('en')} files`)
    // What the tidying goes by.
    await utimes(this.store, new Date(), new Date()).catch(() => {})
    return !tooMany
  }

  async #scan(ms: number): Promise<ScanResult> {
    const deadline = performance.now() + ms
    const root = await this.#options.paths.resolve(this.#place, '.')
    const { paths, cut } = await this.#options.program.list(root, ms)
    if (cut === 'enough') return { differences: [], partial: false, tooMany: true }
    // Half a list would make the rest look deleted.
    if (cut === 'time') return { differences: [], partial: true, tooMany: false }
    const left = Math.max(200, deadline - performance.now())
    return this.#thread.update(root.real, this.store, paths, { ms: left, mayForget: this.#windows.size === 0 })
  }
}

/** Such a folder is nobody's workspace alone, and gets no checkpoints (F-1007). */
export function isHomeOrDrive(real: string, home = homedir()): boolean {
  return real === parse(real).root || real === home
}

function unsuitable(why: string): string {
  return `The workspace ${why}, so it gets no checkpoints: changes made by commands are not found. Edits by tools are listed and can be undone.`
}

/** `late` where it takes longer; it goes on all the same. */
async function withinTime<T>(work: Promise<T>, ms: number): Promise<T | 'late'> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => (timer = setTimeout(() => resolve('late'), ms)))
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
