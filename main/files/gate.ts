/**
 * The commit gate: every change of a file by the workbench goes through here (section 6). Stopped means that it did not
 * happen and will not, or that it happened completely and is recorded.
 */
import { randomUUID } from 'node:crypto'
import type { Stats } from 'node:fs'
import { lstat, readFile, readlink, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { LatheError } from '../../preload/contract/errors.ts'
import { newId } from '../../preload/contract/ids.ts'
import type { Blobs } from '../storage/blobs.ts'
import { deleteFile, makeFolders, removeEmptyFolders, temporaryPrefix, writeFileWhole } from './atomic-write.ts'
import { linkMode, type FileChange } from './change.ts'
import { quickCounts } from './diff.ts'
import { FileLocks } from './file-locks.ts'
import type { Author, Intent, IntentFile, IntentRecords } from './intents.ts'
import { openChecked, swapped, type FilePath, type Paths, type Place } from './paths.ts'
import type { FileState, FileStates } from './read-state.ts'
import { hashedBytesMax, hashOf } from './version.ts'

export type WriteRequest = {
  path: FilePath
  /** Hash of the bytes the content was made from; null where there was no file. */
  base: string | null
  /** Null deletes the file. */
  content: Uint8Array | null
  /** Permission bits; absent: as they were, or the system's for a new file. `linkMode` writes a link to `content`. */
  mode?: number | undefined
  /** Makes the content anew from what stands there now (F-602); absent: another writer is `file.changed_during_edit`. */
  again?: (current: Uint8Array) => Promise<Uint8Array>
}

/** Points a test can stop at, in order. */
export type GatePoint = 'matched' | 'checked' | 'intended' | 'written' | 'renamed'

export type GateOptions = {
  paths: Paths
  blobs: Blobs
  states: FileStates
  intents: IntentRecords
  /** Hears of every file written, by its real path and the hash it holds now. */
  wrote?: (real: string, after: string | null) => void
  /** Hears what was changed, by workspace and shown path. */
  changed?: (workspace: string, path: string) => void
  /** Called as each point is reached; what it throws counts as a failure there. */
  reached?: (point: GatePoint, file: string) => Promise<void> | void
}

const recomputedMax = 2

/** A request with all that is known of it once nothing can stop it any more. */
type Ready = {
  path: FilePath
  before: { stats: Stats; content: Uint8Array } | null
  content: Uint8Array | null
  mode: number | undefined
  file: IntentFile
}

export class CommitGate {
  readonly #options: GateOptions
  readonly #locks = new FileLocks()

  constructor(options: GateOptions) {
    this.#options = options
  }

  /**
   * Writes all files or none, and answers the recorded changes. An abort is honoured until the intent is recorded, and
   * not after it (F-603, T-8). Throws `path.swapped`, `file.changed_during_edit`, `file.busy`, `file.read_only`,
   * `file.disk_full`, `file.too_large`, `patch.rolled_back`, or the signal's reason; no file is changed then.
   */
  commit(place: Place, requests: readonly WriteRequest[], author: Author, signal: AbortSignal): Promise<FileChange[]> {
    const keys = requests.map(({ path }) => path.key)
    return this.#locks.hold(keys, signal, async () => {
      signal.throwIfAborted()
      const ready = []
      for (const request of requests) ready.push(await this.#check(place, request, author, signal))
      const intent: Intent = { id: newId(), author, files: ready.map(({ file }) => file) }
      signal.throwIfAborted()
      await this.#begin(ready, intent)
      await this.#writeAll(ready, intent)
      const changes = await this.#record(ready, intent)
      for (const { path, kind } of changes) if (kind !== 'deleted') this.#options.changed?.(place.workspace, path)
      return changes
    })
  }

  /** Steps 2 and 3: the path leads where it led, and the file holds what the content was made from. */
  async #check(place: Place, request: WriteRequest, author: Author, signal: AbortSignal): Promise<Ready> {
    let { base, content } = request
    for (let recomputed = 0; ; recomputed++) {
      await this.#reach('matched', request)
      const { given, isEntry } = request.path
      const path = await this.#options.paths.resolve(place, given, { isEntry })
      if (!samePlace(path, request.path)) throw swapped(request.path)
      this.#options.paths.checkWritable(path)
      const before = await readEntry(path)
      signal.throwIfAborted()
      const now = before && (await hashOf(before.content))
      if (now === base) {
        await this.#reach('checked', request)
        return {
          path,
          before,
          content,
          mode: request.mode,
          file: await intentFile(path, base, before, { content, mode: request.mode }, author),
        }
      }
      if (!before || !request.again || recomputed === recomputedMax) {
        throw new LatheError(
          'file.changed_during_edit',
          `${path.shown} was changed by another program meanwhile; nothing was written.`,
          { hint: 'Read it again, then repeat the change.' },
        )
      }
      content = await request.again(before.content)
      base = now
    }
  }

  /** Step 4, with both contents stored: from here on a cancel waits. */
  async #begin(ready: readonly Ready[], intent: Intent): Promise<void> {
    const contents = ready
      .flatMap(({ before, content }) => [before?.content, content])
      .filter((bytes) => bytes !== undefined && bytes !== null)
    try {
      await Promise.all([
        this.#options.intents.begin(intent),
        ...contents.map((bytes) => this.#options.blobs.put(bytes)),
      ])
      await this.#reach('intended', ready[0]!)
    } catch (error) {
      await this.#options.intents.drop(intent)
      throw error
    }
  }

  /** Step 5. A failure undoes what was begun, last first; what cannot be undone stays an open intent. */
  async #writeAll(ready: readonly Ready[], intent: Intent): Promise<void> {
    const undo: (() => Promise<void>)[] = []
    let written = 0
    try {
      for (const one of ready) {
        if (one.content === null) await deleteFile(one.path.real)
        else {
          const folders = await makeFolders(dirname(one.path.real))
          undo.push(() => removeEmptyFolders(folders))
          if (folders.length > 0) one.file.change.folders = folders.length
          const { mode } = one
          const write = {
            path: one.path.real,
            content: one.content,
            old: one.before,
            ...(mode === undefined ? {} : { mode }),
            temporary: one.file.temporary,
          }
          await writeFileWhole(write, () => this.#reach('written', one))
          // What the system gave it: a redo makes it so again.
          if (one.before === null && mode === undefined)
            one.file.change.mode = { before: null, after: modeOf(await lstat(one.path.real)) }
        }
        written++
        undo.push(() => putBack(one))
        await this.#reach('renamed', one)
      }
    } catch (error) {
      const undone = await Promise.allSettled([
        undo.toReversed().reduce((before, step) => before.then(step), Promise.resolve()),
      ])
      if (undone[0].status === 'fulfilled') await this.#options.intents.drop(intent)
      if (ready.length === 1 || written === 0) throw error
      throw new LatheError(
        'patch.rolled_back',
        `Writing failed, and all files were set back: ${error instanceof Error ? error.message : String(error)}`,
        { cause: error },
      )
    }
  }

  /** Step 6. */
  async #record(ready: readonly Ready[], intent: Intent): Promise<FileChange[]> {
    const { states, intents } = this.#options
    const { sessionId } = intent.author
    const changes = ready.map(({ file }) => file.change)
    for (const { file } of ready) this.#options.wrote?.(file.real, file.change.after)
    const seen: FileState[] = []
    // What the person put back is news to the agent: the file is stale for it (F-909).
    for (const { file, content } of intent.author.by === 'person' ? [] : ready) {
      if (file.change.after !== null) seen.push(await states.note(sessionId, file.key, file.change.after, { content }))
    }
    await intents.record(intent, changes, seen)
    return changes
  }

  async #reach(point: GatePoint, { path }: { path: FilePath }): Promise<void> {
    await this.#options.reached?.(point, path.real)
  }
}

/** What an open intent came to: changes that took place, and files that hold neither the old nor the new content. */
export type SettledIntent = { author: Author; changes: FileChange[]; unclear: FileChange[] }

/**
 * Settles what the last run left open, by the hash of each file (F-604). What is answered stays open until its session
 * has recorded it; the unclear files are told to the person, with both versions at hand.
 */
export async function settleOpenIntents(intents: IntentRecords): Promise<SettledIntent[]> {
  const settled: SettledIntent[] = []
  for (const intent of await intents.open()) {
    const unclear: FileChange[] = []
    const done: FileChange[] = []
    for (const file of intent.files) {
      await rm(file.temporary, { force: true }).catch(() => {})
      const now = await contentHash(file.real)
      if (intent.written || now === file.change.after) done.push(file.change)
      else if (now !== file.change.before) unclear.push(file.change)
    }
    const states = intent.files.flatMap(({ key, change }) =>
      done.includes(change) && change.after !== null ? [{ key, version: change.after, shown: [] }] : [],
    )
    if (done.length + unclear.length === 0) await intents.drop(intent)
    else {
      await intents.record(intent, done, states)
      settled.push({ author: intent.author, changes: done, unclear })
    }
  }
  return settled
}

/** The bytes of a checked file, at most 16 MiB; `file.too_large` above (F-522). */
export async function readWhole(path: FilePath): Promise<{ stats: Stats; content: Uint8Array }> {
  const handle = await openChecked(path)
  try {
    const stats = await handle.stat()
    if (stats.size > hashedBytesMax)
      throw new LatheError(
        'file.too_large',
        `${path.shown} has ${stats.size.toLocaleString('en')} bytes; files over 16 MiB are not changed.`,
      )
    return { stats, content: await handle.readFile() }
  } finally {
    await handle.close()
  }
}

/** What stands at a path; of a link where it leads, as bytes. Throws as `readWhole` does. */
export async function readEntry(path: FilePath): Promise<{ stats: Stats; content: Uint8Array } | null> {
  if (path.kind === 'missing') return null
  if (path.kind !== 'link') return readWhole(path)
  return { stats: await lstat(path.real), content: await readlink(path.real, { encoding: 'buffer' }) }
}

/** The judged facts are the same too: what was approved as harmless has not become a secret. */
function samePlace(now: FilePath, checked: FilePath): boolean {
  return (
    now.real === checked.real &&
    now.inside === checked.inside &&
    now.writable === checked.writable &&
    now.secret === checked.secret &&
    now.protected === checked.protected
  )
}

async function intentFile(
  path: FilePath,
  base: string | null,
  was: Ready['before'],
  { content: after, mode }: { content: Uint8Array | null; mode: number | undefined },
  author: Author,
): Promise<IntentFile> {
  const before = was?.content ?? null
  const modes = {
    before: was && modeOf(was.stats),
    after: after === null ? null : (mode ?? (was && modeOf(was.stats))),
  }
  const isLink = modes.before === linkMode || modes.after === linkMode
  const change: FileChange = {
    id: newId(),
    path: path.shown,
    kind: before === null ? 'created' : after === null ? 'deleted' : 'edited',
    before: base,
    after: after && (await hashOf(after)),
    ...(await quickCounts(before, after)),
    by: author.by,
    callId: author.callId,
    ...(modes.before !== modes.after || isLink ? { mode: modes } : {}),
  }
  return {
    change,
    key: path.key,
    real: path.real,
    temporary: join(dirname(path.real), `${temporaryPrefix}${randomUUID()}`),
  }
}

async function putBack({ path, before, file }: Ready): Promise<void> {
  if (before === null) return deleteFile(path.real)
  const old = await lstat(path.real).then(
    (stats) => ({ stats, content: before.content }),
    () => null,
  )
  await writeFileWhole({
    path: path.real,
    content: before.content,
    old,
    mode: modeOf(before.stats),
    temporary: file.temporary,
  })
}

async function contentHash(real: string): Promise<string | null> {
  const stats = await lstat(real).catch(() => null)
  if (stats === null) return null
  if (stats.isSymbolicLink()) return hashOf(await readlink(real, { encoding: 'buffer' }))
  return !stats.isFile() || stats.size > hashedBytesMax ? 'unknown' : hashOf(await readFile(real))
}

/** Permission bits, or `linkMode`. */
export function modeOf(stats: Stats): number {
  return stats.isSymbolicLink() ? linkMode : stats.mode & 0o7777
}
