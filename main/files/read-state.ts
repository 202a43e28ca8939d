/**
 * What each session has seen of which file (F-206, F-207). A state says which version was seen and what of it is in the
 * transcript; whether the file still is that version is asked of the disk, never of a clock.
 */
import { LatheError } from '../../preload/contract/errors.ts'
import type { Blobs } from '../storage/blobs.ts'
import { shortDiff } from './line-diff.ts'
import { decodeText } from './text.ts'

/** Lines a result showed, and the call whose result it was. */
export type Shown = { offset: number; limit: number; callId: string }

export type FileState = { /** `FilePath.key`. */ key: string; version: string; shown: Shown[] }

export type Standing = 'unseen' | 'seen' | 'stale'

/** Keeps states over a restart. `save` only queues: what is lost with the host is read again. */
export interface FileStateStore {
  load(sessionId: string): Promise<FileState[]>
  save(sessionId: string, states: FileState[]): void
}

const statesMax = 5_000
const shownMax = 50
const seenBytesMax = 32 * 1024 * 1024
const seenFileBytesMax = 2 * 1024 * 1024

export class FileStates {
  readonly #store: FileStateStore | undefined
  readonly #sessions = new Map<string, Promise<Map<string, FileState>>>()
  /** Contents by version, for the diff of what changed since; the oldest go first. */
  readonly #contents = new Map<string, Uint8Array>()
  #contentBytes = 0

  constructor(store?: FileStateStore) {
    this.#store = store
  }

  async get(sessionId: string, key: string): Promise<FileState | undefined> {
    return (await this.#of(sessionId)).get(key)
  }

  async standing(sessionId: string, key: string, version: string): Promise<Standing> {
    const state = await this.get(sessionId, key)
    return state === undefined ? 'unseen' : state.version === version ? 'seen' : 'stale'
  }

  /** The session has seen this version. What was shown of another version no longer counts. */
  async note(
    sessionId: string,
    key: string,
    version: string,
    more: { shown?: Shown; content?: Uint8Array | null } = {},
  ): Promise<FileState> {
    const states = await this.#of(sessionId)
    const known = states.get(key)
    const shown = known?.version === version ? known.shown : []
    const state = { key, version, shown: more.shown ? [...shown, more.shown].slice(-shownMax) : shown }
    states.delete(key)
    states.set(key, state)
    if (states.size > statesMax) states.delete(states.keys().next().value!)
    if (more.content) this.#keep(version, more.content)
    this.#store?.save(sessionId, [state])
    return state
  }

  /** The bytes of a version, where they are still remembered or were written by Lathe itself. */
  async seenContent(version: string, blobs: Blobs): Promise<Uint8Array | null> {
    return this.#contents.get(version) ?? (await blobs.get(version).catch(() => null))
  }

  /** Drops what is in memory of a session. */
  forget(sessionId: string): void {
    this.#sessions.delete(sessionId)
  }

  #of(sessionId: string): Promise<Map<string, FileState>> {
    let states = this.#sessions.get(sessionId)
    if (!states) {
      states = (this.#store?.load(sessionId) ?? Promise.resolve([])).then(
        (list) => new Map(list.map((state) => [state.key, state])),
      )
      this.#sessions.set(sessionId, states)
      states.catch(() => this.#sessions.delete(sessionId))
    }
    return states
  }

  #keep(version: string, content: Uint8Array): void {
    if (content.length > seenFileBytesMax || this.#contents.has(version)) return
    this.#contents.set(version, content)
    this.#contentBytes += content.length
    for (const [oldest, bytes] of this.#contents) {
      if (this.#contentBytes <= seenBytesMax) break
      this.#contents.delete(oldest)
      this.#contentBytes -= bytes.length
    }
  }
}

/** `file.not_read`: a file with content is replaced or loosely edited only by who has read it (F-502, F-521). */
export function notRead(shown: string): LatheError {
  return new LatheError('file.not_read', `${shown} has not been read in this session; nothing was written.`, {
    hint: 'Read it first, then try again.',
  })
}

/** `file.stale` with what changed since it was read, at most 40 lines, as far as it is known (F-502, K-09). */
export async function stale(shown: string, seen: Uint8Array | null, now: Uint8Array | null): Promise<LatheError> {
  const [before, after] = await Promise.all([
    seen && decodeText(seen),
    now && now.length <= seenFileBytesMax ? decodeText(now) : null,
  ])
  const diff = before && after ? `\nWhat changed since:\n${shortDiff(before.text, after.text, 40)}` : ''
  return new LatheError('file.stale', `${shown} changed on disk after it was read; nothing was written.${diff}`, {
    hint: "Read it again: the change is probably the person's and must be kept.",
  })
}
