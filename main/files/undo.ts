/** Setting files back as they were before some turns, and bringing them forward again (section 10 of the files rules). */
import { isAbsolute } from 'node:path'
import { removeEmptyParents } from './atomic-write.ts'
import type { Blobs } from '../storage/blobs.ts'
import type { FileChange } from './change.ts'
import { readWhole, type CommitGate, type WriteRequest } from './gate.ts'
import type { Author } from './intents.ts'
import type { FilePath, Paths, Place } from './paths.ts'
import { hashOf } from './version.ts'

/** One file's way: from what it should hold now to what it is to hold; null is no file. */
export type FileReturn = {
  path: string
  expected: string | null
  target: string | null
  mode: number | undefined
  /** Folders above it that go with it where they are empty then. */
  folders: number
}

export type ReturnState =
  /** Holds what was expected. */
  | 'ready'
  /** Is there already. */
  | 'same'
  /** Holds anything else: left alone unless it was chosen (F-1008). */
  | 'conflict'
  /** The content to bring back is gone. */
  | 'lost'

export type PlannedReturn = FileReturn & { state: ReturnState; now: string | null; file: FilePath | null }

export type ReturnDeps = { paths: Paths; gate: CommitGate; blobs: Blobs }

export function undoOf({ path, before, after, mode, folders = 0 }: FileChange): FileReturn {
  return { path, expected: after, target: before, mode: mode?.before ?? undefined, folders }
}

export function redoOf(change: FileChange, from: string | null): FileReturn {
  return { path: change.path, expected: change.before, target: from, mode: change.mode?.after ?? undefined, folders: 0 }
}

/** Looks at each file as it is now; touches nothing. */
export async function planReturns(
  deps: ReturnDeps,
  place: Place,
  returns: readonly FileReturn[],
  signal: AbortSignal,
): Promise<PlannedReturn[]> {
  const planned: PlannedReturn[] = []
  for (const one of returns) {
    signal.throwIfAborted()
    planned.push(await planReturn(deps, place, one))
  }
  return planned
}

async function planReturn({ paths, blobs }: ReturnDeps, place: Place, one: FileReturn): Promise<PlannedReturn> {
  const unreadable = { ...one, state: 'conflict' as const, now: null, file: null }
  const file = await paths.resolve(place, one.path).catch(() => null)
  // A folder that has become a link leads elsewhere: what is there was never changed by the turn (K-11).
  if (!file || leadsAway(one.path, file) || (file.kind !== 'file' && file.kind !== 'missing')) return unreadable
  const content = file.kind === 'missing' ? null : await readWhole(file).catch(() => undefined)
  if (content === undefined) return unreadable
  const now = content && (await hashOf(content.content))
  const isMode = one.mode === undefined || !content || (content.stats.mode & 0o7777) === one.mode
  const planned = { ...one, now, file }
  if (now === one.target && isMode) return { ...planned, state: 'same' }
  if (one.target !== null && !(await blobs.get(one.target).catch(() => null))) return { ...planned, state: 'lost' }
  return { ...planned, state: now === one.expected ? 'ready' : 'conflict' }
}

/** A path of the workspace that no longer is in it. */
export function leadsAway(path: string, file: FilePath): boolean {
  return !isAbsolute(path) && !file.inside
}

/**
 * Writes all that are ready, and the conflicts whose paths are in `forced`, or none of them (F-1010). Answers what was
 * written; throws what the gate throws.
 */
export async function applyReturns(
  { gate, blobs }: ReturnDeps,
  place: Place,
  planned: readonly PlannedReturn[],
  forced: ReadonlySet<string>,
  author: Omit<Author, 'by'>,
  signal: AbortSignal,
): Promise<{ written: PlannedReturn[]; changes: FileChange[] }> {
  const written = planned.filter(
    ({ state, path, file }) => file && (state === 'ready' || (state === 'conflict' && forced.has(path))),
  )
  if (written.length === 0) return { written, changes: [] }
  const requests: WriteRequest[] = []
  for (const { file, now, target, mode } of written) {
    const content = target === null ? null : await blobs.get(target)
    requests.push({ path: file!, base: now, content, mode })
  }
  const changes = await gate.commit(place, requests, { ...author, by: 'person' }, signal)
  for (const { target, folders, file } of written) if (target === null) await removeEmptyParents(file!.real, folders)
  return { written, changes }
}
