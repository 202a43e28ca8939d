/** Loaded diffs as items of the diff view, each made once for the same content. */
import { type CodeViewDiffItem, type FileDiffMetadata, processFile } from '@pierre/diffs'
import type { ChangeDiff, Comment } from '../../preload/contract/change-routes.ts'
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

/** What stands between the lines of a diff, as its annotation carries it. */
export type Mark =
  /** A hunk that can be kept or undone. */
  | { kind: 'hunk'; changeId: string; hunkId: string; line: number; place: CommentPlace }
  | { kind: 'pictures'; changeId: string }
  | { kind: 'comment'; changeId: string; comment: Comment }
  /** Where a comment is being written. */
  | { kind: 'writing'; changeId: string; place: CommentPlace }
export type DiffItem = CodeViewDiffItem<Mark>
type Marks = NonNullable<DiffItem['annotations']>

/** Lines of one side of a change that a comment is about. */
export type CommentPlace = Pick<Comment, 'changeId' | 'side' | 'from' | 'to'>

const sides = { before: 'deletions', after: 'additions' } as const

/** One below each hunk, after its last changed line. */
function hunkMarks(change: ChangedFile, diff: FileDiffMetadata, hunks: ChangeDiff['hunks']): Marks {
  const byStart = new Map(hunks.map((hunk) => [`${hunk.before} ${hunk.after}`, hunk.id]))
  return diff.hunks.flatMap((hunk) => {
    const hunkId = byStart.get(`${hunk.deletionStart} ${hunk.additionStart}`)
    const last = changeBlocks({ hunks: [hunk] }).at(-1)
    if (hunkId === undefined || !last) return []
    const { from, to } = last
    const place: CommentPlace = { changeId: change.id, side: last.side === 'additions' ? 'after' : 'before', from, to }
    const metadata: Mark = { kind: 'hunk', changeId: change.id, hunkId, line: from, place }
    return [{ side: last.side, lineNumber: last.to, metadata }]
  })
}

function commentMarks(changeId: string, comments: readonly Comment[], writing: CommentPlace | null): Marks {
  const written = comments.map((comment): Marks[number] => ({
    side: sides[comment.side],
    lineNumber: comment.to,
    metadata: { kind: 'comment', changeId, comment },
  }))
  if (!writing) return written
  return [
    ...written,
    { side: sides[writing.side], lineNumber: writing.to, metadata: { kind: 'writing', changeId, place: writing } },
  ]
}

const made = new Map<string, { signature: string; item: DiffItem }>()
const madeMax = 4_000

export type ShownChange = {
  change: ChangedFile
  diff: FileDiffMetadata | null
  folded: boolean
  hunks: ChangeDiff['hunks']
  /** It is a picture on every side: that is shown in place of lines. */
  pictures: boolean
  comments: readonly Comment[]
  writing: CommentPlace | null
}

/** The item of a change; the same object until what it shows differs. */
export function diffItem({ change, diff, folded, hunks, pictures, comments, writing }: ShownChange): DiffItem {
  const said = comments.map(({ id, text }) => `${id} ${text}`).join(' ')
  const signature = [
    change.after,
    diff?.cacheKey ?? 'none',
    folded,
    hunks.length,
    pictures,
    said,
    writing && `${writing.side} ${writing.from} ${writing.to}`,
  ].join(' ')
  const before = made.get(change.id)
  if (before?.signature === signature) return before.item
  const annotations: Marks = diff
    ? [...hunkMarks(change, diff, hunks), ...commentMarks(change.id, comments, writing)]
    : pictures
      ? // A deleted file has no other side.
        [
          {
            side: change.kind === 'deleted' ? 'deletions' : 'additions',
            lineNumber: 0,
            metadata: { kind: 'pictures', changeId: change.id },
          },
        ]
      : []
  const item: DiffItem = {
    id: change.id,
    type: 'diff',
    fileDiff: diff ?? emptyDiff(change.path, change.kind),
    annotations,
    collapsed: folded || (diff === null && !pictures),
    version: ++versions,
  }
  made.set(change.id, { signature, item })
  if (made.size > madeMax) made.delete(made.keys().next().value!)
  return item
}
