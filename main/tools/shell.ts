import { homedir } from 'node:os'
import { z } from 'zod'
import { LatheError } from '../../preload/contract/errors.ts'
import { readOnlyGitEnvironment } from '../approvals/command-kinds.ts'
import { commandAddresses, commandEffects } from '../approvals/shell-command.ts'
import type { CapturedOutput } from '../exec/capture.ts'
import type { Environment } from '../exec/environment.ts'
import { cutOutput } from '../exec/output.ts'
import type { ProcessEnd, ProcessLedger } from '../exec/process.ts'
import { findShell, type RunningCommand, shellNames, startCommand } from '../exec/shell.ts'
import type { FilePath, Paths } from '../files/paths.ts'
import { placeholderMark, type Redaction } from '../platform/redaction.ts'
import type { Blobs } from '../storage/blobs.ts'
import { clamped } from './clamped.ts'
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
  isTrusted(workspace: string): boolean
  /** Redaction with the secrets known now (Z-101). */
  redaction(): Redaction
  /** Throws `network.blocked` for an address no command may contact; loopback is allowed (Z-63). */
  admitAddress(url: string, signal: AbortSignal): Promise<void>
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
  timeout: seconds(1, 600, 120).describe('Seconds after which it is ended'),
  max_output_chars: clamped(1_000, 50_000, 10_000).describe('Longer output is cut in the middle'),
})
type Input = z.infer<typeof fields>

/** Aliases models know; the name wins over them. */
const input = z.preprocess((given) => {
  if (given === null || typeof given !== 'object') return given
  const { workdir, max_output_tokens, ...named } = given as Record<string, unknown>
  const aliases = {
    ...(workdir === undefined ? {} : { working_dir: workdir }),
    ...(max_output_tokens === undefined ? {} : { max_output_chars: max_output_tokens }),
  }
  return { ...aliases, ...named }
}, fields)

/** Out of range is moved to the nearest end, but 0 would mean "no limit", which a command that is waited for cannot have. */
function seconds(min: number, max: number, fallback: number) {
  const toRange = (value: unknown): unknown =>
    typeof value === 'number' && Number.isFinite(value) && value !== 0 ? Math.min(max, Math.max(min, value)) : value
  return z.preprocess(toRange, z.number().min(min).max(max)).default(fallback)
}

const description = `Runs a command and waits for it: tests, builds, package managers, git, scripts. Standard input is empty and there is no terminal: use options that ask nothing. Each call starts in the working folder; nothing carries over. A non-zero exit is a normal result. To read, search or change files use the file tools.`

type RunningCall = RunningCommand & { stoppedByPerson: boolean }

/** One-shot commands (section 3 of the exec rules). */
export function createShellTool(deps: ShellToolDeps): ShellTool {
  const paths = new JudgedPaths(deps.paths)
  const home = deps.home ?? homedir()
  const running = new Map<string, RunningCall>()
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
    const shell = await shellOf(asked, await deps.environment.forCommand({ sessionId, workspace }))
    const effects = await commandEffects(command, {
      shell: shell.name,
      folder: folder.real,
      workspace,
      home,
      dataFolder: deps.dataFolder,
      trusted: deps.isTrusted(workspace),
      resolve: (absolute) => deps.paths.resolve(placeOf(context), absolute),
    })
    return folder.inside ? effects : [readEffect(folder), ...effects]
  }

  return {
    name: 'shell',
    description,
    input,
    concurrent: false,
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
      const [effects] = await Promise.all([
        effectsOf(given, folder, context),
        ...commandAddresses(given.command).map((url) => deps.admitAddress(url, context.signal)),
      ])
      if (effects.every((effect) => effect.kind === 'read' || (effect.kind === 'command' && effect.readOnly)))
        onlyReading.add(context)
      return {
        effects,
        preview: { title: 'Run a command', detail: given.command, detailKind: 'command', folder: folder.shown },
      }
    },

    async run(given, context) {
      const folder = await folderOf(given, context, 'use')
      const env = await deps.environment.forCommand(context)
      const shell = await shellOf(given.shell, env)
      context.signal.throwIfAborted()
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
        ledger: deps.ledger?.(context.sessionId, given.command),
      })
      return waitFor(command, given, context)
    },

    stopCommand(callId) {
      const call = running.get(callId)
      if (!call) return false
      call.stoppedByPerson = true
      void call.process.stop('stopped')
      return true
    },
  }

  async function folderOf(given: Input, context: ToolContext, how: 'judge' | 'use'): Promise<FilePath> {
    const folder = await paths[how](context, given.working_dir)
    if (folder.kind === 'folder') return folder
    throw new LatheError(
      folder.kind === 'missing' ? 'file.not_found' : 'path.invalid',
      `${folder.shown} is not a folder.`,
    )
  }

  async function waitFor(command: RunningCommand, given: Input, context: ToolContext): Promise<ToolResult> {
    const call: RunningCall = { ...command, stoppedByPerson: false }
    const stop = (): void => void command.process.stop('stopped')
    running.set(context.callId, call)
    context.signal.addEventListener('abort', stop)
    if (context.signal.aborted) stop()
    const { end, output, durationMs } = await command.finished
    running.delete(context.callId)
    context.signal.removeEventListener('abort', stop)
    try {
      // A turn's Stop is reported once the tree has ended, and is no result; an exit seen before is one.
      if (end.reason !== 'exited' && !call.stoppedByPerson) context.signal.throwIfAborted()
      return await resultOf(output, end, {
        durationMs,
        budget: given.max_output_chars,
        timeout: given.timeout,
        blobs: deps.blobs,
      })
    } finally {
      await output.release()
    }
  }
}

type Facts = { durationMs: number; budget: number; timeout: number; blobs: Blobs }

async function resultOf(
  output: CapturedOutput,
  end: ProcessEnd,
  { durationMs, budget, timeout, blobs }: Facts,
): Promise<ToolResult> {
  const { head, tail, dropped } = output.reduced
  const cut = output.binary || head.length + tail.length + dropped > budget
  const outputRef = cut && !output.incomplete ? await blobs.put(await output.full()).catch(() => undefined) : undefined
  const shown = output.binary
    ? `(binary output, ${output.bytes.toLocaleString('en-US')} bytes; redirect it to a file to look at it)`
    : cutOutput(output.reduced, budget, outputRef && `output:${outputRef}`)
  const outcome = outcomeOf(end, timeout)
  const notes = [
    `[${outcome.text}, ${(durationMs / 1_000).toFixed(1)} s]`,
    end.background ? '[It left processes running in the background.]' : '',
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
function outcomeOf(end: ProcessEnd, timeout: number): { text: string; code?: string } {
  if (end.reason === 'timed_out') return { text: `Ended: it took longer than ${timeout} s`, code: 'exec.timed_out' }
  if (end.reason === 'stopped') return { text: 'Ended by the person', code: 'exec.stopped_by_person' }
  if (end.reason === 'shutdown') return { text: 'Ended: Lathe is closing', code: 'app.closing' }
  return { text: end.exitCode === null ? `Ended by ${end.signal ?? 'a signal'}` : `Exit ${end.exitCode}` }
}

function clip(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`
}
