/** Questions (turns.md 15): the agent asks, the person picks, types or declines; the turn never hangs on it after a Stop. */
import { LatheError } from '../../preload/contract/errors.ts'
import type { ItemOf } from '../../preload/contract/items.ts'
import type { Release, Report } from '../agent/reports.ts'
import type { Decision } from './decision.ts'
import { answerExecQuestion } from './exec-sessions.ts'
import { failTurn } from './failing.ts'
import type { Command } from './inputs.ts'
import { answerLimitMs, emitQuestions, personAnswered, personWaits } from './waiting.ts'

/** A count begun anew sooner than this is not told. */
const restartMsMin = 900

export function asked(decision: Decision, report: Extract<Report, { type: 'asked' }>): void {
  const tool = decision.item(report.itemId, 'tool')
  const { turn } = decision
  if (!tool || turn.phase === 'stopping') return
  if (turn.attendance === 'deny') {
    decision.effect({ do: 'release', ticket: report.ticket, answer: { noAnswer: 'unattended' } })
    return
  }
  if (turn.attendance === 'fail') {
    decision.effect({ do: 'release', ticket: report.ticket, answer: { noAnswer: 'unattended' } })
    return failTurn(decision, {
      code: 'person.needed',
      message: `The agent asks: ${report.question.text.slice(0, 500)}`,
      hint: 'Run it in a window, or choose another --approve.',
    })
  }
  const ms = limitMs(decision)
  if (ms === 0) {
    decision.effect({ do: 'release', ticket: report.ticket, answer: { noAnswer: 'expired' } })
    return
  }
  decision.changeTurn({
    questions: new Map(turn.questions).set(report.ticket, { itemId: tool.id, since: decision.now }),
  })
  personWaits(decision)
  decision.status()
  decision.put({
    kind: 'question',
    id: report.ticket,
    toolItemId: tool.id,
    state: 'open',
    ...report.question,
    expiresAt: ms === null ? null : decision.now + ms,
    contextual: false,
  })
  decision.patch(tool, { questionId: report.ticket })
  decision.changeHeader({ notableSeq: decision.header.lastSeq })
  emitQuestions(decision)
  decision.effect({ do: 'entry' })
  decision.effect({ do: 'notify', kind: 'question', itemId: report.ticket })
  if (ms !== null) decision.effect({ do: 'expire', questionId: report.ticket, ms })
}

/** How long a question waits: as the person set it, and in a background turn no longer than A-95 says. */
function limitMs(decision: Decision): number | null {
  const seconds = decision.environment.settings['questions.timeoutSeconds']
  const limits = [seconds > 0 ? seconds * 1_000 : null, answerLimitMs(decision)].filter((one) => one !== null)
  return limits.length === 0 ? null : Math.min(...limits)
}

export function answerQuestion(
  decision: Decision,
  command: Extract<Command, { type: 'question.answer' }>,
): { ok: true } {
  const asked = decision.item(command.questionId, 'question')
  if (asked?.execId !== undefined && asked.state === 'open') {
    check(asked, command, command.text)
    return answerExecQuestion(decision, asked, command.secret, command.declined)
  }
  const item = openQuestion(decision, command.questionId)
  const text = command.text?.trim() ? command.text.trim() : null
  if (command.declined) return end(decision, item, 'declined', { noAnswer: 'declined' })
  check(item, command, text)
  const secret = item.ask === 'secret' ? command.secret : null
  if (command.choices.length === 0 && text === null && !secret)
    return end(decision, item, 'blank', { noAnswer: 'blank' })
  const labels = item.choices.filter((choice) => command.choices.includes(choice.id)).map((choice) => choice.label)
  // A secret goes once, in memory, to what asked; the card only says that it was answered (T-151).
  const shown = item.ask === 'secret' ? 'answered (hidden)' : [...labels, ...(text === null ? [] : [text])].join('\n')
  return end(decision, item, 'answered', { answer: { choices: labels, text, secret } }, shown)
}

export function expireQuestion(decision: Decision, questionId: string): { ok: true } {
  const item = openQuestion(decision, questionId)
  // The count began anew while the old one was on its way.
  if (item.expiresAt !== null && item.expiresAt > decision.now + restartMsMin) return { ok: true }
  return end(decision, item, 'expired', { noAnswer: 'expired' })
}

/** Typing or choosing restarts the count, at most once a second (T-149). */
export function touchQuestion(decision: Decision, questionId: string): { ok: true } {
  const item = openQuestion(decision, questionId)
  const ms = limitMs(decision)
  if (item.expiresAt === null || ms === null) return { ok: true }
  const expiresAt = decision.now + ms
  if (expiresAt - item.expiresAt < restartMsMin) return { ok: true }
  decision.patch(item, { expiresAt })
  emitQuestions(decision)
  decision.effect({ do: 'expire', questionId, ms })
  return { ok: true }
}

function check(
  item: ItemOf<'question'>,
  command: Extract<Command, { type: 'question.answer' }>,
  text: string | null,
): void {
  const invalid = (message: string) => new LatheError('question.invalid', message)
  if (command.choices.some((id) => !item.choices.some((choice) => choice.id === id)))
    throw invalid('That is none of the choices.')
  if (command.choices.length > 1 && !item.multiple) throw invalid('Choose one.')
  if (item.ask === 'choice' && text !== null && !item.allowText) throw invalid('Choose one of the answers.')
  if (item.ask === 'secret' && (text !== null || command.choices.length > 0))
    throw invalid('A secret is answered as a secret.')
  if (item.ask !== 'secret' && command.secret !== null) throw invalid('This question asks for no secret.')
}

export function withdrawQuestions(decision: Decision, state: 'cancelled' | 'interrupted'): void {
  const turn = decision.state.turn
  if (!turn) return
  for (const questionId of turn.questions.keys()) {
    const item = decision.item(questionId, 'question')
    if (item) end(decision, item, state, { noAnswer: 'cancelled' })
  }
}

function openQuestion(decision: Decision, questionId: string): ItemOf<'question'> {
  const item = decision.item(questionId, 'question')
  if (!item || item.state !== 'open' || !decision.state.turn?.questions.has(questionId)) {
    throw new LatheError('question.gone', 'This question is no longer open.', { data: { state: item?.state ?? null } })
  }
  return item
}

function end(
  decision: Decision,
  item: ItemOf<'question'>,
  state: ItemOf<'question'>['state'],
  answer: Release,
  shown?: string,
): { ok: true } {
  const questions = new Map(decision.turn.questions)
  questions.delete(item.id)
  decision.changeTurn({ questions })
  personAnswered(decision)
  decision.status()
  decision.patch(item, {
    state,
    status: 'final',
    endedAt: decision.now,
    ...(shown === undefined ? {} : { answer: shown }),
  })
  emitQuestions(decision)
  decision.effect({ do: 'entry' })
  decision.effect({ do: 'withdrawNotification', itemId: item.id })
  decision.effect({ do: 'release', ticket: item.id, answer })
  return { ok: true }
}
