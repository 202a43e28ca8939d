/** What `@` offers besides files: other sessions, terminals, and what turns of this session changed (S-111). */
import { useMemo } from 'react'
import type { Mention } from '../../preload/contract/items.ts'
import type { SessionView } from '../../preload/contract/session.ts'
import { fuzzyRank } from '../app/fuzzy.ts'
import { useView } from '../state/session-store.ts'
import { useWorkbench } from '../state/workbench-store.ts'

export type Target = Omit<Mention, 'at'> & { detail: string }

const labelChars = 60
/** Of each kind. */
const shownMax = 8
const noTurns: SessionView['turns'] = []
const noChanges: SessionView['changes'] = []
const noItems: SessionView['items'] = []

export function useMentionable(sessionId: string, query: string | null): Target[] {
  const entries = useWorkbench((state) => state.entries)
  const entriesRev = useWorkbench((state) => state.entriesRev)
  const terminals = useWorkbench((state) => state.terminals)
  const turns = useView(sessionId, (view) => view.turns, noTurns)
  const changes = useView(sessionId, (view) => view.changes, noChanges)
  const items = useView(sessionId, (view) => (query === null ? noItems : view.items), noItems)
  return useMemo(() => {
    if (query === null) return []
    const changed = turns.toReversed().flatMap(({ id, userItemId }): Target[] => {
      const count = new Set(changes.filter((file) => file.turnId === id).map(({ path }) => path)).size
      if (count === 0) return []
      const said = items.find((item) => item.id === userItemId)
      const words = said?.kind === 'user' ? clip(said.text) : ''
      const detail = `${count} ${count === 1 ? 'file' : 'files'} changed`
      return [{ kind: 'changes', ref: id, label: words === '' ? 'changes' : `changes of ${words}`, detail }]
    })
    const shells = terminals.map(({ id, title }): Target => ({
      kind: 'terminal',
      ref: id,
      label: clip(title) || 'terminal',
      detail: 'Terminal',
    }))
    // The map is filled in place; its revision says when.
    const sessions = [...entries.values()]
      .filter(({ id }) => entriesRev >= 0 && id !== sessionId)
      .sort((one, other) => other.updatedAt - one.updatedAt)
      .map(({ id, title }): Target => ({
        kind: 'session',
        ref: id,
        label: clip(title) || 'session',
        detail: 'Session',
      }))
    return [changed, shells, sessions].flatMap((all) =>
      fuzzyRank(all, query, ({ label, detail }) => `${label} ${detail}`, shownMax).map(({ candidate }) => candidate),
    )
  }, [sessionId, query, entries, entriesRev, terminals, turns, changes, items])
}

/** As it can stand in a text: one line, and no quotes. */
function clip(text: string): string {
  const line = text.replaceAll(/["\s]+/g, ' ').trim()
  return line.length <= labelChars
    ? line
    : `${line
        .slice(0, labelChars)
        .replace(/[\ud800-\udbff]$/, '')
        .trimEnd()}…`
}
