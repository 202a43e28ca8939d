/** What can be done to the entry of the transcript under the pointer, or with the focus (S-68). */
import { Copy, FileDiff, GitFork, Layers, Pencil, Play, Redo2, RotateCw, Trash2, Undo2 } from 'lucide-react'
import { attempt } from '../app/attempt.ts'
import { forkSession } from '../sessions/session-actions.ts'
import { useSessionController, useView } from '../state/session-store.ts'
import { showDialog, showInspector } from '../state/window-store.ts'
import { ContextMenuItem } from '../ui/context-menu.tsx'
import { deleteFromHere, editMessage } from './item-actions.ts'
import { definitionOf } from './row-registry.tsx'
import { canGoOn } from './outcome.ts'
import type { Row, RowOf } from './rows.ts'
import { useSessionId } from './transcript-context.ts'

export function RowMenu({ row, onToggle }: { row: Row | null; onToggle: (row: Row) => void }) {
  const sessionId = useSessionId()
  if (!row)
    return (
      <ContextMenuItem disabled onSelect={() => {}}>
        Nothing to do here
      </ContextMenuItem>
    )
  const selection = getSelection()?.toString() ?? ''
  const copy = (text: string) => void attempt('Could not copy', () => navigator.clipboard.writeText(text))
  const folds = row.kind === 'group' || row.kind === 'foldedTurn' || row.kind === 'tool' || row.kind === 'reasoning'
  return (
    <>
      {selection !== '' && (
        <ContextMenuItem icon={Copy} onSelect={() => copy(selection)}>
          Copy selection
        </ContextMenuItem>
      )}
      <ContextMenuItem icon={Copy} onSelect={() => copy(definitionOf(row).toText(row))}>
        Copy
      </ContextMenuItem>
      {row.kind === 'user' && !row.origin && row.item.source !== 'command' && (
        <ContextMenuItem icon={Pencil} onSelect={() => void editMessage(sessionId, row.item)}>
          Edit message
        </ContextMenuItem>
      )}
      {'item' in row && row.item.endedAt !== null && row.kind !== 'rewind' && (
        <ContextMenuItem icon={GitFork} onSelect={() => void forkSession(sessionId, row.item.id)}>
          Fork from here
        </ContextMenuItem>
      )}
      {row.kind === 'user' && row.item.source !== 'command' && (
        <ContextMenuItem icon={Trash2} danger onSelect={() => void deleteFromHere(sessionId, row.item)}>
          Delete from here
        </ContextMenuItem>
      )}
      {folds && (
        <ContextMenuItem icon={Layers} onSelect={() => onToggle(row)}>
          Open or fold
        </ContextMenuItem>
      )}
      {row.kind === 'turnEnd' && <TurnItems row={row} />}
    </>
  )
}

function TurnItems({ row: { turn, changes, newest, unfinished } }: { row: RowOf<'turnEnd'> }) {
  const sessionId = useSessionId()
  const controller = useSessionController(sessionId)
  const idle = useView(sessionId, canGoOn, false)
  const redo = changes.length > 0 && changes.every(({ undone }) => undone)
  return (
    <>
      {changes.length > 0 && (
        <ContextMenuItem icon={FileDiff} onSelect={() => showInspector('changes')}>
          Show changes
        </ContextMenuItem>
      )}
      {changes.length > 0 && idle && (
        <ContextMenuItem
          icon={redo ? Redo2 : Undo2}
          onSelect={() => showDialog({ kind: 'undo', sessionId, turnId: turn.id, redo })}
        >
          {redo ? 'Redo changes' : 'Undo changes'}
        </ContextMenuItem>
      )}
      {newest && idle && (
        <ContextMenuItem
          icon={RotateCw}
          onSelect={() => void attempt('Could not try again', () => controller.retry(turn.id))}
        >
          Try this turn again
        </ContextMenuItem>
      )}
      {newest && idle && unfinished && (
        <ContextMenuItem
          icon={Play}
          onSelect={() => void attempt('Could not continue', () => controller.continueTurn(turn.id))}
        >
          Continue
        </ContextMenuItem>
      )}
    </>
  )
}
