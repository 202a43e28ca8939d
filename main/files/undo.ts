/** Setting files back as they were before some turns, and bringing them forward again (section 10 of the files rules). */
import { isAbsolute } from 'node:path'
import { removeEmptyParents } from './atomic-write.ts'
import type { Blobs } from '../storage/blobs.ts'
import { linkMode, type FileChange } from './change.ts'
import { modeOf, readEntry, type CommitGate, type WriteRequest } from './gate.ts'
import type { Author } from './intents.ts'
import type { FilePath, Paths, Place } from './paths.ts'
import { hashOf } from './version.ts'

/** One file's way: from what it should hold now to what it is to hold; null is no file. */
export type FileReturn = {
  path: string
  expected: string | null
  target: string | null
  mode: number | undefined
  /** Either is a link, and which: the entry itself is set back, nothing it leads to. */
  link: { expected: boolean; target: boolean } | null
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
  const link = linkOf(mode?.after, mode?.before)
  return { path, expected: after, target: before, mode: mode?.before ?? undefined, link, folders }
}

export function redoOf({ path, before, mode }: FileChange, from: string | null): FileReturn {
  const link = linkOf(mode?.before, mode?.after)
  return { path, expected: before, target: from, mode: mode?.after ?? undefined, link, folders: 0 }
}

/** Whether a change is about a link itself: its entry is what is looked at then. */
export function isOfLink({ mode }: FileChange): boolean {
  return linkOf(mode?.before, mode?.after) !== null
}

function linkOf(expected: number | null | undefined, target: number | null | undefined): FileReturn['link'] {
  if (expected !== linkMode && target !== linkMode) return null
  return { expected: expected === linkMode, target: target === linkMode }
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
  const file = await paths.resolve(place, one.path, { isEntry: one.link !== null }).catch(() => null)
  // A folder that has become a link leads elsewhere: what is there was never changed by the turn (K-11).
  if (!file || leadsAway(one.path, file) || file.kind === 'folder' || file.kind === 'other') return unreadable
  const content = await readEntry(file).catch(() => undefined)
  if (content === undefined) return unreadable
  const now = content && (await hashOf(content.content))
  const isMode = one.mode === undefined || !content || modeOf(content.stats) === one.mode
  const isExpected = now === one.expected && (!content || !one.link || one.link.expected === (file.kind === 'link'))
  const planned = { ...one, now, file }
  if (now === one.target && isMode && (!one.link || !content || one.link.target === (file.kind === 'link')))
    return { ...planned, state: 'same' }
  if (one.target !== null && !(await blobs.get(one.target).catch(() => null))) return { ...planned, state: 'lost' }
  return { ...planned, state: isExpected ? 'ready' : 'conflict' }
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
