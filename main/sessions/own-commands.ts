/** Runs the person's own commands: at once, on a terminal, without model, turn or card; only what is forbidden in every mode is refused. */
import { LatheError } from '../../preload/contract/errors.ts'
import { newId } from '../../preload/contract/ids.ts'
import { toolSummaryCharsMax, toolTitleCharsMax } from '../../preload/contract/limits.ts'
import type { Settings } from '../../preload/contract/settings.ts'
import type { Environment } from '../exec/environment.ts'
import type { ExecSession } from '../exec/exec-session.ts'
import { ExecSessions, seconds } from '../exec/exec-sessions.ts'
import { cutOutput } from '../exec/output.ts'
import { findShell, shellLaunch, type ShellName } from '../exec/shell.ts'
import type { Effect } from '../tools/tool.ts'
import type { Rights } from '../turns/requests.ts'
import type { Sessions } from './sessions.ts'

export type OwnCommandsPorts = {
  sessions: Sessions
  exec: ExecSessions
  environment: Environment
  settings(): Settings
  classify(command: string, folder: string): Promise<Effect[]>
  redact(text: string): string
}

/** Characters of output that go along with the person's next message. */
const noteChars = 10_000
/** Live output of one command that is journaled; its terminal shows the rest. */
const liveMax = 64 * 1024

export class OwnCommands {
  /** By the command's item. */
  private readonly running = new Map<string, { sessionId: string; session: ExecSession }>()
  private readonly ports: OwnCommandsPorts

  constructor(ports: OwnCommandsPorts) {
    this.ports = ports
  }

  /** Throws `exec.disabled`, `command.forbidden`, `workspace.missing`, `exec.limit`, `exec.spawn_failed`. Resolves once it runs and is shown. */
  async start(
    sessionId: string,
    line: string,
    rights?: Rights,
  ): Promise<{ itemId: string; finished: Promise<number | null> }> {
    const { ports } = this
    if (!ports.settings()['exec.enabled'])
      throw new LatheError('exec.disabled', 'Commands are switched off in Settings.')
    const command = line.trimStart()
    const folder = (await ports.sessions.actor(sessionId)).peek().view.header.workspace
    const forbidden = (await ports.classify(command, folder)).find((effect) => effect.kind === 'forbidden')
    if (forbidden?.kind === 'forbidden') throw new LatheError('command.forbidden', forbidden.reason)
    const env = await ports.environment.forCommand({ sessionId, workspace: folder }, true)
    const shell = await findShell(
      env,
      undefined,
      (ports.settings()['exec.shell'] ?? undefined) as ShellName | undefined,
    )
    const itemId = newId()
    await ports.sessions.command(
      sessionId,
      {
        type: 'command.started',
        itemId,
        line: ports.redact(command),
        title: ports.redact(command).slice(0, toolTitleCharsMax),
        folder,
      },
      rights,
    )
    const launch = shellLaunch(shell, command, false)
    try {
      const session = await ports.exec.start(sessionId, {
        owner: 'person',
        preview: ports.redact(ExecSessions.preview(command)),
        folder,
        tty: true,
        itemId,
        timeoutMs: null,
        launch: { ...launch, cwd: folder, env: { ...env, ...launch.env } },
        live: this.liveOf(sessionId, itemId),
      })
      await ports.exec.tell(sessionId, session)
      return { itemId, finished: this.follow(sessionId, itemId, session) }
    } catch (error) {
      await this.end(sessionId, itemId, { exitCode: null, signal: null }, String((error as Error).message), '', false)
      throw error
    }
  }

  private liveOf(sessionId: string, itemId: string): (text: string) => void {
    let shown = 0
    return (text) => {
      if (shown >= liveMax) return
      shown += text.length
      void this.ports.sessions.command(sessionId, { type: 'command.output', itemId, add: text }).catch(() => {})
    }
  }

  private follow(sessionId: string, itemId: string, session: ExecSession): Promise<number | null> {
    this.running.set(itemId, { sessionId, session })
    const finished = session.ended.then(async () => {
      this.running.delete(itemId)
      const end = session.end!
      const text = cutOutput(session.capture.offer().kept, noteChars, `exec:${session.id}`)
      await this.end(sessionId, itemId, end, text, session.capture.shown('stdout'), end.reason === 'stopped')
      return end.exitCode
    })
    finished.catch(() => {})
    return finished
  }

  /** Brings up to date what the person's next message tells of their commands that still run. */
  async note(sessionId: string): Promise<void> {
    const mine = [...this.running].filter(([, row]) => row.sessionId === sessionId)
    await Promise.all(
      mine.map(([itemId, { session }]) =>
        this.ports.sessions.command(sessionId, {
          type: 'command.noted',
          itemId,
          state: `running as ${session.id} for ${seconds(session.elapsedMs)}`,
          output: cutOutput(session.capture.offer().kept, noteChars, `exec:${session.id}`),
        }),
      ),
    )
  }

  /** Ends one of the person's commands; false where it is none of theirs that runs. */
  stop(itemId: string): boolean {
    const row = this.running.get(itemId)
    if (!row) return false
    void row.session.stop()
    return true
  }

  private async end(
    sessionId: string,
    itemId: string,
    end: { exitCode: number | null; signal: string | null },
    text: string,
    stdout: string,
    stopped: boolean,
  ): Promise<void> {
    const { exitCode, signal } = end
    await this.ports.sessions.command(sessionId, {
      type: 'command.ended',
      itemId,
      exitCode,
      signal,
      view: { stdout, stderr: '', exitCode, signal },
      summary: text.slice(0, toolSummaryCharsMax),
      output: text,
      stopped,
    })
  }
}
