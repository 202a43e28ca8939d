/** What can be done to the entry of the transcript under the pointer, or with the focus (S-68). */
import { Copy, FileDiff, GitFork, Layers, Pencil, Play, Redo2, RotateCw, Trash2, Undo2 } from 'lucide-react'
import { attempt } from '../app/attempt.ts'
import { forkSession } from '../sessions/session-actions.ts'
import { useSessionController, useView } from '../state/session-store.ts'
import { showDialog, showInspector } from '../state/window-store.ts'
import { MenuItem } from '../ui/menu.tsx'
import { deleteFromHere, editMessage } from './item-actions.ts'
import { definitionOf } from './row-registry.tsx'
import { canGoOn } from './outcome.ts'
import type { Row, RowOf } from './rows.ts'
import { useSessionId } from './transcript-context.ts'

export function RowMenu({ row, onToggle }: { row: Row | null; onToggle: (row: Row) => void }) {
  const sessionId = useSessionId()
  if (!row)
    return (
      <MenuItem disabled onSelect={() => {}}>
        Nothing to do here
      </MenuItem>
    )
  const selection = getSelection()?.toString() ?? ''
  const copy = (text: string) => void attempt('Could not copy', () => navigator.clipboard.writeText(text))
  const folds = row.kind === 'group' || row.kind === 'foldedTurn' || row.kind === 'tool' || row.kind === 'reasoning'
  return (
    <>
      {selection !== '' && (
        <MenuItem icon={Copy} onSelect={() => copy(selection)}>
          Copy selection
        </MenuItem>
      )}
      <MenuItem icon={Copy} onSelect={() => copy(definitionOf(row).toText(row))}>
        Copy
      </MenuItem>
      {row.kind === 'user' && !row.origin && row.item.source !== 'command' && (
        <MenuItem acts icon={Pencil} onSelect={() => void editMessage(sessionId, row.item)}>
          Edit message
        </MenuItem>
      )}
      {'item' in row && row.item.endedAt !== null && row.kind !== 'rewind' && (
        <MenuItem acts icon={GitFork} onSelect={() => void forkSession(sessionId, row.item.id)}>
          Fork from here
        </MenuItem>
      )}
      {row.kind === 'user' && row.item.source !== 'command' && (
        <MenuItem acts icon={Trash2} danger onSelect={() => void deleteFromHere(sessionId, row.item)}>
          Delete from here
        </MenuItem>
      )}
      {folds && (
        <MenuItem icon={Layers} onSelect={() => onToggle(row)}>
          Open or fold
        </MenuItem>
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
        <MenuItem icon={FileDiff} onSelect={() => showInspector('changes')}>
          Show changes
        </MenuItem>
      )}
      {changes.length > 0 && idle && (
        <MenuItem
          acts
          icon={redo ? Redo2 : Undo2}
          onSelect={() => showDialog({ kind: 'undo', sessionId, turnId: turn.id, redo })}
        >
          {redo ? 'Redo changes' : 'Undo changes'}
        </MenuItem>
      )}
      {newest && idle && (
        <MenuItem
          acts
          icon={RotateCw}
          onSelect={() => void attempt('Could not try again', () => controller.retry(turn.id))}
        >
          Try this turn again
        </MenuItem>
      )}
      {newest && idle && unfinished && (
        <MenuItem
          acts
          icon={Play}
          onSelect={() => void attempt('Could not continue', () => controller.continueTurn(turn.id))}
        >
          Continue
        </MenuItem>
      )}
    </>
  )
}
