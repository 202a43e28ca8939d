import { ArrowRight, Check, ChevronRight, FileSymlink, SquareTerminal, Undo2 } from 'lucide-react'
import type { ChangedFile } from '../../preload/contract/session.ts'
import { Counts } from '../transcript/counts.tsx'
import { shownText } from '../transcript/shown-text.ts'
import { openFile } from '../state/window-store.ts'
import { Badge } from '../ui/badge.tsx'
import { classNames } from '../ui/class-names.ts'
import { IconButton } from '../ui/icon-button.tsx'
import { Spinner } from '../ui/spinner.tsx'
import { toast } from '../ui/toast.tsx'
import { changeKinds } from './change-kinds.ts'
import { loadDiff, type LoadedDiff } from './change-diffs.ts'
import { isReviewed, keepChange, undoChange } from './review-actions.ts'

/** A file's status as a letter; its word is the tooltip and what is read out. */
export function ChangeLetter({ kind }: { kind: ChangedFile['kind'] }) {
  const { letter, word, colour } = changeKinds[kind]
  return (
    <span className={classNames('w-12 shrink-0 text-center font-mono text-11 font-semibold', colour)} title={word}>
      <span aria-hidden>{letter}</span>
      <span className="sr-only">{word}</span>
    </span>
  )
}

/** The end of a path stays readable: folders give way first, and much faster. */
export function PathText({ path, className }: { path: string; className?: string }) {
  const cut = path.lastIndexOf('/') + 1
  return (
    <bdi className={classNames('flex min-w-0 text-12', className)} title={shownText(path)}>
      {cut > 0 && <span className="min-w-0 shrink-[1000] truncate text-faint">{shownText(path.slice(0, cut))}</span>}
      <span className="min-w-0 truncate text-ink">{shownText(path.slice(cut))}</span>
    </bdi>
  )
}

type ChangeHeaderProps = {
  sessionId: string
  workspace: string
  change: ChangedFile
  loaded: LoadedDiff | undefined
  /** Where the file has more than one change in the scope: "turn 3". */
  turnLabel?: string | undefined
  folded: boolean
  /** There are lines to unfold. */
  hasLines: boolean
  onFold: (folded: boolean) => void
  /** The diff is the one from the turn's end to now (F-910). */
  compared: boolean
  onCompare: (compared: boolean) => void
}

/** Counted anew where the lines are known: several edits of one file may have touched the same ones. */
function countsOf({ added, removed }: ChangedFile, loaded: LoadedDiff | undefined) {
  return loaded?.state === 'ready' ? { added: loaded.diff.added, removed: loaded.diff.removed } : { added, removed }
}

/** Keep or undo the whole file. */
function FileReview({ sessionId, change }: { sessionId: string; change: ChangedFile }) {
  const kept = isReviewed(change)
  const path = shownText(change.path)
  return (
    <>
      <IconButton
        acts
        icon={Check}
        label={kept ? `Open ${path} for review again` : `Keep all changes of ${path}`}
        pressed={kept}
        size="small"
        onClick={() => void keepChange(sessionId, change.id, null, !kept)}
      />
      <IconButton
        acts
        icon={Undo2}
        label={`Undo all changes of ${path}`}
        size="small"
        onClick={() =>
          void undoChange(sessionId, change.id, null).then((error) => {
            if (error) toast.failed('Not undone', { detail: [error.message, error.hint].filter(Boolean).join(' ') })
          })
        }
      />
    </>
  )
}

/** The Files tab shows what lies in the workspace; a path outside is a whole one (F-112). */
function isOutside(path: string): boolean {
  return /^(?:[/\\]|[A-Za-z]:)/.test(path)
}

function noteOf(loaded: LoadedDiff | undefined): string | null {
  if (loaded?.state !== 'ready') return null
  const { diff } = loaded
  if (diff.pictures) return null
  if (diff.note !== null) return diff.note
  if (diff.binary) return 'Binary file'
  return diff.patch === null ? 'Too large to show line by line' : null
}

export function ChangeHeader({
  sessionId,
  workspace,
  change,
  loaded,
  turnLabel,
  folded,
  hasLines,
  onFold,
  compared,
  onCompare,
}: ChangeHeaderProps) {
  const note = noteOf(loaded)
  const open = hasLines && !folded
  return (
    <div className="group flex h-32 items-center gap-6 border-y border-line bg-side pr-6 pl-4 font-sans">
      <button
        type="button"
        aria-expanded={open}
        onClick={() => onFold(!folded)}
        className="ring-inside flex h-full min-w-0 grow items-center gap-6 rounded-4 text-left"
      >
        <ChevronRight
          size={12}
          strokeWidth={2}
          aria-hidden
          className={classNames('shrink-0 text-faint transition-transform', open && 'rotate-90')}
        />
        <ChangeLetter kind={change.kind} />
        {change.from !== undefined && (
          <>
            <PathText path={change.from} className="shrink-[4] line-through decoration-faint" />
            <ArrowRight
              size={12}
              strokeWidth={1.75}
              role="img"
              aria-label="renamed to"
              className="shrink-0 text-faint"
            />
          </>
        )}
        <PathText path={change.path} className="shrink" />
        {turnLabel && <span className="shrink-0 text-11 text-faint">{turnLabel}</span>}
      </button>
      {loaded?.state === 'loading' && <Spinner size={12} className="text-muted" />}
      {loaded?.state === 'failed' && (
        <button
          type="button"
          onClick={() => loadDiff(sessionId, change, { again: true })}
          title={loaded.error.message}
          className="shrink-0 rounded-4 px-4 text-11 text-failed underline"
        >
          Not loaded. Try again
        </button>
      )}
      {note && (
        <span className="min-w-0 shrink-[3] truncate text-11 text-muted" title={shownText(note)}>
          {shownText(note)}
        </span>
      )}
      {change.undone ? (
        <Badge>Undone</Badge>
      ) : (
        (compared || (loaded?.state === 'ready' && loaded.diff.changedSince)) && (
          <button
            type="button"
            aria-pressed={compared}
            onClick={() => onCompare(!compared)}
            title={compared ? 'Show what the turn changed' : 'Compare with the file as it is now'}
            className="shrink-0 rounded-4"
          >
            <Badge tone="needs">{compared ? 'Compared with now' : 'Changed since'}</Badge>
          </button>
        )
      )}
      {change.uncertain && <Badge>Uncertain</Badge>}
      {change.by === 'command' && (
        <SquareTerminal
          size={12}
          strokeWidth={1.75}
          role="img"
          aria-label="Changed by a command"
          className="shrink-0 text-faint"
        />
      )}
      <Counts {...countsOf(change, loaded)} />
      {!change.undone && !compared && <FileReview sessionId={sessionId} change={change} />}
      {change.kind !== 'deleted' && !isOutside(change.path) && (
        <IconButton
          icon={FileSymlink}
          label={`Open ${shownText(change.path)}`}
          size="small"
          onClick={() => openFile(workspace, change.path)}
        />
      )}
    </div>
  )
}
