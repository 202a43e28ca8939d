/** Tells which files of the open workspaces change, whoever changes them (F-1110 to F-1113). It alters nothing itself. */
import type { Dirent } from 'node:fs'
import { lstat, opendir, stat } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import type { AsyncSubscription, Event } from '@parcel/watcher'
import { temporaryPrefix } from './atomic-write.ts'
import { ignoreFiles, IgnoreTree } from './ignore-rules.ts'
import { neverEntered } from './never-entered.ts'

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
/** A new folder that the system said nothing of for so long is not watched. */
const doubtMs = 1_000
/** The system's watch is one of each folder: what is made in a new one before its watch stands is told by nobody. */
const watchesEachFolder = process.platform === 'linux'
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
  #waiting = new Set<string>()
  #created = new Set<string>()
  /** Folders made in folders that are new themselves, until an event names them. */
  #doubted = new Set<string>()
  #doubting: NodeJS.Timeout | undefined
  /** There are unwatched ones among those that ignore files leave out. */
  #ignoredUnwatched = false
  #joining: NodeJS.Timeout | undefined
  #polling: NodeJS.Timeout | undefined
  #isPresent = true
  #isRefused = false
  #ended = false

  constructor(workspace: string, options: WatchingOptions) {
    this.#workspace = workspace
    this.#options = options
    this.#ignored = new IgnoreTree(workspace)
    this.started = this.#start()
  }

  get stands(): boolean {
    return this.#subscription !== null
  }

  async end(): Promise<void> {
    this.#ended = true
    clearTimeout(this.#joining)
    clearTimeout(this.#polling)
    clearTimeout(this.#doubting)
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
        this.#doubted.delete(below)
        if (watchesEachFolder && type === 'create') this.#created.add(below)
      }
    }
    if (this.#waiting.size === 0) return
    this.#joining ??= setTimeout(() => {
      this.#joining = undefined
      const [paths, created] = [new Set(this.#waiting), [...this.#created]]
      this.#waiting.clear()
      this.#created.clear()
      void this.#tellSeen(paths, created)
    }, joinMs)
  }

  /** Adds what lies in new folders to `paths`; a folder in one of them may have no watch, and is looked for again. */
  async #lookInside(created: readonly string[], paths: Set<string>): Promise<void> {
    if (created.length > pathsMax) return this.#doubt('')
    for (const path of created) {
      const entries = await entriesOf(join(this.#workspace, path))
      if (entries.length > pathsMax) return this.#doubt('')
      for (const entry of entries) {
        const inside = `${path}/${entry.name}`
        if (paths.has(inside) || isTemporary(entry.name) || neverEntered.has(entry.name)) continue
        if (!entry.isDirectory()) paths.add(inside)
        else if (await this.#ignored.ignores(inside)) this.#ignoredUnwatched = true
        else this.#doubt(inside)
      }
    }
  }

  /** A watch anew has all folders; it is made once, behind the last of many. */
  #doubt(folder: string): void {
    if (this.#ended) return
    this.#doubted.add(folder)
    clearTimeout(this.#doubting)
    this.#doubting = setTimeout(() => {
      const isUnwatched = this.#doubted.size > 0
      this.#doubted.clear()
      if (isUnwatched && this.#subscription) void this.#renew()
    }, doubtMs).unref()
  }

  /** What ignore files leave out is not told (F-802): a build writes thousands of files that nobody looks at. */
  async #tellSeen(changed: Set<string>, created: readonly string[]): Promise<void> {
    await this.#lookInside(created, changed)
    const paths = [...changed]
    if (paths.some((path) => ignoreFiles.includes(basename(path)))) {
      this.#ignored.forget()
      if (this.#ignoredUnwatched) return this.#renew()
      return this.#tell('rescan')
    }
    if (paths.length > filteredMax) return this.#tell('rescan')
    const seen: string[] = []
    for (const path of paths) if (!(await this.#ignored.ignores(path))) seen.push(path)
    if (seen.length > 0) this.#tell(seen.length > pathsMax ? 'rescan' : seen)
  }

  async #renew(): Promise<void> {
    this.#ignoredUnwatched = false
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

/** Of a folder, never of what a link leads to; one more than counts at most. */
async function entriesOf(path: string): Promise<Dirent[]> {
  const entries: Dirent[] = []
  try {
    if (!(await lstat(path)).isDirectory()) return entries
    for await (const entry of await opendir(path)) if (entries.push(entry) > pathsMax) break
  } catch {
    // It has gone again, or is not to be read.
  }
  return entries
}

function isTemporary(name: string): boolean {
  return name.startsWith(temporaryPrefix)
}
