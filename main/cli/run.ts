/** `lathe run`: one turn of an ordinary session, from a script or a terminal (sessions.md 18). */
import { builtInAgent, type AgentEntry } from '../../preload/contract/agents.ts'
import { LatheError } from '../../preload/contract/errors.ts'
import { newId } from '../../preload/contract/ids.ts'
import type { Attachment } from '../../preload/contract/items.ts'
import { readSlash, unknownCommand } from '../../preload/contract/slash-commands.ts'
import type { ApprovalMode, SessionView } from '../../preload/contract/session.ts'
import type { ClientContext, Handlers } from '../transport/handlers.ts'
import type { RunArguments } from './arguments.ts'
import type { OpenHost } from './command-host.ts'
import { exitCodes } from './exit-codes.ts'
import { followTurn, noteProgress, type Run } from './following.ts'
import { folderOf, type NamedBytes, promptOf, readAttachment, upload, UsageError } from './given.ts'
import type { Interrupts } from './interrupts.ts'
import { mentionsIn } from './mentions.ts'
import type { Output } from './output.ts'
import { findSession } from './session-id.ts'

/** A model nobody configured is as wrong as an option nobody knows (M-25). */
function isWrongUsage(error: unknown): boolean {
  return error instanceof UsageError || (error instanceof LatheError && error.code === 'model.unknown')
}

export async function run(
  args: RunArguments,
  openHost: OpenHost,
  output: Output,
  interrupts: Interrupts,
): Promise<number> {
  const attendance = attendanceOf(args)
  try {
    const prompt = await promptOf(args.prompt)
    checkCommand(prompt)
    const [workspace, files] = await Promise.all([
      folderOf(args.workspace),
      Promise.all(args.attach.map(readAttachment)),
    ])
    for (;;) {
      const host = await openHost({ attendance, signal: interrupts.signal })
      try {
        await host.announce()
        const running: Run = {
          args,
          output,
          interrupts,
          handlers: host.handlers,
          client: { clientId: newId(), kind: 'cli', attendance },
        }
        const prepared = await prepare(running, workspace, files).catch((error: unknown) => {
          // The owner ended before anything was asked of a model: whoever owns the folder next is as good.
          if (host.ended.aborted && !host.owns) return null
          throw error
        })
        if (!prepared) continue
        const code = prompt.startsWith('!')
          ? await runOwnCommand(running, prepared.before, prompt.slice(1))
          : await runLine(running, prepared, prompt)
        await host.alone()
        return code
      } finally {
        await host.close()
      }
    }
  } catch (error) {
    if (interrupts.signal.aborted && (error as Error).name === 'AbortError') return exitCodes.stopped
    output.fail(error)
    return isWrongUsage(error) ? exitCodes.wrongUsage : exitCodes.failed
  }
}

/** Whether the terminal can be asked (stdin and stderr are one), and what happens where it cannot (Z-98). */
function attendanceOf({ approve = 'ask' }: RunArguments): ClientContext['attendance'] {
  if (approve !== 'ask') return 'deny'
  return process.stdin.isTTY && process.stderr.isTTY ? 'attended' : 'fail'
}

type Prepared = { before: SessionView; attachments: Attachment[] }

/** The session as it is before, and the files where its host has them. */
async function prepare(running: Run, workspace: string, files: NamedBytes[]): Promise<Prepared> {
  const { handlers, client, output } = running
  // What a window shows above everything: a damaged database, a configuration that could not be read.
  const { banner } = await handlers.host.info(undefined, client)
  if (banner !== null) output.note(banner)
  // Before the session: one without a message is kept for a moment only (S-3).
  const attachments: Attachment[] = []
  for (const file of files) attachments.push(await upload(running, file))
  const sessionId = await chooseSession(running, workspace)
  const before = await handlers.session.open({ sessionId }, client)
  await namedAgent(running, before.header.workspace)
  return { before, attachments }
}

/** A slash command nobody knows, or one of the window, is wrong usage; no session is made for it. */
function checkCommand(prompt: string): void {
  const read = readSlash(prompt)
  if (read.kind === 'unknown') throw new UsageError(`${unknownCommand(read)} To send it as text, begin with //.`)
  if (read.kind !== 'command') return
  const { kind, name } = read.command
  if ((kind === 'ui' && name !== 'new') || (name === 'new' && read.argument === ''))
    throw new UsageError(`/${name} works in a window only.`)
}

/** A message, or a command: one that answers prints its answer, one that starts a turn is followed (S-130). */
async function runLine(running: Run, prepared: Prepared, prompt: string): Promise<number> {
  const read = readSlash(prompt)
  if (read.kind !== 'command') return runTurn(running, prepared, read.kind === 'text' ? read.text : prompt)
  const { name, kind } = read.command
  const { handlers, client, output } = running
  const { header, turns } = prepared.before
  const act = { requestId: newId(), sessionId: header.id }
  if (name === 'new') return runTurn(running, prepared, read.argument)
  if (kind === 'side') {
    const { text } = await handlers.session.sideCommand({ ...act, name, argument: read.argument }, client)
    if (output.json) output.line({ type: 'answer', sessionId: header.id, command: name, text })
    else output.print(text)
    return exitCodes.completed
  }
  if (name === 'compact') return runCompaction(running, prepared.before, read.argument)
  const last = turns.at(-1)
  if (!last)
    throw new LatheError('request.invalid', `There is no turn for /${name}.`, {
      hint: 'Name a session, or use --continue.',
    })
  const { recovery } = header
  const reply =
    name === 'retry'
      ? await handlers.session.retry({ ...act, turnId: last.id }, client)
      : recovery?.status === 'awaiting'
        ? await handlers.recovery.continue({ ...act, recoveryId: recovery.recoveryId }, client)
        : await handlers.session.continue({ ...act, turnId: last.id }, client)
  if (reply.accepted !== 'started') throw new LatheError('turn.busy', 'A turn is running in this session.')
  return followTurn(running, prepared.before, reply.turnId)
}

/** Follows the summary of older turns to its end: with `--json` each event, else one line of what came of it. */
async function runCompaction(
  { handlers, client, output, interrupts }: Run,
  before: SessionView,
  focus: string,
): Promise<number> {
  const { id: sessionId, lastSeq } = before.header
  const act = () => ({ requestId: newId(), sessionId })
  const reading = new AbortController()
  const said = { jobId: '', stopped: false, summary: '' }
  const cancel = () => {
    said.stopped = true
    const { jobId } = said
    if (jobId !== '') void handlers.session.cancelCompaction({ ...act(), jobId }, client).catch(() => {})
  }
  interrupts.signal.addEventListener('abort', cancel, { once: true })
  const input = { sessionId, stream: newId(), after: lastSeq, journalId: before.journalId }
  const events = handlers.session.events(input, { ...client, signal: reading.signal })
  const follow = async () => {
    for await (const event of events) {
      if (event.seq === null) continue
      if (output.json) output.line(event)
      else noteProgress(event, output)
      if (event.type === 'compaction.started') said.jobId = event.jobId
      if (said.stopped) cancel()
      if (event.type === 'item.put' && event.item.kind === 'compaction') said.summary = event.item.summary
      if (event.type === 'compaction.ended') return
    }
  }
  const following = follow()
  try {
    const { came } = await handlers.session.compact({ ...act(), ...(focus === '' ? {} : { focus }) }, client)
    if (came === 'compacted') await following
    if (came === 'nothing') {
      if (output.json) output.line({ type: 'answer', sessionId, command: 'compact', text: 'Nothing to compact.' })
      else output.print('Nothing to compact.')
    }
    if (came === 'compacted' && !output.json) output.print(said.summary)
    return came === 'cancelled' ? exitCodes.stopped : exitCodes.completed
  } finally {
    reading.abort()
    await following.catch(() => {})
  }
}

async function runTurn(running: Run, { before, attachments }: Prepared, text: string): Promise<number> {
  const { args, handlers, client, output } = running
  const { id: sessionId, workspace } = before.header
  const place = (path: string) =>
    handlers.files.place({ workspace, path }, client).then(
      (found) => found.path,
      () => null,
    )
  const message = await mentionsIn(text, place)
  for (const path of message.missing) output.note(`@${path} is no file of the workspace; it goes as plain text.`)
  const reply = await handlers.session.submit(
    {
      requestId: newId(),
      sessionId,
      text: message.text,
      mentions: message.mentions,
      attachments,
      whenBusy: 'refuse',
      ...(args.model === undefined ? {} : { model: args.model }),
      ...agentOf(args),
    },
    client,
  )
  if (reply.accepted !== 'started') throw new LatheError('turn.busy', 'The message was queued behind a running turn.')
  return followTurn(running, before, reply.turnId)
}

/** The agent named; the built-in one where that is its name. */
function agentOf({ agent }: RunArguments): { agent?: string | null } {
  return agent === undefined ? {} : { agent: agent === builtInAgent ? null : agent }
}

/** One that is not there is wrong usage, as is a model nobody configured; one that is broken fails the turn (T-160). */
async function namedAgent(
  { args, handlers, client }: Pick<Run, 'args' | 'handlers' | 'client'>,
  workspace: string,
): Promise<AgentEntry | null> {
  const { agent } = agentOf(args)
  if (agent === undefined || agent === null) return null
  const known = await handlers.agents.list({ workspace }, client)
  const named = known.find(({ name }) => name === agent)
  if (named) return named
  const names = [builtInAgent, ...known.map(({ name }) => name)].join(', ')
  throw new UsageError(`There is no agent "${agent}" here. There are ${names}.`)
}

/** A new session, the one named, or the newest of the workspace; in the mode asked for (S-125, S-130). */
async function chooseSession({ args, handlers, client }: Run, workspace: string): Promise<string> {
  const approvalMode = args.approve && modes[args.approve]
  if (args.session === undefined && !args.continue) {
    await handlers.workspaces.open({ requestId: newId(), path: workspace, trust: true }, client)
    const agent = await namedAgent({ args, handlers, client }, workspace)
    const { sessionId } = await handlers.sessions.create(
      {
        requestId: newId(),
        workspace,
        approvalMode: approvalMode ?? 'ask',
        ...(args.model === undefined ? {} : { model: args.model }),
        ...(agent?.problem === null ? { agent: agent.name } : {}),
      },
      client,
    )
    return sessionId
  }
  // Naming a folder trusts it (Z-4).
  if (args.session === undefined)
    await handlers.workspaces.open({ requestId: newId(), path: workspace, trust: true }, client)
  const sessionId =
    args.session === undefined
      ? await newestOf(workspace, handlers, client)
      : await findSession(args.session, handlers, client)
  if (approvalMode) await handlers.session.settings({ requestId: newId(), sessionId, approvalMode }, client)
  return sessionId
}

const modes: Readonly<Record<NonNullable<RunArguments['approve']>, ApprovalMode>> = {
  ask: 'ask',
  edits: 'edits',
  all: 'all',
  none: 'read-only',
}

async function newestOf(workspace: string, handlers: Handlers, client: ClientContext): Promise<string> {
  const { entries } = await handlers.sessions.list({ workspace, limit: 100 }, client)
  const newest = entries.toSorted((a, b) => b.updatedAt - a.updatedAt)[0]
  if (newest) return newest.id
  throw new LatheError('session.not_found', `There is no session to continue in ${workspace}.`, {
    hint: 'Leave out --continue to begin one.',
  })
}

/** The person's own command (T-25): its output on stdout, exit 0 where it exits 0, else 1 (S-130). */
async function runOwnCommand(
  { output, interrupts, handlers, client }: Run,
  before: SessionView,
  line: string,
): Promise<number> {
  const sessionId = before.header.id
  const { itemId } = await handlers.session.command({ requestId: newId(), sessionId, line }, client)
  const stop = (): void =>
    void handlers.session.stopCommand({ requestId: newId(), sessionId, itemId }, client).catch(() => undefined)
  interrupts.signal.addEventListener('abort', stop, { once: true })
  if (output.json)
    output.line({
      type: 'session',
      sessionId,
      turnId: null,
      workspace: before.header.workspace,
      model: before.header.model,
    })
  const reading = new AbortController()
  const input = { sessionId, stream: newId(), after: before.header.lastSeq, journalId: before.journalId }
  try {
    for await (const event of handlers.session.events(input, { ...client, signal: reading.signal })) {
      if (event.seq === null) continue
      if (output.json) output.line(event)
      const item = event.type === 'item.put' && event.item.id === itemId ? event.item : null
      if (item?.kind !== 'tool' || item.endedAt === null) continue
      const { exitCode = null, stdout, stderr } = item.view ?? {}
      if (!output.json) {
        const out = stdout ?? item.output
        // On its pty every line ended as terminals end them; a script wants them as the program wrote them.
        if (out) output.print(out.replaceAll('\r\n', '\n').replace(/\n$/, ''))
        if (stderr) output.note(stderr.replace(/\n$/, ''))
      }
      if (interrupts.signal.aborted) return exitCodes.stopped
      return exitCode === 0 ? exitCodes.completed : exitCodes.failed
    }
  } finally {
    reading.abort()
  }
  throw new LatheError('host.unreachable', 'The command’s events ended before the command did.')
}
