/**
 * The last known state of a workspace's files, with their contents, and what differs from it (F-1001 to F-1006). Runs in a
 * thread of its own: all of it is synchronous. Nothing in the workspace is ever written, and git is not asked.
 */
import { hash } from 'node:crypto'
import {
  closeSync,
  constants,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'

/** A file's content, and the permission bits that go with it. */
export type Held = { hash: string; mode: number }
export type Difference = { path: string; before: Held | null; after: Held | null }

export type ScanResult = {
  differences: Difference[]
  /** Time ended before every file was looked at. */
  partial: boolean
  /** Files over 10 MiB, which are not covered (F-1006). */
  large: number
}

/** `stamp` tells a file that was not written since: size, both times in nanoseconds, number, mode. */
type Known = Held & {
  stamp: string
  /** It was written in the very moment it was looked at: read again. */ racy: boolean
}

const coveredBytesMax = 10 * 1024 * 1024
/** File systems count time in ticks of a few milliseconds: what was written within one is not told apart by time. */
const tickMs = 50
const packBytesMax = 5 * 1024 * 1024 * 1024
/** A pack with so much that nobody refers to any more is begun anew. */
const deadBytesMax = 256 * 1024 * 1024
const stateName = 'state.json'

export class WorkspaceScan {
  readonly #root: string
  readonly #folder: string
  readonly #known = new Map<string, Known>()
  /** Where each content stands in the pack. */
  readonly #places = new Map<string, { offset: number; length: number }>()
  #pack: number
  #packBytes = 0
  #scannedAt = 0

  /** `folder` is the store's own, inside the data folder. What it holds of an earlier run is used again. */
  constructor(root: string, folder: string) {
    this.#root = root
    this.#folder = folder
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    this.#pack = openSync(join(folder, 'pack'), constants.O_RDWR | constants.O_CREAT, 0o600)
    this.#load()
  }

  /** Looks at every path of `paths` (all covered files of the workspace, `/`-separated); ends after `ms`. */
  update(paths: readonly string[], ms: number): ScanResult {
    const startedAt = Date.now()
    const deadline = performance.now() + ms
    const isFirst = this.#scannedAt === 0
    const result: ScanResult = { differences: [], partial: false, large: 0 }
    if (this.#packBytes > packBytesMax) this.#beginAnew()
    const seen = new Set<string>()
    for (const path of paths) {
      seen.add(path)
      if (performance.now() > deadline) {
        result.partial = true
        continue
      }
      this.#look(path, startedAt, isFirst, result)
    }
    for (const [path, known] of this.#known) {
      if (seen.has(path)) continue
      this.#known.delete(path)
      // What is still there is ignored from now on, or has grown too large: not covered, not deleted.
      if (!statOf(join(this.#root, path))) result.differences.push({ path, before: heldOf(known), after: null })
    }
    this.#scannedAt = startedAt
    if (isFirst || result.differences.length > 0) this.save()
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

  /** Keeps the state for the next run; the pack is there already. */
  save(): void {
    const state = { scannedAt: this.#scannedAt, known: [...this.#known], places: [...this.#places] }
    const temporary = join(this.#folder, `${stateName}.new`)
    writeFileSync(temporary, JSON.stringify(state), { mode: 0o600 })
    renameSync(temporary, join(this.#folder, stateName))
  }

  close(): void {
    closeSync(this.#pack)
  }

  #look(path: string, startedAt: number, isFirst: boolean, result: ScanResult): void {
    const known = this.#known.get(path)
    const stats = statOf(join(this.#root, path))
    if (!stats?.isFile()) return
    if (stats.size > coveredBytesMax) {
      this.#known.delete(path)
      result.large++
      return
    }
    const stamp = `${stats.size} ${stats.mtimeNs} ${stats.ctimeNs} ${stats.ino}`
    const mode = Number(stats.mode) & 0o777
    if (known && known.stamp === stamp && known.mode === mode && !known.racy) return
    const held = this.#read(path, mode)
    if (!held) return
    const changedAt = Number(stats.ctimeNs / 1_000_000n)
    this.#known.set(path, { ...held, stamp, racy: changedAt > startedAt - tickMs })
    if (known && (known.hash !== held.hash || known.mode !== held.mode)) {
      result.differences.push({ path, before: heldOf(known), after: held })
    }
    // One that was there before is new to us only: it was ignored until now, or the last scan did not get to it.
    else if (!known && !isFirst && changedAt >= this.#scannedAt - tickMs) {
      result.differences.push({ path, before: null, after: held })
    }
  }

  #read(path: string, mode: number): Held | null {
    try {
      const file = openSync(join(this.#root, path), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
      try {
        const bytes = readFileSync(file)
        const held = { hash: hash('sha256', bytes, 'hex'), mode }
        this.#keep(held.hash, bytes)
        return held
      } finally {
        closeSync(file)
      }
    } catch {
      return null
    }
  }

  #keep(contentHash: string, bytes: Uint8Array): void {
    if (this.#places.has(contentHash)) return
    writeSync(this.#pack, bytes, 0, bytes.length, this.#packBytes)
    this.#places.set(contentHash, { offset: this.#packBytes, length: bytes.length })
    this.#packBytes += bytes.length
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
      for (const [path, known] of state.known) this.#known.set(path, known)
      for (const [contentHash, place] of state.places) this.#places.set(contentHash, place)
      this.#scannedAt = state.scannedAt
      const end = [...this.#places.values()].reduce((most, { offset, length }) => Math.max(most, offset + length), 0)
      const packed = statSync(join(this.#folder, 'pack')).size
      const live = new Set([...this.#known.values()].map((known) => known.hash))
      const liveBytes = [...live].reduce((sum, one) => sum + (this.#places.get(one)?.length ?? 0), 0)
      if (packed < end || end - liveBytes > deadBytesMax) this.#beginAnew()
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

function statOf(path: string) {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false })
}
