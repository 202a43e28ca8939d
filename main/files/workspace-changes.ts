/**
 * What commands did to a workspace (F-902, F-903): its state is taken before a process runs and compared after it. A
 * difference belongs to the windows that were open when it was seen; two turns' windows make it uncertain.
 */
import { createHash } from 'node:crypto'
import { readdir, rm, stat, utimes } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, parse } from 'node:path'
import { Worker } from 'node:worker_threads'
import { newId } from '../../preload/contract/ids.ts'
import type { Blobs } from '../storage/blobs.ts'
import type { FileChange } from './change.ts'
import { quickCounts } from './diff.ts'
import type { Paths, Place } from './paths.ts'
import type { ScanReply, ScanRequest } from './scan-worker.ts'
import { belowRoot, type SearchProgram } from './search-program.ts'
import type { Difference, ScanResult } from './workspace-scan.ts'

export type WorkspaceChangesOptions = {
  paths: Paths
  program: SearchProgram
  blobs: Blobs
  /** Where states and contents are kept: `LATHE_HOME/checkpoints`. */
  folder: string
  home?: string
}

/** Which call's process runs. */
export type Running = { place: Place; turnId: string; callId: string }

type Window = {
  turnId: string
  differences: Map<string, Difference>
  uncertain: Set<string>
  /** Writes of the gate from this one on fell into it. */
  from: number
}

const firstWaitMs = 10_000
const firstScanMs = 60_000
const scanMs = 2_000
const coveredFilesMax = 250_000
const recordedMax = 10_000
/** More files than these are not counted line by line. */
const countedMax = 200
const writesKept = 2_000
const storesBytesMax = 20 * 1024 * 1024 * 1024
const storesKeptMs = 30 * 24 * 60 * 60 * 1_000

export class WorkspaceChanges {
  readonly #options: WorkspaceChangesOptions
  readonly #states = new Map<string, WorkspaceState>()
  /** What the gate wrote, by file and content, and the how manieth write it was: no command made those. */
  readonly #written = new Map<string, number>()
  #writes = 0
  /** Windows of turns that left processes running, until the turn's end. */
  readonly #lingering = new Map<string, { state: WorkspaceState; window: Window; running: Running }>()
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
   * process may outlive the call, and the window stays open for `turnEnded`. Waits at most 10 s for the first state of a
   * workspace; without one, and where none is kept (F-1007), nothing is seen. Never throws (F-1014).
   */
  async begin(running: Running, { lingers = false } = {}): Promise<() => Promise<FileChange[]>> {
    const state = this.#stateOf(running.place)
    if (!(await Promise.race([state.ready, wait(firstWaitMs)]))) return async () => []
    const held = this.#lingering.get(running.turnId)
    if (held) return () => this.#drain({ ...held, running })
    await state.update(scanMs)
    const window = state.open(running.turnId, this.#writes + 1)
    if (lingers) this.#lingering.set(running.turnId, { state, window, running })
    return async () => {
      const changes = await this.#drain({ state, window, running })
      if (!lingers) state.close(window)
      return changes
    }
  }

  /** What was changed since by processes that outlived their calls. */
  async turnEnded(turnId: string): Promise<FileChange[]> {
    const held = this.#lingering.get(turnId)
    if (!held) return []
    this.#lingering.delete(turnId)
    const changes = await this.#drain(held)
    held.state.close(held.window)
    return changes
  }

  /** Why the workspace has no checkpoints and no detection; null where it has. */
  async unsuitable(place: Place): Promise<string | null> {
    const state = this.#stateOf(place)
    await state.ready
    return state.unsuitable
  }

  /** Removes stores that were not used for 30 days, then the oldest until all fit into 20 GiB (F-1013). */
  async tidy(): Promise<void> {
    const { folder } = this.#options
    const names = await readdir(folder).catch(() => [])
    const stores = await Promise.all(
      names.map(async (name) => {
        const path = join(folder, name)
        const pack = await stat(join(path, 'pack')).catch(() => null)
        const used = await stat(path).catch(() => null)
        return { path, bytes: pack?.size ?? 0, usedAt: used?.mtimeMs ?? 0 }
      }),
    )
    let bytes = stores.reduce((sum, store) => sum + store.bytes, 0)
    for (const store of stores.toSorted((a, b) => a.usedAt - b.usedAt)) {
      if (store.usedAt > Date.now() - storesKeptMs && bytes <= storesBytesMax) break
      if ([...this.#states.values()].some(({ store: used }) => used === store.path)) continue
      await rm(store.path, { recursive: true, force: true })
      bytes -= store.bytes
    }
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
      state = new WorkspaceState(place, join(this.#options.folder, name), this.#thread, this.#options)
      this.#states.set(workspace, state)
    }
    return state
  }

  /** Compares, and takes what the window has seen out of it. */
  async #drain({
    state,
    window,
    running,
  }: {
    state: WorkspaceState
    window: Window
    running: Running
  }): Promise<FileChange[]> {
    await state.update(scanMs)
    const { differences, uncertain, from } = window
    window.differences = new Map()
    window.uncertain = new Set()
    window.from = this.#writes + 1
    const byCommand = [...differences.values()].filter(
      ({ path, after }) => (this.#written.get(`${join(state.root, path)}\0${after?.hash ?? null}`) ?? 0) < from,
    )
    return this.#record(state, byCommand, uncertain, running)
  }

  async #record(
    state: WorkspaceState,
    byCommand: readonly Difference[],
    uncertain: ReadonlySet<string>,
    running: Running,
  ): Promise<FileChange[]> {
    const { blobs } = this.#options
    const changes: FileChange[] = []
    const isCounted = byCommand.length <= countedMax
    for (const { path, before, after } of byCommand.slice(0, recordedMax)) {
      const [was, is] = await state.contents([before?.hash ?? null, after?.hash ?? null])
      if ((before && !was) || (after && !is)) continue
      for (const bytes of [was, is]) if (bytes) await blobs.put(bytes)
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
        ...(before?.mode === after?.mode ? {} : { mode: { before: before?.mode ?? null, after: after?.mode ?? null } }),
      })
    }
    return changes
  }
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
    const window: Window = { turnId, differences: new Map(), uncertain: new Set(), from }
    this.#windows.add(window)
    return window
  }

  close(window: Window): void {
    this.#windows.delete(window)
  }

  /** Compares, for at most `ms`; one after the other. */
  update(ms: number): Promise<void> {
    const next = this.#last.then(async () => {
      const result = await this.#scan(ms)
      for (const difference of result?.differences ?? []) this.#give(difference)
    })
    this.#last = next.catch(() => {})
    return this.#last as Promise<void>
  }

  contents(hashes: (string | null)[]): Promise<(Uint8Array | null)[]> {
    return this.#thread.contents(this.root, this.store, hashes)
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
    if (this.root === parse(this.root).root || this.root === (this.#options.home ?? homedir())) {
      this.unsuitable = 'The workspace is a home folder or a whole drive.'
      return false
    }
    const first = this.#last.then(() => this.#scan(firstScanMs))
    this.#last = first.catch(() => {})
    if ((await first) === null) return false
    // What the tidying goes by.
    await utimes(this.store, new Date(), new Date()).catch(() => {})
    return true
  }

  /** Null where the workspace has too many files. */
  async #scan(ms: number): Promise<ScanResult | null> {
    const deadline = performance.now() + ms
    const paths: string[] = []
    const root = await this.#options.paths.resolve(this.#place, '.')
    const { cut } = await this.#options.program.run({
      root,
      args: ['--files', '--null'],
      noIgnore: false,
      deadline,
      separator: '\0',
      maxLineBytes: 16 * 1024,
      signal: new AbortController().signal,
      onLine: (line) => paths.push(belowRoot(line)) <= coveredFilesMax,
    })
    if (cut === 'enough') {
      this.unsuitable = `The workspace has more than ${coveredFilesMax.toLocaleString('en')} files.`
      return null
    }
    // Half a list would make the rest look deleted.
    if (cut === 'time') return { differences: [], partial: true, large: 0 }
    return this.#thread.update(root.real, this.store, paths, Math.max(200, deadline - performance.now()))
  }
}

/** Asks the thread and hands its answers to who asked. It starts with the first question. */
class ScanThread {
  readonly #asked = new Map<number, (reply: ScanReply) => void>()
  #worker: Worker | null = null
  #count = 0

  async update(root: string, folder: string, paths: string[], ms: number): Promise<ScanResult> {
    const reply = await this.#ask({ id: ++this.#count, root, folder, ask: 'update', paths: paths.join('\0'), ms })
    if (!('result' in reply)) throw new Error('failed' in reply ? reply.failed : 'No result.')
    return reply.result
  }

  async contents(root: string, folder: string, hashes: (string | null)[]): Promise<(Uint8Array | null)[]> {
    const wanted = hashes.filter((hash) => hash !== null)
    if (wanted.length === 0) return hashes.map(() => null)
    const reply = await this.#ask({ id: ++this.#count, root, folder, ask: 'contents', hashes: wanted })
    const found = 'contents' in reply ? reply.contents : []
    return hashes.map((hash) => (hash === null ? null : (found[wanted.indexOf(hash)] ?? null)))
  }

  async end(): Promise<void> {
    await this.#worker?.terminate()
  }

  #ask(request: ScanRequest): Promise<ScanReply> {
    this.#worker ??= this.#start()
    return new Promise((resolve) => {
      this.#asked.set(request.id, resolve)
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      this.#worker!.postMessage(request)
    })
  }

  #start(): Worker {
    const worker = new Worker(new URL('./scan-worker.ts', import.meta.url), { name: 'scan' })
    worker.unref()
    worker.on('message', (reply: ScanReply) => {
      this.#asked.get(reply.id)?.(reply)
      this.#asked.delete(reply.id)
    })
    // A thread that ended answers nobody: who waits is told, and the next question starts another.
    worker.on('error', () => {})
    worker.on('exit', () => {
      this.#worker = null
      for (const [id, resolve] of this.#asked) resolve({ id, failed: 'The thread that looks at workspaces has ended.' })
      this.#asked.clear()
    })
    return worker
  }
}

function wait(ms: number): Promise<false> {
  return new Promise((resolve) => setTimeout(() => resolve(false), ms).unref())
}
