/** The person's own commands, lines that begin with `!` (T-25, X-330): a tool item of theirs, no turn, no approval. */
import type { Decision } from './decision.ts'
import type { Command } from './inputs.ts'
import { checkMutable } from './requests.ts'
import { emitOutput, noOutcome } from './tool-items.ts'

type Of<T extends Command['type']> = Extract<Command, { type: T }>

export function startCommand(decision: Decision, command: Of<'command.started'>): { itemId: string } {
  checkMutable(decision.state)
  decision.change({ stored: true })
  decision.put({
    kind: 'tool',
    id: command.itemId,
    turnId: null,
    stepId: null,
    source: 'person',
    callId: command.itemId,
    name: 'shell',
    title: command.title,
    args: { command: command.line, working_dir: command.folder },
    state: 'running',
    startedAt: decision.now,
    ...noOutcome,
    byPerson: true,
    contextual: false,
  })
  decision.effect({ do: 'entry' })
  return { itemId: command.itemId }
}

/** Its output goes along with the person's next message, never before. */
export function endCommand(decision: Decision, command: Of<'command.ended'>): { ok: true } {
  const item = decision.item(command.itemId, 'tool')
  if (!item || item.endedAt !== null) return { ok: true }
  decision.emit({
    type: 'item.put',
    after: null,
    item: {
      ...item,
      state: command.stopped ? 'cancelled' : 'ok',
      status: 'final',
      endedAt: decision.now,
      durationMs: Math.max(0, decision.now - (item.startedAt ?? decision.now)),
      summary: command.summary,
      view: command.view,
      output: '',
    },
  })
  const line = (item.args as { command: string }).command
  const state = command.stopped
    ? 'stopped by the person'
    : command.signal
      ? `ended by ${command.signal}`
      : `exit ${command.exitCode ?? '?'}`
  note(decision, { itemId: item.id, line, state, output: command.output })
  return { ok: true }
}

export function commandPrinted(decision: Decision, command: Of<'command.output'>): { ok: true } {
  const item = decision.item(command.itemId, 'tool')
  if (item && item.endedAt === null) emitOutput(decision, item, command.add)
  return { ok: true }
}

/** A command that runs while the person writes: their next message tells how far it is. */
export function noteCommand(decision: Decision, command: Of<'command.noted'>): { ok: true } {
  const item = decision.item(command.itemId, 'tool')
  if (!item || item.endedAt !== null) return { ok: true }
  const { command: line } = item.args as { command: string }
  note(decision, { itemId: item.id, line, state: command.state, output: command.output })
  return { ok: true }
}

type Note = Decision['state']['hidden']['commandNotes'][number]

function note(decision: Decision, note: Note): void {
  const others = decision.state.hidden.commandNotes.filter((one) => one.itemId !== note.itemId)
  decision.changeHidden({ commandNotes: [...others, note].slice(-20) })
}

/** What the person ran themselves, in the words their next message brings along; then it has been told. */
export function withCommandNotes(decision: Decision, text: string): string {
  const notes = decision.state.hidden.commandNotes
  if (notes.length === 0) return text
  decision.changeHidden({ commandNotes: [] })
  const blocks = notes.map(
    (note) =>
      `<command-by-person line=${JSON.stringify(note.line)} state=${JSON.stringify(note.state)}>\n${note.output}\n</command-by-person>`,
  )
  return [...blocks, text].join('\n\n')
}

/** After a restart nothing of the person's commands runs any more. */
export function endLostCommands(decision: Decision): void {
  for (const item of decision.state.view.items) {
    if (item.kind === 'tool' && item.turnId === null && item.endedAt === null) {
      decision.patch(item, { state: 'unknown', status: 'final', endedAt: decision.now })
    }
  }
}
