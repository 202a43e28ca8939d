import { homedir } from 'node:os'
import { z } from 'zod'
import { LatheError, type ErrorCode } from '../../preload/contract/errors.ts'
import { gitKnowsSecrets, gitOnlyReads, readOnlyGitEnvironment } from '../approvals/git-reading.ts'
import { commandAddresses, commandEffects, onlyReads } from '../approvals/shell-command.ts'
import type { CapturedOutput } from '../exec/capture.ts'
import type { Environment } from '../exec/environment.ts'
import type { ExecFacts } from '../exec/exec-session.ts'
import { ExecSessions } from '../exec/exec-sessions.ts'
import { cutOutput } from '../exec/output.ts'
import type { ProcessEnd, ProcessLedger } from '../exec/process.ts'
import { findShell, type Shell, shellLaunch, shellNames, startCommand } from '../exec/shell.ts'
import type { FilePath, Paths } from '../files/paths.ts'
import type { NetworkPolicy } from '../platform/network-policy.ts'
import { placeholderMark, type Redaction } from '../platform/redaction.ts'
import type { Blobs } from '../storage/blobs.ts'
import { clamped } from './clamped.ts'
import { execOwner } from './exec-owner.ts'
import { execReply } from './exec-reply.ts'
import { JudgedPaths, placeOf, readEffect } from './file-effects.ts'
import type { Effect, Tool, ToolContext, ToolResult } from './tool.ts'

export type ShellToolDeps = {
  paths: Paths
  environment: Environment
  blobs: Blobs
  dataFolder: string
  /** `LATHE_HOME/tmp/exec`, for output while a command runs. */
  spoolFolder: string
  home?: string
  /** `exec.shell`: a name, or null for the platform's. */
  preferredShell(): string | null
  isTrusted(workspace: string): Promise<boolean>
  /** Redaction with the secrets known now (Z-101). */
  redaction(): Redaction
  /** What no command may contact is refused; this computer it may (Z-63). */
  network: Pick<NetworkPolicy, 'judge' | 'resolve'>
  exec: ExecSessions
  ledger?(sessionId: string, command: string): ProcessLedger
}

export type ShellTool = Tool<Input> & {
  /** "Stop" on the card: ends that command only. False where it does not run (any more). */
  stopCommand(callId: string): boolean
}

const fields = z.object({
  command: z.string().min(1).max(65_536).describe('The command line, passed to the shell as it is'),
  working_dir: z.string().default('.').describe('Folder to run in; default is the workspace'),
  shell: z.enum(shellNames).optional().describe('Default: bash, on Windows PowerShell'),
  login: z.boolean().default(false).describe('bash and zsh: run as a login shell'),
  timeout: z
    .number()
    .default(120)
    .describe(
      'Seconds after which it is ended, 1 to 600, default 120; with yield_time_ms up to 86400, default 1800, 0 for no limit',
    ),
  yield_time_ms: clamped(0, 30_000).describe(
    'For what runs long, such as a server: wait this long, then leave it running and answer with its id',
  ),
  tty: z.boolean().default(false).describe('With yield_time_ms: run it on a terminal'),
  on_exit: z
    .enum(['notice', 'wake'])
    .default('notice')
    .describe(
      'With yield_time_ms: you are told of its end with your next request; wake also starts a turn for it when none runs',
    ),
  max_output_chars: clamped(1_000, 50_000, 10_000).describe('Longer output is cut in the middle'),
})
type Input = z.infer<typeof fields>

const input = z.preprocess(
  (given) => (given === null || typeof given !== 'object' ? given : withLimit(given as Record<string, unknown>)),
  fields.superRefine(checkMode),
)

/** The time limit, moved into the range of the mode; 0 stays, to be judged. */
function withLimit(given: Record<string, unknown>): Record<string, unknown> {
  const sessionMode = isGiven(given['yield_time_ms'])
  const [least, most, standard] = sessionMode ? [0, 86_400, 1_800] : [1, 600, 120]
  const timeout = given['timeout'] ?? standard
  if (typeof timeout !== 'number' || !Number.isFinite(timeout) || timeout === 0) return { ...given, timeout }
  return { ...given, timeout: Math.min(most, Math.max(least, timeout)) }
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null

/** A command that is waited for has a limit and no terminal. */
function checkMode(given: Input, context: z.RefinementCtx): void {
  if (given.yield_time_ms !== undefined) return
  const refuse = (path: string, message: string): void => context.addIssue({ code: 'custom', path: [path], message })
  if (given.tty) refuse('tty', 'needs yield_time_ms')
  if (given.on_exit === 'wake') refuse('on_exit', 'needs yield_time_ms')
  if (given.timeout === 0) refuse('timeout', '0 needs yield_time_ms')
}

const description = `Runs a command and waits for it: tests, builds, package managers, git, scripts. Standard input is empty and there is no terminal: use options that ask nothing. For what goes on (servers, watchers, REPLs) give yield_time_ms and talk to it with exec_session. Each call starts in the working folder; nothing carries over. A non-zero exit is a normal result. To read, search or change files use the file tools.`

/** One-shot commands (section 3 of the exec rules). */
export function createShellTool(deps: ShellToolDeps): ShellTool {
  const paths = new JudgedPaths(deps.paths)
  const home = deps.home ?? homedir()
  /** What "Stop" on the card aborts: a call from its beginning, so that none is lost while its process is spawned. */
  const running = new Map<string, AbortController>()
  /** Calls whose every command only reads, as judged by `plan`. */
  const onlyReading = new WeakSet<ToolContext>()

  function shellOf(asked: Input['shell'], env: Record<string, string>) {
    const preferred = deps.preferredShell()
    return findShell(
      env,
      asked,
      shellNames.find((name) => name === preferred),
    )
  }

  async function effectsOf(
    { command, shell: asked }: Input,
    folder: FilePath,
    context: ToolContext,
  ): Promise<Effect[]> {
    const { workspace, sessionId } = context
    const env = await deps.environment.forCommand({ sessionId, workspace })
    const shell = await shellOf(asked, env)
    const effects = await commandEffects(command, {
      shell: shell.name,
      folder: folder.real,
      workspace,
      home,
      dataFolder: deps.dataFolder,
      gitOnlyReads: async (at) => (await deps.isTrusted(workspace)) && gitOnlyReads(at, workspace, { env }),
      gitKnowsSecrets: (at) => gitKnowsSecrets(at, { env }),
      resolve: (absolute) => deps.paths.resolve(placeOf(context), absolute),
    })
    return folder.inside ? effects : [readEffect(folder), ...effects]
  }

  return {
    name: 'shell',
    description,
    input,
    aliases: { workdir: 'working_dir', max_output_tokens: 'max_output_chars' },
    concurrent: false,
    reproducible: true,
    timeLimitMs: null,
    // The reply's own budget and the lines around it.
    resultCap: 52_000,
    title: ({ command }) => clip(`Run ${command.trim().split('\n')[0]}`, 80),

    async plan(given, context) {
      // What the model was shown instead of a secret is not the secret (Z-104).
      if (given.command.includes(placeholderMark)) {
        throw new LatheError(
          'redaction.placeholder',
          'The command holds a placeholder that stands for a hidden secret.',
          { hint: 'Refer to the secret by its environment variable.' },
        )
      }
      const folder = await folderOf(given, context, 'judge')
      destinationsOf(given.command)
      const effects = await effectsOf(given, folder, context)
      if (onlyReads(effects)) onlyReading.add(context)
      return {
        effects,
        preview: { title: 'Run a command', detail: given.command, detailKind: 'command', folder: folder.shown },
      }
    },

    async run(given, context) {
      const stop = new AbortController()
      running.set(context.callId, stop)
      try {
        return await runCommand(given, context, stop.signal)
      } finally {
        running.delete(context.callId)
      }
    },

    stopCommand(callId) {
      const stop = running.get(callId)
      stop?.abort(new LatheError('exec.stopped_by_person', 'Ended by the person before it began.'))
      return stop !== undefined
    },
  }

  /** `byPerson` is "Stop" on the card. */
  async function runCommand(given: Input, context: ToolContext, byPerson: AbortSignal): Promise<ToolResult> {
    const stopped = AbortSignal.any([context.signal, byPerson])
    const folder = await folderOf(given, context, 'use')
    const env = await deps.environment.forCommand(context, given.tty)
    const shell = await shellOf(given.shell, env)
    await admitAddresses(given.command, stopped)
    stopped.throwIfAborted()
    if (given.yield_time_ms !== undefined) return startSession(given, context, byPerson, folder, shell, env)
    const command = await startCommand({
      shell,
      command: given.command,
      login: given.login,
      cwd: folder.real,
      env: { ...env, ...(onlyReading.has(context) ? readOnlyGitEnvironment : {}) },
      timeoutMs: given.timeout * 1_000,
      capture: {
        folder: deps.spoolFolder,
        redactor: () => deps.redaction().stream(),
        live: (text, stream) => context.output(text, stream),
      },
      ledger: deps.ledger?.(execOwner(context).owner, given.command),
    })
    const unheard = onAbort(stopped, () => void command.process.stop('stopped'))
    const { end, output, left, durationMs } = await command.finished
    unheard()
    try {
      // A turn's Stop is reported once the tree has ended, and is no result; an exit seen before is one.
      if (end.reason !== 'exited' && !byPerson.aborted) context.signal.throwIfAborted()
      const facts = factsOf(given, context)
      const background = left && (await deps.exec.adopt(execOwner(context).owner, facts, command.process, left))
      return await resultOf(output, end, {
        durationMs,
        budget: given.max_output_chars,
        timeout: given.timeout,
        blobs: deps.blobs,
        background: background?.id ?? null,
      })
    } finally {
      await output.release()
    }
  }

  /** Addresses in the command, as far as they are any. Throws `network.blocked` for what they say of themselves. */
  function destinationsOf(command: string) {
    return commandAddresses(command)
      .filter((url) => URL.canParse(url))
      .map((url) => deps.network.judge(url))
  }

  /**
   * What their names lead to (Z-63), once there is consent: to ask for a name tells it. A name nobody knows is no reason to
   * refuse a command, which may only print it.
   */
  async function admitAddresses(command: string, signal: AbortSignal): Promise<void> {
    await Promise.all(
      destinationsOf(command).map(async (destination) => {
        try {
          await deps.network.resolve(destination, signal)
        } catch (error) {
          if (!(error instanceof LatheError && error.reason === 'dns_not_found')) throw error
        }
      }),
    )
  }

  async function folderOf(given: Input, context: ToolContext, how: 'judge' | 'use'): Promise<FilePath> {
    const folder = await paths[how](context, given.working_dir)
    if (folder.kind === 'folder') return folder
    throw new LatheError(
      folder.kind === 'missing' ? 'file.not_found' : 'path.invalid',
      `${folder.shown} is not a folder.`,
    )
  }

  function factsOf(given: Input, context: ToolContext, folder = context.workspace): ExecFacts {
    return {
      owner: 'agent',
      preview: deps.redaction().text(ExecSessions.preview(given.command)),
      folder,
      tty: given.tty,
      // The card of the top session: of a subagent its own.
      itemId: context.parent?.top.itemId ?? context.callId,
      ...(context.parent ? { subagent: { sessionId: context.sessionId, label: context.parent.label } } : {}),
      timeoutMs: given.timeout === 0 ? null : given.timeout * 1_000,
    }
  }

  /** Session mode: what has not ended within the yield time goes on and gets a number. */
  async function startSession(
    given: Input,
    context: ToolContext,
    byPerson: AbortSignal,
    folder: FilePath,
    shell: Shell,
    env: Record<string, string>,
  ): Promise<ToolResult> {
    const { signal } = context
    const { owner } = execOwner(context)
    const launch = shellLaunch(shell, given.command, given.login)
    const session = await deps.exec.start(owner, {
      ...factsOf(given, context, folder.shown),
      wakes: given.on_exit === 'wake',
      launch: {
        ...launch,
        cwd: folder.real,
        env: { ...env, ...launch.env, ...(onlyReading.has(context) ? readOnlyGitEnvironment : {}) },
      },
      live: (text, stream) => context.output(text, stream),
    })
    onAbort(byPerson, () => void session.stop('stopped'))
    let ended = false
    try {
      ended = await session.untilEnd(given.yield_time_ms!, signal)
    } catch (error) {
      // Nobody was told its number: Stop ends it.
      await session.stop('stopped')
      await deps.exec.drop(owner, session)
      throw error
    }
    if (!ended) {
      const id = await deps.exec.tell(owner, session)
      session.capture.endLive()
      const how = `[It goes on as ${id}: exec_session with session_id "${id}" waits for it, types into it or ends it.]`
      const wakes = given.on_exit === 'wake' ? ['[Its end starts a turn, so this one need not wait for it.]'] : []
      return execReply(session, { budget: given.max_output_chars, notes: [how, ...wakes] })
    }
    const end = session.end!
    const left = await session.left
    try {
      return await resultOf(
        session.capture.finish(),
        { ...end, unreaped: session.unreaped },
        {
          durationMs: session.elapsedMs,
          budget: given.max_output_chars,
          timeout: given.timeout,
          blobs: deps.blobs,
          background: left?.id ?? null,
        },
      )
    } finally {
      await deps.exec.drop(owner, session)
    }
  }
}

/** Calls `act` when the signal is aborted, at once where it is already; the function returned ends that. */
function onAbort(signal: AbortSignal, act: () => void): () => void {
  if (signal.aborted) act()
  else signal.addEventListener('abort', act)
  return () => signal.removeEventListener('abort', act)
}

type Facts = { durationMs: number; budget: number; timeout: number; blobs: Blobs; background: string | null }

async function resultOf(
  output: CapturedOutput,
  end: Pick<ProcessEnd, 'exitCode' | 'signal' | 'unreaped'> & { reason: string },
  { durationMs, budget, timeout, blobs, background }: Facts,
): Promise<ToolResult> {
  const { head, tail, dropped } = output.reduced
  const cut = output.binary || head.length + tail.length + dropped > budget
  const outputRef = cut && !output.incomplete ? await blobs.put(output.full()).catch(() => undefined) : undefined
  const shown = output.binary
    ? `(binary output, ${output.bytes.toLocaleString('en-US')} bytes; redirect it to a file to look at it)`
    : cutOutput(output.reduced, budget, outputRef && `output:${outputRef}`)
  const outcome = outcomeOf(end, timeout)
  const notes = [
    `[${outcome.text}, ${(durationMs / 1_000).toFixed(1)} s]`,
    background === null
      ? ''
      : `[It left processes running in the background: ${background}. exec_session with terminate ends them.]`,
    end.unreaped.length > 0 ? `[Could not be ended: process ${end.unreaped.join(', ')}.]` : '',
    output.incomplete ? '[The disk refused to store the output; what is shown is all that was kept.]' : '',
  ]
  const body = shown === '' ? '(no output)' : shown.replace(/\n$/, '')
  return {
    text: [body, ...notes].filter((line) => line !== '').join('\n'),
    isError: outcome.code !== undefined,
    ...(outcome.code === undefined ? {} : { code: outcome.code }),
    summary: clip(`${outcome.text}\n${body}`, 4_000),
    view: {
      stdout: output.stdout,
      stderr: output.stderr,
      exitCode: end.exitCode,
      signal: end.signal,
      truncated: cut,
      outputRef,
    },
  }
}

/** An exit is a result whatever its code. */
function outcomeOf(
  end: Pick<ProcessEnd, 'exitCode' | 'signal'> & { reason: string },
  timeout: number,
): { text: string; code?: ErrorCode } {
  if (end.reason === 'timed_out') return { text: `Ended: it took longer than ${timeout} s`, code: 'exec.timed_out' }
  if (end.reason === 'stopped') return { text: 'Ended by the person', code: 'exec.stopped_by_person' }
  if (end.reason === 'shutdown') return { text: 'Ended: Lathe is closing', code: 'app.closing' }
  return { text: end.exitCode === null ? `Ended by ${end.signal ?? 'a signal'}` : `Exit ${end.exitCode}` }
}

function clip(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`
}
