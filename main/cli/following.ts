/** A turn followed to its end: its events as they are stored, its answer, what was refused, and the exit code. */
import { LatheError } from '../../preload/contract/errors.ts'
import type { StoredEvent } from '../../preload/contract/events.ts'
import { newId } from '../../preload/contract/ids.ts'
import type { Item, ItemOf } from '../../preload/contract/items.ts'
import { itemTextBytesMax } from '../../preload/contract/limits.ts'
import type { SessionView, Turn } from '../../preload/contract/session.ts'
import type { ClientContext, Handlers } from '../transport/handlers.ts'
import type { RunArguments } from './arguments.ts'
import { exitCodes } from './exit-codes.ts'
import type { Interrupts } from './interrupts.ts'
import type { Output } from './output.ts'
import { answerOnTerminal, type TerminalAnswers } from './terminal-answers.ts'

export type Run = {
  args: RunArguments
  output: Output
  interrupts: Interrupts
  handlers: Handlers
  client: ClientContext
}

/** Shows the turn's events as they are stored, up to its one end, and answers the exit code for it. */
export async function followTurn(running: Run, before: SessionView, turnId: string): Promise<number> {
  const { args, output, interrupts, handlers, client } = running
  const { id: sessionId, workspace } = before.header
  const stop = async (reason: 'person' | 'timeout' = 'person'): Promise<void> => {
    // A turn that has just settled needs no stop.
    await handlers.session.stop({ requestId: newId(), sessionId, turnId, reason }, client).catch(() => undefined)
  }
  const limit = args.timeout === undefined ? undefined : setTimeout(() => void stop('timeout'), args.timeout)
  interrupts.signal.addEventListener('abort', () => void stop(), { once: true })
  if (interrupts.signal.aborted) await stop()
  const answers =
    client.attendance === 'attended' ? answerOnTerminal({ handlers, client, sessionId, interrupts }) : null
  const refused = countRefused()
  try {
    for await (const event of turnEvents(running, before, turnId, answers)) {
      if (event.type === 'turn.started' && output.json)
        output.line({ type: 'session', sessionId, turnId, workspace, model: event.model })
      if (output.json) output.line(event)
      else noteProgress(event, output)
      refused.see(event)
      if (event.type === 'turn.settled' && event.turnId === turnId)
        return await finish(running, sessionId, event.turn, event.items, refused.sentence())
    }
    throw new LatheError('host.unreachable', 'The turn’s events ended before the turn did.', {
      hint: `See it with \`lathe sessions show ${sessionId}\`.`,
    })
  } finally {
    clearTimeout(limit)
    answers?.dispose()
  }
}

/** Stored events of the session from `turn.started` of this turn on. A pruned range is begun again after what was seen. */
async function* turnEvents(
  { handlers, client, output }: Run,
  before: SessionView,
  turnId: string,
  answers: TerminalAnswers | null,
): AsyncGenerator<StoredEvent> {
  const reading = new AbortController()
  let started = false
  try {
    const { id: sessionId, lastSeq } = before.header
    const input = { sessionId, stream: newId(), after: lastSeq, journalId: before.journalId }
    for await (const event of handlers.session.events(input, { ...client, signal: reading.signal })) {
      answers?.see(event)
      if (event.type === 'session.storageFailed' && event.attempt === 1)
        output.note(
          ['The turn cannot be saved at the moment; it is tried again.', event.error.hint].filter(Boolean).join(' '),
        )
      if (event.seq === null) continue
      started ||= event.type === 'turn.started' && event.turnId === turnId
      if (started) yield event
    }
  } finally {
    reading.abort()
  }
}

/** The end of the turn for people, and its exit code (S-128). */
async function finish(
  { output, handlers, client }: Run,
  sessionId: string,
  turn: Turn,
  items: Item[],
  refused: string | null,
): Promise<number> {
  const { outcome, error } = turn
  if (!output.json) {
    const last = items.findLast((item) => item.kind === 'text' && item.turnId === turn.id && item.final)
    if (last?.kind === 'text') output.print(await wholeText(last, sessionId, handlers, client))
    if (error) output.fail(new LatheError(error.code, error.message, { hint: error.hint }))
    else if (outcome !== 'completed') output.note(`The turn was ${outcome}.`)
  }
  if (refused) output.note(refused)
  if (outcome === 'completed') return exitCodes.completed
  if (outcome === 'stopped') return exitCodes.stopped
  return error?.code === 'person.needed' ? exitCodes.personNeeded : exitCodes.failed
}

/** A long text travels clipped (S-58); what is printed is all of it. */
async function wholeText(
  item: ItemOf<'text'>,
  sessionId: string,
  handlers: Handlers,
  client: ClientContext,
): Promise<string> {
  if (Buffer.byteLength(item.text) < itemTextBytesMax) return item.text
  const whole = await handlers.session.item({ sessionId, itemId: item.id }, client).catch(() => item)
  return whole.kind === 'text' ? whole.text : item.text
}

/** What was not allowed and what stayed unanswered, for the last line on stderr. */
function countRefused(): { see(event: StoredEvent): void; sentence(): string | null } {
  const denied = new Set<string>()
  const unanswered = new Set<string>()
  const note = (id: string, code: string | undefined): void => {
    if (code === 'approval.unattended') denied.add(id)
    if (code === 'question.no_answer') unanswered.add(id)
  }
  return {
    see(event) {
      if (event.type === 'item.put' && event.item.kind === 'tool') note(event.item.id, event.item.code)
      if (event.type === 'item.patch') note(event.itemId, event.set.code)
    },
    sentence() {
      const parts = [
        counted(denied.size, 'action', 'not allowed'),
        counted(unanswered.size, 'question', 'unanswered'),
      ].filter((part) => part !== null)
      return parts.length > 0 ? parts.join(', ') : null
    },
  }
}

function counted(count: number, noun: string, what: string): string | null {
  return count === 0 ? null : `${count} ${noun}${count === 1 ? '' : 's'} ${what}`
}

export function noteProgress(event: StoredEvent, output: Output): void {
  if (event.type === 'item.patch' && event.set.state === 'running' && event.set.title)
    output.note(`· ${event.set.title}`)
  if (
    event.type === 'item.put' &&
    event.item.kind === 'tool' &&
    (event.item.state === 'running' || event.item.state === 'proposed')
  )
    output.note(`· ${event.item.title}`)
  if (event.type === 'item.put' && event.item.kind === 'notice') output.note(event.item.text)
  if (event.type === 'compaction.started') output.note('· Compacting context')
  if (event.type === 'item.put' && event.item.kind === 'compaction')
    output.note(`· Context compacted: ${event.item.tokensBefore} to ${event.item.tokensAfter} tokens`)
}
