/**
 * The last known state of a workspace's files, with their contents, and what differs from it (F-1001 to F-1006). Runs in a
 * thread of its own: all of it is synchronous. Nothing in the workspace is ever written, and git is not asked.
 */
import { hash } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
  renameSync,
  writeFileSync,
  writeSync,
  type Stats,
} from 'node:fs'
import { join } from 'node:path'
import { coveredBytesMax, coveredFilesMax } from '../../preload/contract/limits.ts'
import { linkMode } from './change.ts'
import { FolderLinks } from './folder-links.ts'

/** A file's content, and the permission bits that go with it; of a link where it leads, and `linkMode`. */
export type Held = { hash: string; mode: number }
export type Difference = { path: string; before: Held | null; after: Held | null }

export type ScanOptions = {
  /** Time ends after so many milliseconds. */
  ms: number
  /** Nobody waits for differences: contents that nobody refers to may go. */
  mayForget: boolean
}

export type ScanResult = {
  differences: Difference[]
  /** Time ended before every file was looked at. */
  partial: boolean
  /** More files than are covered: nothing was looked at (F-1007). */
  tooMany: boolean
}

/** The file's facts tell that it was not written since; `racy`: it was, in the very moment it was looked at. */
type Known = Held & { size: number; mtimeMs: number; ctimeMs: number; ino: number; racy: boolean; round: number }

/** File systems count time in ticks of a few milliseconds: what was written within one is not told apart by time. */
const tickMs = 50
const packBytesMax = 5 * 1024 * 1024 * 1024
/** A pack with so much that nobody refers to any more is begun anew. */
const deadBytesMax = 256 * 1024 * 1024
const stateName = 'state.json'
const stateFormat = 2

export class WorkspaceScan {
  readonly #root: string
  readonly #folder: string
  readonly #links: FolderLinks
  readonly #known = new Map<string, Known>()
  /** Where each content stands in the pack. */
  readonly #places = new Map<string, { offset: number; length: number }>()
  #pack: number
  #packBytes = 0
  #scannedAt = 0
  #round = 0
  #isSaved = true

  /** `folder` is the store's own, inside the data folder. What it holds of an earlier run is used again. */
  constructor(root: string, folder: string) {
    this.#root = root
    this.#folder = folder
    this.#links = new FolderLinks(root)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    this.#pack = openSync(join(folder, 'pack'), constants.O_RDWR | constants.O_CREAT, 0o600)
    this.#load()
  }

  /** Looks at all of `paths` (the covered files of the workspace, `/`-separated) and at the links beside them. */
  update(paths: readonly string[], { ms, mayForget }: ScanOptions): ScanResult {
    const result: ScanResult = { differences: [], partial: false, tooMany: false }
    if (paths.length > coveredFilesMax) return { ...result, tooMany: true }
    const startedAt = Date.now()
    const deadline = performance.now() + ms
    if (mayForget && this.#packBytes > packBytesMax) this.#beginAnew()
    const isFirst = this.#scannedAt === 0
    const round = ++this.#round
    const look = (path: string): void => this.#look(path, startedAt, isFirst, result)
    for (const [at, path] of paths.entries()) {
      if (at % 64 === 0 && performance.now() > deadline) {
        result.partial = true
        break
      }
      look(path)
    }
    if (!result.partial) for (const path of this.#links.below(paths)) look(path)
    // Half a look would make the rest seem deleted.
    if (!result.partial) {
      for (const [path, known] of this.#known) {
        if (known.round === round) continue
        this.#known.delete(path)
        // What is still there is ignored from now on, or has grown too large: not covered, not deleted.
        if (statOf(join(this.#root, path)) === null)
          result.differences.push({ path, before: heldOf(known), after: null })
      }
      this.#scannedAt = startedAt
    }
    if (isFirst || result.differences.length > 0) this.#isSaved = false
    return result
  }

  /** Bytes of a content that a scan has met; null where it is gone. */
  content(contentHash: string): Uint8Array | null {
    const place = this.#places.get(contentHash)
    if (!place) return null
    const bytes = Buffer.alloc(place.length)
    readSync(this.#pack, bytes, 0, place.length, place.offset)
    return hash('sha256', bytes, 'hex') === contentHash ? bytes : null
  }

  /** Keeps the state for the next run, where it has changed; the pack is there already. */
  save(): void {
    if (this.#isSaved) return
    const state = {
      format: stateFormat,
      scannedAt: this.#scannedAt,
      known: [...this.#known],
      places: [...this.#places],
    }
    const temporary = join(this.#folder, `${stateName}.new`)
    writeFileSync(temporary, JSON.stringify(state), { mode: 0o600 })
    renameSync(temporary, join(this.#folder, stateName))
    this.#isSaved = true
  }

  close(): void {
    this.save()
    closeSync(this.#pack)
  }

  #look(path: string, startedAt: number, isFirst: boolean, result: ScanResult): void {
    const stats = statOf(join(this.#root, path))
    const known = this.#known.get(path)
    // What cannot be looked at now is left as it was known.
    if (stats === undefined && known) known.round = this.#round
    if (!stats) return
    const isLink = stats.isSymbolicLink()
    if (!isLink && !stats.isFile()) return
    if (stats.size > coveredBytesMax) {
      this.#known.delete(path)
      return
    }
    const mode = isLink ? linkMode : stats.mode & 0o777
    if (known && !known.racy && known.mode === mode && isSame(known, stats)) {
      known.round = this.#round
      return
    }
    const held = this.#read(path, mode)
    if (!held) {
      if (known) known.round = this.#round
      return
    }
    const { size, mtimeMs, ctimeMs, ino } = stats
    const racy = ctimeMs > startedAt - tickMs
    this.#known.set(path, { ...held, size, mtimeMs, ctimeMs, ino, racy, round: this.#round })
    if (known && (known.hash !== held.hash || known.mode !== held.mode)) {
      result.differences.push({ path, before: heldOf(known), after: held })
    }
    // One that was there before is new to us only: it was ignored until now, or the last scan did not get to it.
    else if (!known && !isFirst && ctimeMs >= this.#scannedAt - tickMs) {
      result.differences.push({ path, before: null, after: held })
    }
  }

  #read(path: string, mode: number): Held | null {
    const absolute = join(this.#root, path)
    try {
      if (mode === linkMode) return this.#keep(readlinkSync(absolute, { encoding: 'buffer' }), mode)
      const file = openSync(absolute, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
      try {
        return this.#keep(readFileSync(file), mode)
      } finally {
        closeSync(file)
      }
    } catch {
      return null
    }
  }

  #keep(bytes: Uint8Array, mode: number): Held {
    const contentHash = hash('sha256', bytes, 'hex')
    if (!this.#places.has(contentHash)) {
      writeSync(this.#pack, bytes, 0, bytes.length, this.#packBytes)
      this.#places.set(contentHash, { offset: this.#packBytes, length: bytes.length })
      this.#packBytes += bytes.length
    }
    return { hash: contentHash, mode }
  }

  #beginAnew(): void {
    this.#known.clear()
    this.#places.clear()
    this.#packBytes = 0
    this.#scannedAt = 0
    ftruncateSync(this.#pack, 0)
  }

  #load(): void {
    try {
      const state = JSON.parse(readFileSync(join(this.#folder, stateName), 'utf8'))
      if (state.format !== stateFormat) return this.#beginAnew()
      for (const [path, known] of state.known) this.#known.set(path, { ...known, round: 0 })
      for (const [contentHash, place] of state.places) this.#places.set(contentHash, place)
      this.#scannedAt = state.scannedAt
      const end = [...this.#places.values()].reduce((most, { offset, length }) => Math.max(most, offset + length), 0)
      const live = new Set([...this.#known.values()].map((known) => known.hash))
      const liveBytes = [...live].reduce((sum, one) => sum + (this.#places.get(one)?.length ?? 0), 0)
      if (fstatSync(this.#pack).size < end || end - liveBytes > deadBytesMax) this.#beginAnew()
      // What a crash left behind the last state is written over.
      else this.#packBytes = end
    } catch {
      this.#beginAnew()
    }
  }
}

function heldOf({ hash: contentHash, mode }: Held): Held {
  return { hash: contentHash, mode }
}

function isSame(known: Known, { size, mtimeMs, ctimeMs, ino }: Stats): boolean {
  return known.size === size && known.mtimeMs === mtimeMs && known.ctimeMs === ctimeMs && known.ino === ino
}

/** Null where there is nothing, undefined where it cannot be told. */
function statOf(path: string): Stats | null | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null
  } catch {
    return undefined
  }
}
