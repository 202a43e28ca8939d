/** What a call about an exec session is told, as text and as data (X-420). */
import type { ErrorCode } from '../../preload/contract/errors.ts'
import { type ExecSession } from '../exec/exec-session.ts'
import { endWords, seconds } from '../exec/exec-sessions.ts'
import { cutOutput } from '../exec/output.ts'
import type { ToolResult } from './tool.ts'

export type Reply = {
  /** Characters of output at most. */
  budget: number
  /** Only where a text was waited for. */
  matched?: boolean | undefined
  notes: string[]
  /** An error that still brings the output (X-414). */
  error?: { code: ErrorCode; text: string } | undefined
}

/** Output not given yet, state and times of a session with a number; recorded, it is not given again (X-422). */
export async function execReply(session: ExecSession, { budget, matched, notes, error }: Reply): Promise<ToolResult> {
  const id = session.id!
  // One that has ended tells so only once its end is on record, so that no notice tells it again (X-602).
  if (session.end) await session.ended
  const { end, state } = session
  const { kept, binary } = session.capture.offer()
  const length = kept.head.length + kept.tail.length + kept.dropped
  const cut = binary || length > budget
  if (cut) session.wasCut = true
  const reference = end?.outputRef === undefined ? `exec:${id}` : `output:${end.outputRef}`
  const screen = end ? null : await session.screenText()
  const output = binary
    ? `(binary output, ${session.capture.bytes.toLocaleString('en-US')} bytes; redirect it to a file to look at it)`
    : cutOutput(kept, budget, reference)
  const timedOut = end?.reason === 'timed_out' && !session.endTold
  const code = error?.code ?? (timedOut ? 'exec.timed_out' : undefined)
  const remaining = session.remainingMs
  const facts = end
    ? `${id} ${endWords(end)} after ${seconds(session.elapsedMs)}`
    : `${id} ${state === 'stopping' ? 'is being ended' : 'is running'}, ${seconds(session.elapsedMs)} so far, ${remaining === null ? 'no time limit' : `${seconds(remaining)} left`}`
  const typed = session.typed && session.facts.owner === 'agent'
  const lines = [
    output === '' ? '(no new output)' : output.replace(/\n$/, ''),
    screen === null ? '' : `[The program fills the screen. It shows now:]\n${screen}`,
    `[${facts}]`,
    matched === undefined ? '' : matched ? '[The text was seen.]' : '',
    ...notes,
    session.asking === null ? '' : '[It asks for a secret. The person is asked; you cannot answer.]',
    session.held ? '[The person has taken it over and may type into it. You can read and wait.]' : '',
    typed ? '[The person typed into it since your last call.]' : '',
    session.capture.incomplete ? '[The disk refused to store the output; what is shown is all that was kept.]' : '',
    session.unreaped.length > 0 ? `[Could not be ended: process ${session.unreaped.join(', ')}.]` : '',
    error?.text ?? '',
  ]
  return {
    text: lines.filter((line) => line !== '').join('\n'),
    isError: code !== undefined,
    ...(code === undefined ? {} : { code }),
    view: {
      stdout: session.capture.shown('stdout'),
      stderr: session.capture.shown('stderr'),
      ...(end ? { exitCode: end.exitCode, signal: end.signal } : {}),
      truncated: cut,
      ...(end?.outputRef === undefined ? {} : { outputRef: end.outputRef }),
      exec: {
        id,
        state,
        elapsedMs: session.elapsedMs,
        remainingMs: remaining,
        omitted: cut ? Math.max(0, length - budget) : 0,
        ...(matched === undefined ? {} : { matched }),
      },
    },
    ...(end ? { toldEndOf: id } : {}),
    recorded: () => {
      session.capture.taken()
      if (typed) session.typed = false
      if (end) session.endTold = true
    },
  }
}
