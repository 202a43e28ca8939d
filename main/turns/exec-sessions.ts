/**
 * Exec sessions as their session knows them (exec.md 4 and 6): which run, and how they ended. The processes themselves are
 * elsewhere.
 */
import type { ItemOf } from '../../preload/contract/items.ts'
import type { ExecEnd, ExecSession } from '../../preload/contract/session.ts'
import type { ExecRecord } from '../storage/storage.ts'
import type { Decision } from './decision.ts'
import type { Command } from './inputs.ts'
import { addNotice } from './pending-notices.ts'
import { emitQuestions } from './waiting.ts'

type Of<T extends Command['type']> = Extract<Command, { type: T }>

/** How a process ends by itself. What a person, the agent or Lathe ended starts nothing (X-608). */
const wakingEnds = new Set<ExecEnd['reason']>(['exited', 'timed_out'])
/** Ended ones that are remembered with the reference to their output (X-404). */
const endedKept = 64

export function execStarted(decision: Decision, command: Of<'exec.started'>): { id: string } {
  const record = recordOf(decision)
  const id = `x${record.count + 1}`
  const { itemId, subagent } = command.session
  const turnId = decision.item(itemId, subagent ? 'subagent' : 'tool')?.turnId ?? null
  const session: ExecSession = {
    ...command.session,
    id,
    state: 'running',
    ...(turnId === null ? {} : { turnId }),
  }
  change(decision, { count: record.count + 1, sessions: [...record.sessions, session] })
  return { id }
}

export function execChanged(decision: Decision, command: Of<'exec.changed'>): { ok: true } {
  const session = recordOf(decision).sessions.find((one) => one.id === command.id)
  if (session && session.state !== 'ended') put(decision, { ...session, ...command.set })
  return { ok: true }
}

/** A process asks for a secret: the person is asked, whether or not a turn runs (T-152). */
export function execAsks(decision: Decision, command: Of<'exec.asks'>): { ok: true } {
  const session = recordOf(decision).sessions.find((one) => one.id === command.id)
  if (!session || session.state === 'ended' || session.questionId !== undefined) return { ok: true }
  const id = decision.newId()
  decision.put({
    kind: 'question',
    id,
    turnId: null,
    stepId: null,
    toolItemId: session.itemId,
    execId: session.id,
    state: 'open',
    ask: 'secret',
    text: `${session.preview} (${session.id}) asks: ${command.prompt}`.slice(0, 500),
    choices: [],
    multiple: false,
    allowText: false,
    expiresAt: null,
    contextual: false,
  })
  put(decision, { ...session, questionId: id })
  decision.changeHeader({ notableSeq: decision.header.lastSeq })
  emitQuestions(decision)
  decision.effect({ do: 'entry' })
  decision.effect({ do: 'notify', kind: 'question', itemId: id })
  return { ok: true }
}

/** The process no longer asks: it went on, or somebody typed the secret in the terminal. */
export function execAnswered(decision: Decision, command: Of<'exec.answered'>): { ok: true } {
  closeQuestion(decision, command.id, 'cancelled')
  return { ok: true }
}

/** The person's answer goes to the process, in memory only; declining is Ctrl+C (X-428). */
export function answerExecQuestion(
  decision: Decision,
  item: ItemOf<'question'>,
  secret: string | null,
  declined: boolean,
): { ok: true } {
  const execId = item.execId!
  closeQuestion(decision, execId, declined ? 'declined' : 'answered', declined ? undefined : 'answered (hidden)')
  decision.effect({ do: 'execSecret', execId, secret: declined ? null : (secret ?? '') })
  return { ok: true }
}

export function execEnded(decision: Decision, command: Of<'exec.ended'>): { ok: true } {
  const record = recordOf(decision)
  const session = record.sessions.find((one) => one.id === command.id)
  if (!session || session.state === 'ended') return { ok: true }
  closeQuestion(decision, command.id, 'cancelled')
  const { held: _, questionId: __, ...kept } = session
  put(decision, { ...kept, state: 'ended', end: command.end })
  const ended = recordOf(decision).sessions.filter((one) => one.state === 'ended')
  const old = new Set(ended.slice(0, Math.max(0, ended.length - endedKept)))
  if (old.size > 0) change(decision, { sessions: recordOf(decision).sessions.filter((one) => !old.has(one)) })
  if (command.notice) {
    const wakes = session.wakes === true && wakingEnds.has(command.end.reason)
    addNotice(decision, { about: 'exec', id: command.id, ...command.notice }, wakes)
  }
  return { ok: true }
}

/** The person is told of what lives on although it was ended: only they can still do something about it (X-208). */
export function execUnreaped(decision: Decision, { preview, pids }: Of<'exec.unreaped'>): { ok: true } {
  const which = `${pids.length === 1 ? 'Process' : 'Processes'} ${pids.join(', ')}`
  decision.notice('warning', `${which} could not be ended (${preview}). The next start of Lathe tries again.`)
  return { ok: true }
}

/** Nothing of an earlier host runs any more (X-215); the agent is told of each it knew by id (X-602). */
export function endLostExecSessions(decision: Decision): void {
  const lost = recordOf(decision).sessions.filter((one) => one.state !== 'ended')
  if (lost.length === 0) return
  for (const session of lost) {
    execEnded(decision, {
      type: 'exec.ended',
      id: session.id,
      end: { at: decision.now, reason: 'lost', exitCode: null, signal: null },
      notice:
        session.owner === 'person'
          ? null
          : {
              text: `${session.id} (${session.preview}) was ended: Lathe had closed.`,
              prompt: `The process ${session.id} (${session.preview}) no longer runs: Lathe was closed meanwhile. Its output since you last read it is lost.`,
            },
    })
  }
  decision.notice(
    'warning',
    `Lathe closed while ${lost.length === 1 ? 'a process was' : 'processes were'} running: ${lost.map((one) => `${one.id} (${one.preview})`).join(', ')}. ${lost.length === 1 ? 'It was' : 'They were'} ended.`,
  )
}

function closeQuestion(
  decision: Decision,
  execId: string,
  state: 'answered' | 'declined' | 'cancelled',
  answer?: string,
): void {
  const session = recordOf(decision).sessions.find((one) => one.id === execId)
  if (session?.questionId === undefined) return
  const item = decision.item(session.questionId, 'question')
  if (item?.state === 'open') {
    decision.patch(item, {
      state,
      status: 'final',
      endedAt: decision.now,
      ...(answer === undefined ? {} : { answer }),
    })
  }
  const { questionId, ...rest } = session
  put(decision, rest)
  emitQuestions(decision)
  decision.effect({ do: 'entry' })
  decision.effect({ do: 'withdrawNotification', itemId: questionId })
}

function recordOf(decision: Decision): ExecRecord {
  return decision.state.hidden.exec
}

function put(decision: Decision, session: ExecSession): void {
  const { sessions } = recordOf(decision)
  change(decision, { sessions: sessions.map((one) => (one.id === session.id ? session : one)) })
}

function change(decision: Decision, patch: Partial<ExecRecord>): void {
  const exec = { ...recordOf(decision), ...patch }
  decision.changeHidden({ exec })
  decision.emit({ type: 'exec.changed', execSessions: exec.sessions })
}
