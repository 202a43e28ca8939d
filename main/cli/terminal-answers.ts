/** Approvals and questions asked on the terminal of `lathe run` (Z-98). A window may answer first; then the asking ends. */
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { LatheError } from '../../preload/contract/errors.ts'
import type { SessionEvent } from '../../preload/contract/events.ts'
import { newId } from '../../preload/contract/ids.ts'
import type { ApprovalDecision, ItemOf } from '../../preload/contract/items.ts'
import type { ClientContext, Handlers } from '../transport/handlers.ts'
import type { Interrupts } from './interrupts.ts'
import { printable } from './output.ts'

type Approval = ItemOf<'approval'>
type Question = ItemOf<'question'>

export type TerminalAnswers = {
  /** Looks at what became the head of a queue, and asks. */
  see(event: SessionEvent): void
  dispose(): void
}

const decisions: Readonly<Record<string, ApprovalDecision>> = {
  y: 'once',
  yes: 'once',
  s: 'session',
  a: 'always',
  n: 'deny',
  no: 'deny',
}

export function answerOnTerminal(options: {
  handlers: Handlers
  client: ClientContext
  sessionId: string
  interrupts: Interrupts
}): TerminalAnswers {
  const { handlers, client, sessionId, interrupts } = options
  const heads: Record<'approval' | 'question', string | null> = { approval: null, question: null }
  let asking: AbortController | null = null
  let order: Promise<void> = Promise.resolve()

  function show(text: string): void {
    process.stderr.write(`${printable(text)}\n`)
  }

  /** One line typed by the person; null where the asking ended before. */
  async function readLine(prompt: string, signal: AbortSignal, hidden = false): Promise<string | null> {
    const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
    if (hidden) process.stderr.write(prompt)
    const reader = createInterface({ input: process.stdin, output: hidden ? nowhere : process.stderr, terminal: true })
    reader.on('SIGINT', () => {
      asking?.abort()
      interrupts.interrupt()
    })
    try {
      return (await reader.question(hidden ? '' : prompt, { signal })).trim()
    } catch {
      return null
    } finally {
      reader.close()
      process.stderr.write('\n')
    }
  }

  async function askApproval({ id, request }: Approval, signal: AbortSignal): Promise<void> {
    const storable = request.rules.length > 0
    show(
      `\n${asker(request)}${request.title}\n${request.folder ? `in ${request.folder}\n` : ''}\n${request.detail}\n\n${request.reason}`,
    )
    const choices = storable
      ? '[y] allow once, [s] for this session, [a] always, [n] deny: '
      : '[y] allow once, [n] deny: '
    for (;;) {
      const typed = await readLine(choices, signal)
      if (typed === null) return
      const decision = decisions[typed.toLowerCase()]
      if (!decision || (!storable && (decision === 'session' || decision === 'always'))) continue
      await handlers.approvals.answer(
        { requestId: newId(), sessionId, approvalId: id, argsHash: request.argsHash, decision },
        client,
      )
      return
    }
  }

  async function askQuestion(question: Question, signal: AbortSignal): Promise<void> {
    const { id, ask, text, choices, multiple, allowText } = question
    show(`\n${asker(question)}${text}${choices.map(({ label }, index) => `\n  ${index + 1}. ${label}`).join('')}`)
    const how = ask === 'choice' ? `${multiple ? 'Numbers' : 'Number'}${allowText ? ' or text' : ''}` : 'Answer'
    for (;;) {
      const typed = await readLine(`${how}, or nothing to decline: `, signal, ask === 'secret')
      if (typed === null) return
      const answer =
        typed === ''
          ? { declined: true }
          : ask === 'secret'
            ? { secret: typed }
            : ask === 'text'
              ? { text: typed }
              : chosen(typed, question)
      if (!answer) continue
      await handlers.questions.answer({ requestId: newId(), sessionId, questionId: id, ...answer }, client)
      return
    }
  }

  /** Asks after whatever is being asked, unless that head is gone by then. */
  function begin(kind: 'approval' | 'question', id: string, ask: (signal: AbortSignal) => Promise<void>): void {
    order = order.then(async () => {
      if (heads[kind] !== id) return
      asking = new AbortController()
      await ask(AbortSignal.any([asking.signal, interrupts.signal])).catch((error: unknown) => {
        // Answered elsewhere in the same moment.
        if (error instanceof LatheError) show(error.message)
        else throw error
      })
      asking = null
    })
  }

  function headOf(
    event: SessionEvent,
  ): { kind: 'approval' | 'question'; id: string | null; ask: (signal: AbortSignal) => Promise<void> } | null {
    if (event.type === 'approval.queue')
      return { kind: 'approval', id: event.head?.id ?? null, ask: (signal) => askApproval(event.head!, signal) }
    if (event.type === 'question.queue')
      return { kind: 'question', id: event.head?.id ?? null, ask: (signal) => askQuestion(event.head!, signal) }
    return null
  }

  return {
    see(event) {
      const head = headOf(event)
      if (!head || heads[head.kind] === head.id) return
      if (heads[head.kind] !== null) asking?.abort()
      heads[head.kind] = head.id
      if (head.id !== null) begin(head.kind, head.id, head.ask)
    },
    dispose: () => asking?.abort(),
  }
}

/** The choices meant by typed numbers, or the text where that is allowed; null where it is neither. */
export function chosen(
  typed: string,
  { choices, multiple, allowText }: Pick<Question, 'choices' | 'multiple' | 'allowText'>,
): { choices: string[] } | { text: string } | null {
  const numbers = typed.split(/[\s,]+/).map(Number)
  const ids = numbers.map((number) => choices[number - 1]?.id)
  if (ids.every((id) => id !== undefined) && (multiple || ids.length === 1)) return { choices: ids }
  return allowText ? { text: typed } : null
}

/** Who asks, where it is not the session's own agent (Z-97). */
export function asker({ origin }: { origin?: string | undefined }): string {
  return origin === undefined ? '' : `Subagent “${origin}” asks:\n`
}
