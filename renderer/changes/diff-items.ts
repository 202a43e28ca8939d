/** Loaded diffs as items of the diff view, each made once for the same content. */
import { type CodeViewDiffItem, type FileDiffMetadata, processFile } from '@pierre/diffs'
import type { ChangeDiff } from '../../preload/contract/routes.ts'
import type { ChangedFile } from '../../preload/contract/session.ts'
import { changeBlocks } from './change-blocks.ts'
import type { LoadedDiff } from './change-diffs.ts'
import { hunkText, withoutWhitespace } from './patch-text.ts'

const types: Record<ChangedFile['kind'], FileDiffMetadata['type']> = {
  created: 'new',
  edited: 'change',
  deleted: 'deleted',
  renamed: 'rename-changed',
}

function emptyDiff(path: string, kind: ChangedFile['kind']): FileDiffMetadata {
  return {
    name: path,
    type: types[kind],
    hunks: [],
    splitLineCount: 0,
    unifiedLineCount: 0,
    isPartial: true,
    deletionLines: [],
    additionLines: [],
    deletionCharacterCount: 0,
    additionCharacterCount: 0,
  }
}

/** Parsed from the hunks alone, under the path we know. */
export function parseDiff(
  path: string,
  kind: ChangedFile['kind'],
  patch: string,
  hideWhitespace: boolean,
): FileDiffMetadata {
  const hunks = hideWhitespace ? withoutWhitespace(patch) : hunkText(patch)
  if (hunks === '') return emptyDiff(path, kind)
  // One name on both sides: another one before would be shown as a rename, and its language not known.
  const parsed = processFile(`--- file\n+++ file\n${hunks}`, { isGitDiff: false })
  return parsed ? { ...parsed, name: path, type: types[kind] } : emptyDiff(path, kind)
}

let versions = 0
const parsed = new WeakMap<object, Map<string, FileDiffMetadata>>()

/** What there is to show of a change; without lines (loading, binary, counts only) it is a header alone. */
export function diffOf(
  change: ChangedFile,
  loaded: LoadedDiff | undefined,
  hideWhitespace: boolean,
  compared = false,
): FileDiffMetadata | null {
  if (loaded?.state !== 'ready' || loaded.diff.patch === null) return null
  let variants = parsed.get(loaded.diff)
  if (!variants) parsed.set(loaded.diff, (variants = new Map()))
  const key = hideWhitespace ? 'bare' : 'all'
  let diff = variants.get(key)
  if (!diff)
    variants.set(
      key,
      (diff = {
        ...parseDiff(change.path, change.kind, loaded.diff.patch, hideWhitespace),
        cacheKey: `${change.id} ${change.after} ${key}${compared ? ` now ${++versions}` : ''}`,
      }),
    )
  return diff.hunks.length > 0 ? diff : null
}

/** A hunk that can be kept or undone, as its annotation carries it. */
export type HunkMark = { changeId: string; hunkId: string; line: number }
export type DiffItem = CodeViewDiffItem<HunkMark>

/** One below each hunk, after its last changed line. */
function hunkMarks(
  change: ChangedFile,
  diff: FileDiffMetadata,
  hunks: ChangeDiff['hunks'],
): NonNullable<DiffItem['annotations']> {
  const byStart = new Map(hunks.map((hunk) => [`${hunk.before} ${hunk.after}`, hunk.id]))
  return diff.hunks.flatMap((hunk) => {
    const hunkId = byStart.get(`${hunk.deletionStart} ${hunk.additionStart}`)
    const last = changeBlocks({ hunks: [hunk] }).at(-1)
    if (hunkId === undefined || !last) return []
    const metadata = { changeId: change.id, hunkId, line: last.from }
    return [{ side: last.side, lineNumber: last.to, metadata }]
  })
}

const made = new Map<string, { signature: string; item: DiffItem }>()
const madeMax = 4_000

/** The item of a change; the same object until what it shows differs. */
export function diffItem(
  change: ChangedFile,
  diff: FileDiffMetadata | null,
  folded: boolean,
  hunks: ChangeDiff['hunks'],
): DiffItem {
  const signature = `${change.after} ${diff?.cacheKey ?? 'none'} ${folded} ${hunks.length}`
  const before = made.get(change.id)
  if (before?.signature === signature) return before.item
  const item: DiffItem = {
    id: change.id,
    type: 'diff',
    fileDiff: diff ?? emptyDiff(change.path, change.kind),
    annotations: diff ? hunkMarks(change, diff, hunks) : [],
    collapsed: folded || diff === null,
    version: ++versions,
  }
  made.set(change.id, { signature, item })
  if (made.size > madeMax) made.delete(made.keys().next().value!)
  return item
}
