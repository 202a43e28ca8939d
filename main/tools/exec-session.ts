/** Tool `exec_session`: talks to a process that runs already, waits on it, ends it. */
import { z } from 'zod'
import { LatheError } from '../../preload/contract/errors.ts'
import type { ExecSession } from '../exec/exec-session.ts'
import type { ExecSessions } from '../exec/exec-sessions.ts'
import { clamped } from './clamped.ts'
import { execOwner } from './exec-owner.ts'
import { execReply, type Reply } from './exec-reply.ts'
import type { Tool, ToolContext, ToolResult } from './tool.ts'

const fields = z.object({
  session_id: z.string().min(1).max(64).describe('Such as x1'),
  input: z.string().max(65_536).default('').describe('Text for its standard input; end a line with \\n'),
  close_stdin: z.boolean().default(false).describe('End of input, after `input`'),
  wait_for: z.string().max(1_000).default('').describe('Wait until it prints this text, literally'),
  until_exit: z.boolean().default(false).describe('Wait until it has ended'),
  terminate: z.boolean().default(false).describe('End it and all it started; stands alone'),
  timeout_ms: z.number().optional().describe('How long to wait: up to 30000, with wait_for or until_exit up to 600000'),
  max_output_chars: clamped(1_000, 50_000, 10_000),
})
type Input = z.infer<typeof fields>

const aliases = {
  chars: 'input',
  yield_time_ms: 'timeout_ms',
  wait_timeout_ms: 'timeout_ms',
  max_output_tokens: 'max_output_chars',
}

const input = fields.superRefine(checkTogether)

/** What excludes each other is refused before anything is touched. */
function checkTogether(given: Input, context: z.RefinementCtx): void {
  const refuse = (path: string, message: string): void => context.addIssue({ code: 'custom', path: [path], message })
  const others = given.input !== '' || given.close_stdin || given.wait_for !== '' || given.until_exit
  if (given.terminate && others) refuse('terminate', 'stands alone')
  if (given.wait_for !== '' && given.until_exit) refuse('until_exit', 'not together with wait_for')
}

const description = `Looks at, waits for, types into or ends a process the shell tool left running. Without options it gives the new output. wait_for returns as soon as the text appears (a server's "ready" line), until_exit when it has ended. Nothing is lost between calls.`

export function createExecSessionTool(sessions: ExecSessions): Tool<Input> {
  const sessionOf = ({ session_id: id }: Input, context: ToolContext) => {
    const { owner, subagent } = execOwner(context)
    return sessions.get(owner, id, subagent)
  }
  return {
    name: 'exec_session',
    description,
    input,
    aliases,
    concurrent: false,
    timeLimitMs: null,
    resultCap: 60_000,
    title: (given) => titleOf(given).slice(0, 80),

    async plan(given, context) {
      const session = await sessionOf(given, context)
      const drives = given.input !== '' || given.close_stdin || given.terminate
      if (drives) checkDrivable(session)
      const text = given.input.slice(0, 200)
      return {
        effects: given.input === '' ? [{ kind: 'none' }] : [{ kind: 'input', text }],
        preview: {
          title: `Type into ${given.session_id} (${session.facts.preview})`,
          detail: given.input,
          detailKind: 'text',
          folder: session.facts.folder,
        },
      }
    },

    async run(given, context) {
      const session = await sessionOf(given, context)
      return session.inTurn(() => call(session, given, context))
    },
  }
}

function titleOf({ session_id: id, input: text, wait_for: wanted, ...given }: Input): string {
  if (given.terminate) return `End ${id}`
  if (text !== '') return `Type into ${id}: ${text.trim().split('\n')[0]}`
  if (wanted !== '') return `Wait for "${wanted}" from ${id}`
  return given.until_exit ? `Wait for the end of ${id}` : `Look at ${id}`
}

/** A person's own command, and what the person has taken over, is theirs to drive. */
function checkDrivable(session: ExecSession): void {
  if (session.facts.owner === 'person')
    throw new LatheError(
      'exec.person_owned',
      `${session.id} is a command of the person. You can read it, not drive it.`,
    )
  if (session.held)
    throw new LatheError('exec.person_owned', `The person has taken over ${session.id}.`, {
      hint: 'Read it and wait until they hand it back.',
    })
}

async function call(session: ExecSession, given: Input, context: ToolContext): Promise<ToolResult> {
  const { signal } = context
  signal.throwIfAborted()
  const reply: Reply = { budget: given.max_output_chars, notes: [] }
  if (given.terminate) {
    checkDrivable(session)
    await session.stop()
    return execReply(session, reply)
  }
  const waits = given.wait_for !== '' || given.until_exit
  const ms = timeOf(given)
  const until = performance.now() + ms
  if (given.input !== '' || given.close_stdin) await type(session, given, until, signal, reply)
  const left = Math.max(0, until - performance.now())
  const time = `${Math.round(ms / 100) / 10} s`
  if (given.wait_for !== '') {
    const seen = await session.untilSeen(given.wait_for, left, signal)
    reply.matched = seen === 'seen'
    if (seen === 'ended') reply.notes.push('[It ended before the text appeared.]')
    if (seen === 'time') reply.notes.push(`[The text was not seen within ${time}; the process still runs.]`)
  } else if (given.until_exit) {
    if (!(await session.untilEnd(left, signal)))
      reply.notes.push(`[It has not ended within ${time}; the process still runs.]`)
  } else if (!waits) await session.untilQuiet(left, signal)
  return execReply(session, reply)
}

/** Written once, before the wait begins, however long that is. */
async function type(
  session: ExecSession,
  given: Input,
  until: number,
  signal: AbortSignal,
  reply: Reply,
): Promise<void> {
  checkDrivable(session)
  if (session.asking !== null)
    throw new LatheError('exec.secret_prompt', `${session.id} asks for a secret. Only the person can give it.`, {
      hint: 'They are asked now. Wait for it with wait_for or until_exit.',
    })
  if (given.input !== '') {
    const { accepted, closed } = await session.send(given.input, until, signal)
    if (closed || session.state === 'ended') {
      const text = '[exec.stdin_closed: the process no longer reads its input.]'
      if (session.state === 'running') reply.error = { code: 'exec.stdin_closed', text }
      else reply.notes.push(text)
    } else if (accepted < given.input.length)
      reply.notes.push(`[It took ${accepted} of ${given.input.length} characters; the rest was not written.]`)
  }
  if (given.close_stdin) session.closeInput()
}

/** Every wait is capped. */
function timeOf(given: Input): number {
  const waits = given.wait_for !== '' || given.until_exit
  const standard = given.until_exit ? 600_000 : given.wait_for === '' ? 1_000 : 10_000
  const most = waits ? 600_000 : 30_000
  const ms = given.timeout_ms ?? standard
  return Math.min(most, Math.max(0, Math.trunc(ms)))
}
