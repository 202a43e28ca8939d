/** Hunks of a change with an identity (F-907), and putting them back through the gate (F-908). */
import { createHash } from 'node:crypto'
import { LatheError } from '../../preload/contract/errors.ts'
import type { Blobs } from '../storage/blobs.ts'
import { removeEmptyParents } from './atomic-write.ts'
import type { FileChange } from './change.ts'
import type { Differ } from './diff.ts'
import { readEntry, type CommitGate } from './gate.ts'
import type { Author } from './intents.ts'
import type { Hunk } from './line-diff.ts'
import type { Paths, Place } from './paths.ts'
import { isOfLink, leadsAway } from './undo.ts'
import { decodeText, encodeText, keepsEveryByte, type DecodedText } from './text.ts'
import { hashOf } from './version.ts'

export type ReviewState = 'open' | 'accepted' | 'rejected'

/** A hunk and what identifies it: path, before lines, after lines, and which of equal ones it is (F-907). */
export type ReviewedHunk = { id: string; hunk: Hunk; state: ReviewState }

/** New text in a hunk has a new identity, and so is open again. */
export function reviewHunks(
  path: string,
  hunks: readonly Hunk[],
  states: ReadonlyMap<string, ReviewState>,
): ReviewedHunk[] {
  const seen = new Map<string, number>()
  return hunks.map((hunk) => {
    const text = JSON.stringify([path, changedLines(hunk, '-'), changedLines(hunk, '+')])
    const ordinal = seen.get(text) ?? 0
    seen.set(text, ordinal + 1)
    const id = createHash('sha256').update(`${text}${ordinal}`).digest('hex').slice(0, 32)
    return { id, hunk, state: states.get(id) ?? 'open' }
  })
}

/** What the agent is told of a change that the person put back (F-909). */
export function rejectionNote(path: string, hunk: Hunk | null): string {
  return `The person rejected your change of ${path}${hunk ? `, lines ${rangeOf(hunk)}` : ''}: the old text is back.`
}

export type RejectDeps = { paths: Paths; gate: CommitGate; blobs: Blobs; differ: Differ }

/**
 * Puts the before text of one hunk back, or with `hunkId` null the whole change. Throws `changes.hunk_conflict` where
 * the after text is not in the file exactly once, or the file of a whole change is no longer as the change left it;
 * nothing is written then (F-908).
 */
export async function rejectChange(
  deps: RejectDeps,
  place: Place,
  change: FileChange,
  hunkId: string | null,
  author: Omit<Author, 'by'>,
  signal: AbortSignal,
): Promise<{ changes: FileChange[]; note: string }> {
  const isLink = isOfLink(change)
  const path = await deps.paths.resolve(place, change.path, { isEntry: isLink })
  if (leadsAway(change.path, path)) throw conflict(change.path, 'It leads out of the workspace now.', {})
  const now = (await readEntry(path))?.content ?? null
  const base = now && (await hashOf(now))
  const isWhole = hunkId === null || isLink || change.before === null || change.after === null
  const { content, hunk } = isWhole
    ? { content: await wholeBefore(deps, change, base), hunk: null }
    : await withoutHunk(deps, change, hunkId, now, signal)
  const mode = change.mode?.before ?? undefined
  const changes = await deps.gate.commit(place, [{ path, base, content, mode }], { ...author, by: 'person' }, signal)
  if (content === null) await removeEmptyParents(path.real, change.folders ?? 0)
  return { changes, note: rejectionNote(change.path, hunk) }
}

/** A created file goes, a deleted one comes back, an edited one is as before: only from exactly the state after. */
async function wholeBefore(
  { blobs }: RejectDeps,
  { path, before, after }: FileChange,
  base: string | null,
): Promise<Uint8Array | null> {
  if (base !== after) throw conflict(path, 'The file is no longer as this change left it.', {})
  return before === null ? null : blobs.get(before)
}

async function withoutHunk(
  { blobs, differ }: RejectDeps,
  { path, before, after }: FileChange,
  hunkId: string,
  now: Uint8Array | null,
  signal: AbortSignal,
): Promise<{ content: Uint8Array; hunk: Hunk }> {
  const [old, made] = await Promise.all([blobs.get(before!), blobs.get(after!)])
  const { hunks } = await differ.diff(old, made, { raw: true, signal })
  const found = reviewHunks(path, hunks ?? [], new Map()).find(({ id }) => id === hunkId)
  const current = now && (await decodeText(now))
  if (!found || !current || !(await keepsEveryByte(now, current)))
    throw conflict(path, 'This change is no longer there to be put back.', {})
  const content = await encodeText({ ...current, text: putBack(path, current, found.hunk) })
  return { content, hunk: found.hunk }
}

/** With its context first; where only the lines around it changed, by its own lines alone. */
function putBack(path: string, { text }: DecodedText, hunk: Hunk): string {
  for (const lines of [hunk.lines, withoutContext(hunk)]) {
    const [was, is] = [sideOf(lines, '-'), sideOf(lines, '+')]
    const at = is === '' ? -1 : onlyPlace(text, is)
    if (at !== -1) return text.slice(0, at) + was + text.slice(at + is.length)
  }
  throw conflict(path, 'The lines of this change are no longer in the file, or more than once.', {
    before: sideOf(hunk.lines, '-'),
    after: sideOf(hunk.lines, '+'),
  })
}

/** Where the lines stand as whole lines, exactly once; else -1. */
function onlyPlace(text: string, lines: string): number {
  const places: number[] = []
  for (let at = text.indexOf(lines); at !== -1 && places.length < 2; at = text.indexOf(lines, at + 1)) {
    const begins = at === 0 || text[at - 1] === '\n'
    const ends = lines.endsWith('\n') || at + lines.length === text.length
    if (begins && ends) places.push(at)
  }
  return places.length === 1 ? places[0]! : -1
}

function withoutContext({ lines }: Hunk): Hunk['lines'] {
  const first = lines.findIndex(({ mark }) => mark !== ' ')
  const last = lines.findLastIndex(({ mark }) => mark !== ' ')
  return lines.slice(first, last + 1)
}

function sideOf(lines: Hunk['lines'], side: '-' | '+'): string {
  return lines
    .filter(({ mark }) => mark === ' ' || mark === side)
    .map(({ text }) => text)
    .join('')
}

function changedLines({ lines }: Hunk, side: '-' | '+'): string[] {
  return lines.filter(({ mark }) => mark === side).map(({ text }) => text)
}

function rangeOf({ beforeStart, lines }: Hunk): string {
  const count = lines.filter(({ mark }) => mark !== '+').length
  return count <= 1 ? `${beforeStart}` : `${beforeStart}-${beforeStart + count - 1}`
}

function conflict(path: string, reason: string, texts: { before?: string; after?: string }): LatheError {
  return new LatheError('changes.hunk_conflict', `${path}: ${reason} The file was not touched.`, { data: texts })
}
