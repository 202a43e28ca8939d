/** Runs the person's own commands: at once, without model, turn or card; only what is forbidden in every mode is refused. */
import { LatheError } from '../../preload/contract/errors.ts'
import { newId } from '../../preload/contract/ids.ts'
import { toolSummaryCharsMax, toolTitleCharsMax } from '../../preload/contract/limits.ts'
import type { Settings } from '../../preload/contract/settings.ts'
import type { Environment } from '../exec/environment.ts'
import { cutOutput } from '../exec/output.ts'
import { findShell, startCommand, type RunningCommand, type ShellName } from '../exec/shell.ts'
import type { Effect } from '../tools/tool.ts'
import type { Sessions } from './sessions.ts'

export type OwnCommandsPorts = {
  sessions: Sessions
  environment: Environment
  /** Folder of spool files. */
  spoolFolder: string
  settings(): Settings
  classify(command: string, folder: string): Promise<Effect[]>
  redact(text: string): string
}

/** Characters of output that go along with the person's next message. */
const noteChars = 10_000
/** A person's command has no hard limit; timers end at 2^31-1 ms. */
const noLimitMs = 2 ** 31 - 1

export class OwnCommands {
  private readonly running = new Map<string, RunningCommand>()
  private readonly stopped = new Set<string>()
  private readonly ports: OwnCommandsPorts

  constructor(ports: OwnCommandsPorts) {
    this.ports = ports
  }

  /** Throws `exec.disabled`, `command.forbidden`, `workspace.missing`, `exec.spawn_failed`. Resolves once it runs and is shown. */
  async start(sessionId: string, line: string): Promise<{ itemId: string; finished: Promise<number | null> }> {
    const { ports } = this
    if (!ports.settings()['exec.enabled'])
      throw new LatheError('exec.disabled', 'Commands are switched off in Settings.')
    const command = line.trimStart()
    const folder = (await ports.sessions.actor(sessionId)).peek().view.header.workspace
    const forbidden = (await ports.classify(command, folder)).find((effect) => effect.kind === 'forbidden')
    if (forbidden?.kind === 'forbidden') throw new LatheError('command.forbidden', forbidden.reason)
    const env = await ports.environment.forCommand({ sessionId, workspace: folder })
    const shell = await findShell(
      env,
      undefined,
      (ports.settings()['exec.shell'] ?? undefined) as ShellName | undefined,
    )
    const itemId = newId()
    await ports.sessions.command(sessionId, {
      type: 'command.started',
      itemId,
      line: ports.redact(command),
      title: ports.redact(command).slice(0, toolTitleCharsMax),
      folder,
    })
    const process = await startCommand({
      shell,
      command,
      login: false,
      cwd: folder,
      env,
      timeoutMs: noLimitMs,
      capture: { folder: ports.spoolFolder },
    }).catch(async (error: unknown) => {
      await this.end(sessionId, itemId, {
        exitCode: null,
        signal: null,
        text: String((error as Error).message),
        stdout: '',
        stderr: '',
      })
      throw error
    })
    this.running.set(itemId, process)
    const finished = process.finished.then(async ({ end, output }) => {
      this.running.delete(itemId)
      const text = ports.redact(cutOutput(output.reduced, noteChars))
      await this.end(sessionId, itemId, {
        exitCode: end.exitCode,
        signal: end.signal,
        text,
        stdout: ports.redact(output.stdout),
        stderr: ports.redact(output.stderr),
      })
      await output.release()
      return end.exitCode
    })
    finished.catch(() => {})
    return { itemId, finished }
  }

  /** Ends one of the person's commands; false where it is none of theirs that runs. */
  stop(itemId: string): boolean {
    const process = this.running.get(itemId)
    if (!process) return false
    this.stopped.add(itemId)
    void process.process.stop('stopped')
    return true
  }

  private async end(
    sessionId: string,
    itemId: string,
    end: { exitCode: number | null; signal: string | null; text: string; stdout: string; stderr: string },
  ): Promise<void> {
    await this.ports.sessions.command(sessionId, {
      type: 'command.ended',
      itemId,
      exitCode: end.exitCode,
      signal: end.signal,
      view: { stdout: end.stdout, stderr: end.stderr, exitCode: end.exitCode, signal: end.signal },
      summary: end.text.slice(0, toolSummaryCharsMax),
      output: end.text,
      stopped: this.stopped.delete(itemId),
    })
  }
}
