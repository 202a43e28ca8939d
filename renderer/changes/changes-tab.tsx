/** The inspector's "Changes": what a turn, or the whole session, did to the workspace, as diffs to read (F-901 to F-911). */
import { ArrowDown, ArrowUp, FileDiff, Redo2, SlidersHorizontal, Undo2 } from 'lucide-react'
import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useStore } from 'zustand'
import { newId } from '../../preload/contract/ids.ts'
import type { ChangedFile, Turn } from '../../preload/contract/session.ts'
import { useCommandKeys } from '../app/commands.ts'
import { provideTarget } from '../app/command-targets.ts'
import { linesText } from '../composer/comments.ts'
import { composerOf } from '../composer/composer-store.ts'
import { prefer, usePreference } from '../state/preferences.ts'
import { useSession, useView } from '../state/session-store.ts'
import { showDialog } from '../state/window-store.ts'
import { useWorkbench } from '../state/workbench-store.ts'
import { DropdownMenu, MenuCheckItem, MenuItem, MenuLabel, MenuRadio, MenuSeparator } from '../ui/menu.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { Select } from '../ui/select.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { toast } from '../ui/toast.tsx'
import { useIsWide } from '../ui/use-is-wide.ts'
import { blockText } from './change-blocks.ts'
import { diffIn, type LoadedDiff, loadDiff, useDiffs } from './change-diffs.ts'
import { Counts } from '../transcript/counts.tsx'
import { ChangeHeader } from './change-header.tsx'
import { type ChangeScope, filesInScope, latestChangedTurn, type ScopedFile, unfoldsItself } from './change-scope.ts'
import { type CommentPlace, diffItem, diffOf, type Mark } from './diff-items.ts'
import type { DiffView } from './diff-view.tsx'
import { FileOverview } from './file-overview.tsx'
import { HunkBar } from './hunk-bar.tsx'
import { CommentField, LineComment } from './line-comment.tsx'
import { OnceSeen } from './once-seen.tsx'
import { linesOfSide } from './patch-text.ts'
import { PictureCompare } from './picture-compare.tsx'
import { keepChange, undoChange } from './review-actions.ts'
import { UncoveredNote } from './uncovered-note.tsx'

const DiffViewPane = lazy(() => import('./diff-view.tsx'))
const noChanges: ChangedFile[] = []
const noTurns: Turn[] = []
/** From here on two columns of code have room. */
const splitFromPx = 760
/** Fewer files are overlooked without a list of them. */
const overviewFrom = 3
/** Files whose diffs are asked for without being unfolded by hand. */
const loadedUnaskedMax = 60
/** More of the lines is not quoted to the agent: it has the file. */
const quotedCharsMax = 4_000

export function ChangesTab({ sessionId }: { sessionId: string }) {
  const changes = useView(sessionId, (view) => view.changes, noChanges)
  const turns = useView(sessionId, (view) => view.turns, noTurns)
  const workspace = useView(sessionId, ({ header }) => header.workspace, '')
  const [scope, setScope] = useState<ChangeScope>('latest')
  const files = useMemo(() => filesInScope(changes, turns, scope), [changes, turns, scope])
  const there = useSession(sessionId, ({ view }) => view !== null)
  // Before the session is open nobody knows, and nothing is claimed.
  if (!there) return null
  if (changes.length === 0)
    return (
      <div className="flex h-full flex-col">
        <EmptyState
          icon={FileDiff}
          title="No changes yet"
          detail="Files the agent edits, creates or deletes show here as diffs, turn by turn."
          className="h-auto! grow"
        />
        <UncoveredNote sessionId={sessionId} />
      </div>
    )
  return (
    <div className="flex h-full flex-col">
      <Review
        key={scope}
        sessionId={sessionId}
        workspace={workspace}
        files={files}
        turns={turns}
        changes={changes}
        scope={scope}
        onScope={setScope}
      />
      <UncoveredNote sessionId={sessionId} />
    </div>
  )
}

type ReviewProps = {
  sessionId: string
  workspace: string
  files: ScopedFile[]
  turns: Turn[]
  changes: ChangedFile[]
  scope: ChangeScope
  onScope: (scope: ChangeScope) => void
}

function Review({ sessionId, workspace, files, turns, changes, scope, onScope }: ReviewProps) {
  const wrap = usePreference('changes.wrap')
  const hideWhitespace = usePreference('changes.hideWhitespace')
  const style = usePreference('changes.style')
  const room = useRef<HTMLDivElement>(null)
  const hasTwoColumns = useIsWide(room, splitFromPx)
  const view = useRef<DiffView>(null)
  const [said, setSaid] = useState('')
  /** Files folded or unfolded by hand, by change id; the others follow their size (F-905). */
  const [folds, setFolds] = useState<ReadonlyMap<string, boolean>>(new Map())

  const shown = useMemo(() => files.flatMap((file) => file.changes), [files])
  const isFolded = useCallback((change: ChangedFile) => folds.get(change.id) ?? !unfoldsItself(change), [folds])
  // Without counts there are no lines, only a sentence about the file: that one is always worth asking for.
  const wanted = useMemo(
    () =>
      shown.filter(
        (change, index) =>
          (change.added === null || !isFolded(change)) && (index < loadedUnaskedMax || folds.has(change.id)),
      ),
    [shown, isFolded, folds],
  )
  const diffs = useDiffs(sessionId, wanted)
  /** Changes shown against the file as it is now (F-910). */
  const [compared, setCompared] = useState<ReadonlySet<string>>(new Set())
  const composer = composerOf(sessionId)
  const waiting = useStore(composer.store, (state) => state.comments)
  const comments = useMemo(() => Map.groupBy(waiting, ({ changeId }) => changeId), [waiting])
  /** Lines that a comment is being written on. */
  const [writing, setWriting] = useState<CommentPlace | null>(null)
  const items = useMemo(
    () =>
      shown.map((change) => {
        const isCompared = compared.has(change.id)
        const loaded = diffIn(diffs, sessionId, change, isCompared)
        const ready = loaded?.state === 'ready' ? loaded.diff : null
        const pictures = ready?.pictures != null && !isCompared
        return diffItem({
          change,
          diff: diffOf(change, loaded, hideWhitespace, isCompared),
          folded: folds.get(change.id) ?? (!pictures && !unfoldsItself(change)),
          hunks: ready && !change.undone ? ready.hunks : [],
          pictures,
          comments: comments.get(change.id) ?? [],
          writing: writing?.changeId === change.id ? writing : null,
        })
      }),
    [shown, diffs, sessionId, hideWhitespace, folds, compared, comments, writing],
  )
  const beginComment = useCallback((place: CommentPlace | null) => {
    if (place) setWriting(place)
    else setSaid('Go to a change or select lines first.')
  }, [])
  const endComment = useCallback(() => {
    setWriting(null)
    room.current?.focus()
  }, [])
  // A file that was written since is asked about again: whether it is still as the turn left it (F-910, F-1112).
  const written = useWorkbench(({ filesChanged }) => filesChanged.get(workspace))
  useEffect(() => {
    if (!written) return
    const paths = written.paths === 'rescan' ? null : new Set(written.paths)
    for (const change of wanted) {
      if (paths === null || paths.has(change.path)) loadDiff(sessionId, change, { again: true })
    }
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only what happens to the files asks again
  }, [written])
  const byId = useMemo(() => new Map(shown.map((change) => [change.id, change])), [shown])
  const turnNumber = useMemo(() => new Map(turns.map((turn, index) => [turn.id, index + 1])), [turns])
  const repeated = useMemo(
    () => new Set(files.filter((file) => file.changes.length > 1).map(({ path }) => path)),
    [files],
  )

  const step = useCallback((direction: 1 | -1) => {
    const at = view.current?.step(direction)
    if (at) setSaid(`Change ${at.index + 1} of ${at.count}, ${at.path}: ${blockText(at.block)}`)
  }, [])
  const decide = useCallback(
    async (keep: boolean) => {
      const at = view.current?.current()
      if (!at) return setSaid('Go to a change first.')
      if (keep) await keepChange(sessionId, at.changeId, at.hunkId, true)
      const error = keep ? null : await undoChange(sessionId, at.changeId, at.hunkId)
      if (error) return toast.failed('Not undone', { detail: [error.message, error.hint].filter(Boolean).join(' ') })
      setSaid(keep ? 'Kept.' : 'Undone.')
      if (keep) step(1)
    },
    [sessionId, step],
  )
  const stepFile = useCallback((direction: 1 | -1) => {
    const path = view.current?.stepFile(direction)
    if (path) setSaid(path)
  }, [])
  useEffect(
    () =>
      provideTarget('changes', {
        next: () => step(1),
        previous: () => step(-1),
        nextFile: () => stepFile(1),
        previousFile: () => stepFile(-1),
        keep: () => void decide(true),
        undo: () => void decide(false),
        comment: () => beginComment(view.current?.selected() ?? null),
        show: (comment) => {
          setFolds((before) => new Map(before).set(comment.changeId, false))
          requestAnimationFrame(() => view.current?.showLines(comment))
        },
      }),
    [step, stepFile, decide, beginComment],
  )

  const undoable = useMemo(() => {
    // Of what is shown, from its oldest turn on; once all of it is undone, the way forward.
    const turnId =
      scope === 'session' ? turns.find(({ id }) => shown.some((change) => change.turnId === id))?.id : shown[0]?.turnId
    return turnId === undefined ? null : { turnId, redo: shown.every(({ undone }) => undone) }
  }, [scope, turns, shown])
  const fold = (id: string, folded: boolean) => setFolds((before) => new Map(before).set(id, folded))
  return (
    <div ref={room} tabIndex={-1} className="flex min-h-0 grow flex-col outline-none">
      <Toolbar
        undoable={undoable}
        onUndo={(turnId, redo) => showDialog({ kind: 'undo', sessionId, turnId, redo, andLater: scope === 'session' })}
        files={files}
        turns={turns}
        changes={changes}
        scope={scope}
        onScope={onScope}
        onStep={step}
        onFoldAll={(folded) => setFolds(new Map(shown.map(({ id }) => [id, folded])))}
      />
      <p role="status" className="sr-only">
        {said}
      </p>
      {files.length > overviewFrom && (
        <FileOverview
          files={files}
          onOpen={(file) => {
            const id = file.changes[0]?.id
            if (id === undefined) return
            fold(id, false)
            requestAnimationFrame(() => view.current?.showFile(id))
          }}
        />
      )}
      {files.length === 0 ? (
        <EmptyState
          icon={FileDiff}
          title="Nothing is left of these changes"
          detail="Each file is again as it was before."
        />
      ) : (
        <Suspense fallback={<Skeleton label="Loading the diff view" lines={[0.9, 0.6, 0.75, 0.4]} />}>
          <DiffViewPane
            ref={view}
            items={items}
            style={style === 'auto' ? (hasTwoColumns ? 'split' : 'unified') : style}
            wrap={wrap}
            onComment={beginComment}
            renderMark={(mark) => {
              const change = byId.get(mark.changeId)
              return (
                change && (
                  <MarkView
                    mark={mark}
                    sessionId={sessionId}
                    change={change}
                    loaded={diffIn(diffs, sessionId, change, compared.has(change.id))}
                    onComment={beginComment}
                    onCommented={endComment}
                  />
                )
              )
            }}
            renderHeader={(id) => {
              const change = byId.get(id)
              const item = items.find((one) => one.id === id)
              if (!change || !item) return null
              return (
                <ChangeHeader
                  sessionId={sessionId}
                  workspace={workspace}
                  change={change}
                  loaded={diffIn(diffs, sessionId, change, compared.has(id))}
                  compared={compared.has(id)}
                  onCompare={(on) => {
                    if (on) loadDiff(sessionId, change, { again: true, compared: true })
                    fold(id, false)
                    setCompared((before) => new Set(on ? [...before, id] : [...before].filter((one) => one !== id)))
                  }}
                  turnLabel={repeated.has(change.path) ? `turn ${turnNumber.get(change.turnId) ?? '?'}` : undefined}
                  folded={item.collapsed === true}
                  hasLines={item.fileDiff.hunks.length > 0 || (item.annotations?.length ?? 0) > 0}
                  onFold={(folded) => fold(id, folded)}
                />
              )
            }}
          />
        </Suspense>
      )}
    </div>
  )
}

/** What stands between the lines: a hunk's bar, pictures, a comment, the field for one. */
function MarkView({
  mark,
  sessionId,
  change,
  loaded,
  onComment,
  onCommented,
}: {
  mark: Mark
  sessionId: string
  change: ChangedFile
  loaded: LoadedDiff | undefined
  onComment: (place: CommentPlace) => void
  onCommented: () => void
}) {
  const composer = composerOf(sessionId)
  switch (mark.kind) {
    case 'hunk':
      return (
        <OnceSeen className="h-30 border-y border-line bg-side">
          <HunkBar
            sessionId={sessionId}
            change={change}
            hunkId={mark.hunkId}
            line={mark.line}
            onComment={() => onComment(mark.place)}
          />
        </OnceSeen>
      )
    case 'pictures': {
      const pictures = loaded?.state === 'ready' ? loaded.diff.pictures : null
      return pictures && <PictureCompare sessionId={sessionId} change={change} pictures={pictures} />
    }
    case 'comment':
      return (
        <LineComment
          comment={mark.comment}
          onSave={(text) => composer.putComment({ ...mark.comment, text })}
          onRemove={() => composer.removeComment(mark.comment.id)}
        />
      )
    case 'writing': {
      const patch = loaded?.state === 'ready' ? (loaded.diff.patch ?? '') : ''
      const { place } = mark
      return (
        <CommentField
          lines={linesText(place)}
          onSave={(text) => {
            const quoted = linesOfSide(patch, place, quotedCharsMax)
            composer.putComment({ id: newId(), path: change.path, ...place, quoted, text })
            onCommented()
          }}
          onCancel={onCommented}
        />
      )
    }
  }
}

type ToolbarProps = Pick<ReviewProps, 'files' | 'turns' | 'changes' | 'scope' | 'onScope'> & {
  onStep: (direction: 1 | -1) => void
  onFoldAll: (folded: boolean) => void
  undoable: { turnId: string; redo: boolean } | null
  onUndo: (turnId: string, redo: boolean) => void
}

function Toolbar({ undoable, onUndo, files, turns, changes, scope, onScope, onStep, onFoldAll }: ToolbarProps) {
  const nextKeys = useCommandKeys('changes.next')
  const previousKeys = useCommandKeys('changes.previous')
  const style = usePreference('changes.style')
  const wrap = usePreference('changes.wrap')
  const hideWhitespace = usePreference('changes.hideWhitespace')
  const changed = new Set(changes.map(({ turnId }) => turnId))
  const latest = latestChangedTurn(changes, turns)
  const total = (side: 'added' | 'removed') =>
    files.reduce<number | null>((count, file) => (count === null || file[side] === null ? null : count + file[side]), 0)
  return (
    <div className="flex h-36 shrink-0 items-center gap-4 pr-6 pl-10">
      <Select
        label="Show changes of"
        value={scope}
        onChange={onScope}
        className="h-24 min-w-0! border-transparent! bg-transparent pl-4! text-12 hover:bg-hover"
        choices={[
          { value: 'latest', label: 'Latest turn' },
          { value: 'session', label: 'Whole session' },
          ...turns
            .flatMap((turn, index) =>
              changed.has(turn.id) && turn.id !== latest ? [{ value: turn.id, label: `Turn ${index + 1}` }] : [],
            )
            .toReversed(),
        ]}
      />
      <span className="figures text-11 text-faint">{files.length === 1 ? '1 file' : `${files.length} files`}</span>
      <Counts added={total('added')} removed={total('removed')} />
      <span className="grow" />
      {undoable && (
        <IconButton
          acts
          icon={undoable.redo ? Redo2 : Undo2}
          label={undoable.redo ? 'Redo these changes…' : 'Undo these changes…'}
          size="small"
          onClick={() => onUndo(undoable.turnId, undoable.redo)}
        />
      )}
      <IconButton icon={ArrowUp} label="Previous change" keys={previousKeys} size="small" onClick={() => onStep(-1)} />
      <IconButton icon={ArrowDown} label="Next change" keys={nextKeys} size="small" onClick={() => onStep(1)} />
      <DropdownMenu
        align="end"
        trigger={<IconButton icon={SlidersHorizontal} label="How changes are shown" size="small" />}
      >
        <MenuLabel>Layout</MenuLabel>
        <MenuRadio
          value={style}
          onChange={(next) => prefer({ 'changes.style': next })}
          choices={[
            { value: 'auto', label: 'By width' },
            { value: 'unified', label: 'Unified' },
            { value: 'split', label: 'Side by side' },
          ]}
        />
        <MenuSeparator />
        <MenuCheckItem checked={wrap} onChange={(next) => prefer({ 'changes.wrap': next })}>
          Wrap long lines
        </MenuCheckItem>
        <MenuCheckItem checked={hideWhitespace} onChange={(next) => prefer({ 'changes.hideWhitespace': next })}>
          Hide changes of white space
        </MenuCheckItem>
        <MenuSeparator />
        <MenuItem onSelect={() => onFoldAll(false)}>Unfold all</MenuItem>
        <MenuItem onSelect={() => onFoldAll(true)}>Fold all</MenuItem>
      </DropdownMenu>
    </div>
  )
}
