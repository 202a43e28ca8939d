/** What happens to a turn's changes besides its calls: found after a crash, put back, kept or undone by the person. */
import { LatheError } from '../../preload/contract/errors.ts'
import type { ChangedFile } from '../../preload/contract/session.ts'
import type { HandedSteer } from '../agent/reports.ts'
import type { Decision } from './decision.ts'
import type { Command } from './inputs.ts'
import { checkMutable } from './requests.ts'
import { recordChanges } from './tool-items.ts'

type Of<T extends Command['type']> = Extract<Command, { type: T }>

const fileNotesMax = 100

/** Records what is not in the journal yet; a change that its call reported before a crash is known (F-604). */
export function recordFound(decision: Decision, command: Of<'changes.record'>): { ok: true } {
  const news = command.changes.filter((change) => !isReported(decision, change))
  for (const { id, callId, path } of news) {
    const item = callId === undefined ? undefined : decision.item(callId, 'tool')
    if (!item) continue
    const summary = `${item.summary} It had changed ${path}.`.trim()
    decision.emit({
      type: 'item.put',
      ...decision.ofTurn(item),
      after: null,
      item: { ...item, summary, changeIds: [...item.changeIds, id] },
    })
  }
  recordChanges(
    decision,
    command.turnId,
    news.map(({ callId: _, ...change }) => change),
  )
  // Known ones too: whoever kept them may let go.
  decision.effect({ do: 'recorded', changeIds: command.changes.map(({ id }) => id) })
  if (command.told !== undefined) tellAgent(decision, command.told)
  if (command.notice !== undefined) decision.notice('warning', command.notice)
  return { ok: true }
}

function isReported(decision: Decision, { id, callId }: Of<'changes.record'>['changes'][number]): boolean {
  return callId !== undefined && (decision.item(callId, 'tool')?.changeIds.includes(id) ?? false)
}

/** Changes no file. A whole file is kept as it is now: with other content it is open again (F-907, F-908). */
export function reviewChange(decision: Decision, command: Of<'changes.review'>): { ok: true } {
  checkMutable(decision.state)
  const { hunkId, state } = command
  change(decision, [command.changeId], (file) => {
    if (hunkId === null) {
      const { reviewed: _, review: __, ...open } = file
      return state === 'accepted' ? { ...open, reviewed: file.after ?? '' } : open
    }
    const { [hunkId]: _, ...others } = file.review ?? {}
    return { ...file, review: state === 'open' ? others : { ...others, [hunkId]: state } }
  })
  return { ok: true }
}

export function markUndone(decision: Decision, command: Of<'changes.undone'>): { ok: true } {
  checkMutable(decision.state)
  const from = new Map(command.files.map((file) => [file.changeId, file.from]))
  change(decision, [...from.keys()], ({ undone: _, ...file }) =>
    command.undone ? { ...file, undone: { from: from.get(file.id) ?? null } } : file,
  )
  tellAgent(decision, command.told)
  decision.effect({ do: 'recorded', changeIds: command.written })
  return { ok: true }
}

function change(decision: Decision, ids: readonly string[], to: (file: ChangedFile) => ChangedFile): void {
  const { changes } = decision.state.view
  const about = new Set(changes.filter(({ id }) => ids.includes(id)).map(({ turnId }) => turnId))
  if (about.size === 0) throw new LatheError('request.invalid', 'This change is no longer shown in this session.')
  for (const turnId of about) {
    const files = changes
      .filter((file) => file.turnId === turnId)
      .map((file) => (ids.includes(file.id) ? to(file) : file))
    decision.emit({ type: 'changes.changed', about: turnId, files })
  }
}

function tellAgent(decision: Decision, note: string): void {
  decision.changeHidden({ fileNotes: [...decision.state.hidden.fileNotes, note].slice(-fileNotesMax) })
}

/** Told once, at the agent's next step, and kept in its context from there (F-909). */
export function takeFileNotes(decision: Decision): HandedSteer[] {
  const { fileNotes } = decision.state.hidden
  if (fileNotes.length === 0) return []
  decision.changeHidden({ fileNotes: [] })
  const text = `${fileNotes.join('\n')}\nRead these files again before you edit them.`
  const itemId = decision.newId()
  decision.put({
    kind: 'notice',
    id: itemId,
    level: 'info',
    text,
    status: 'final',
    endedAt: decision.now,
    contextual: true,
  })
  return [{ itemId, text, attachments: [] }]
}
