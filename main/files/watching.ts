/** Tells which files of the open workspaces change, whoever changes them (F-1110 to F-1113). It alters nothing itself. */
import { stat } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import type { AsyncSubscription, Event } from '@parcel/watcher'
import { isTemporary } from './atomic-write.ts'
import { ignoreFiles, IgnoreTree } from './ignore-rules.ts'
import { neverEntered } from './never-entered.ts'
import { NewFolders } from './new-folders.ts'

export type WatchingOptions = {
  /** Paths below the workspace with `/`, at most 500; `rescan` where they are more, or nobody knows. */
  changed(workspace: string, paths: string[] | 'rescan'): void
  /** The folder is gone, or back (F-1113). */
  presence(workspace: string, present: boolean): void
  /** The system refuses watches here: the workspace is looked at every 5 s instead. Told once. */
  refused(workspace: string, reason: string): void
  /** For tests. */
  subscribe?: typeof import('@parcel/watcher').subscribe
}

const joinMs = 100
const pathsMax = 500
/** So many at once are not gone through one by one. */
const filteredMax = 20_000
const pollMs = 5_000
/** Workspaces watched at once; the one longest not asked for goes first. */
const watchedMax = 8

export class Watching {
  readonly #options: WatchingOptions
  readonly #watched = new Map<string, Watched>()

  constructor(options: WatchingOptions) {
    this.#options = options
  }

  /** Watches this workspace from now on; costs nothing where it is watched already. */
  watch(workspace: string): void {
    const known = this.#watched.get(workspace) ?? new Watched(workspace, this.#options)
    this.#watched.delete(workspace)
    this.#watched.set(workspace, known)
    if (this.#watched.size <= watchedMax) return
    const [oldest, watched] = this.#watched.entries().next().value!
    this.#watched.delete(oldest)
    // Of what changes there from now on nobody hears.
    this.#options.changed(oldest, 'rescan')
    void watched.end()
  }

  /** Whether every change in this workspace is told from now on. */
  isWatched(workspace: string): boolean {
    return this.#watched.get(workspace)?.stands ?? false
  }

  /** Resolves once the watches asked for so far are in place, or refused. */
  async ready(): Promise<void> {
    await Promise.all([...this.#watched.values()].map((watched) => watched.started))
  }

  async dispose(): Promise<void> {
    const all = [...this.#watched.values()]
    this.#watched.clear()
    await Promise.all(all.map((watched) => watched.end()))
  }
}

class Watched {
  started: Promise<void>
  readonly #workspace: string
  readonly #options: WatchingOptions
  #subscription: AsyncSubscription | null = null
  readonly #ignored: IgnoreTree
  readonly #newFolders: NewFolders
  #waiting = new Set<string>()
  #joining: NodeJS.Timeout | undefined
  #polling: NodeJS.Timeout | undefined
  #isPresent = true
  #isRefused = false
  #ended = false

  constructor(workspace: string, options: WatchingOptions) {
    this.#workspace = workspace
    this.#options = options
    this.#ignored = new IgnoreTree(workspace)
    this.#newFolders = new NewFolders({
      workspace,
      ignored: this.#ignored,
      renew: () => this.#subscription && void this.#renew(),
    })
    this.started = this.#start()
  }

  get stands(): boolean {
    return this.#subscription !== null
  }

  async end(): Promise<void> {
    this.#ended = true
    clearTimeout(this.#joining)
    clearTimeout(this.#polling)
    this.#newFolders.end()
    await this.started
    await this.#stop()
  }

  async #start(): Promise<void> {
    const folders = [...neverEntered].flatMap((name) => [name, `**/${name}`])
    try {
      const subscribe = this.#options.subscribe ?? (await import('@parcel/watcher')).subscribe
      const onEvents = (error: Error | null, events: Event[]): void => this.#take(error, events)
      this.#subscription = await subscribe(this.#workspace, onEvents, { ignore: folders })
      if (this.#ended) await this.#stop()
    } catch (error) {
      if (await this.#checkPresence()) this.#refuse(error)
      this.#poll()
    }
  }

  #refuse(error: unknown): void {
    if (this.#isRefused) return
    this.#isRefused = true
    this.#options.refused(this.#workspace, error instanceof Error ? error.message : String(error))
  }

  async #stop(): Promise<void> {
    const subscription = this.#subscription
    this.#subscription = null
    await subscription?.unsubscribe().catch(() => {})
  }

  /** An error means that events were lost: everything is looked at again, by a new watch. */
  #take(error: Error | null, events: readonly Event[]): void {
    if (this.#ended) return
    if (error) return void this.#renew()
    for (const { path, type } of events) {
      const below = relative(this.#workspace, path).split(sep).join('/')
      if (below === '' || below.startsWith('../')) void this.#checkPresence()
      else if (!isTemporary(basename(below))) {
        this.#waiting.add(below)
        this.#newFolders.heard(below, type === 'create')
      }
    }
    if (this.#waiting.size === 0) return
    this.#joining ??= setTimeout(() => {
      this.#joining = undefined
      const paths = new Set(this.#waiting)
      this.#waiting.clear()
      void this.#tellSeen(paths, this.#newFolders.takeCreated())
    }, joinMs)
  }

  /** What ignore files leave out is not told (F-802): a build writes thousands of files that nobody looks at. */
  async #tellSeen(changed: Set<string>, created: readonly string[]): Promise<void> {
    await this.#newFolders.lookInside(created, changed)
    const paths = [...changed]
    if (paths.some((path) => ignoreFiles.includes(basename(path)))) {
      this.#ignored.forget()
      if (this.#newFolders.hasIgnored) return this.#renew()
      return this.#tell('rescan')
    }
    if (paths.length > filteredMax) return this.#tell('rescan')
    const seen: string[] = []
    for (const path of paths) if (!(await this.#ignored.ignores(path))) seen.push(path)
    if (seen.length > 0) this.#tell(seen.length > pathsMax ? 'rescan' : seen)
  }

  async #renew(): Promise<void> {
    this.#newFolders.renewed()
    this.#tell('rescan')
    await this.#stop()
    this.#poll(0)
  }

  /** Without a watch: the folder is looked for, and everything counts as changed; a new watch is tried where it came back. */
  #poll(ms = pollMs): void {
    if (this.#ended) return
    this.#polling = setTimeout(() => {
      void this.#checkPresence().then((isPresent) => {
        if (this.#ended) return
        if (!isPresent) return this.#poll()
        this.#tell('rescan')
        this.started = this.#start()
        // What changed before the new watch stood was seen by nobody.
        void this.started.then(() => this.#subscription && this.#tell('rescan'))
      })
    }, ms).unref()
  }

  async #checkPresence(): Promise<boolean> {
    const isPresent = await stat(join(this.#workspace, '.')).then(
      (stats) => stats.isDirectory(),
      () => false,
    )
    if (isPresent !== this.#isPresent && !this.#ended) {
      this.#isPresent = isPresent
      this.#options.presence(this.#workspace, isPresent)
      if (!isPresent) void this.#stop().then(() => this.#poll())
    }
    return isPresent
  }

  #tell(paths: string[] | 'rescan'): void {
    if (!this.#ended) this.#options.changed(this.#workspace, paths)
  }
}
