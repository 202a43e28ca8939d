/** Choosing a shell and running one command in it, from start to end (sections 2 and 3). */
import { LatheError } from '../../preload/contract/errors.ts'
import type { Launch } from './carrier.ts'
import { type CapturedOutput, type CaptureOptions, OutputCapture } from './capture.ts'
import type { Env } from './environment.ts'
import { findProgram } from './find-program.ts'
import { type ProcessEnd, type ProcessLedger, type RunningProcess, startProcess } from './process.ts'

export const shellNames = ['bash', 'sh', 'zsh', 'pwsh', 'powershell', 'cmd'] as const
export type ShellName = (typeof shellNames)[number]

export type Shell = { name: ShellName; file: string }

/**
 * The shell asked for, else `preferred` (`exec.shell`), else the platform's. Throws `exec.shell_not_found` naming
 * those installed; nothing else is tried in the place of one that was asked for.
 */
export async function findShell(env: Env, asked?: ShellName, preferred?: ShellName): Promise<Shell> {
  const wanted = asked ?? preferred
  const defaults: ShellName[] = process.platform === 'win32' ? ['pwsh', 'powershell'] : ['bash', 'sh']
  for (const name of wanted ? [wanted] : defaults) {
    const file = await findProgram(name, env)
    if (file) return { name, file }
  }
  const installed = (await Promise.all(shellNames.map((name) => findProgram(name, env))))
    .map((file, at) => file && shellNames[at])
    .filter(Boolean)
  throw new LatheError('exec.shell_not_found', `The shell ${wanted ?? defaults.join(' or ')} is not installed.`, {
    hint: installed.length > 0 ? `Installed: ${installed.join(', ')}.` : 'No known shell was found on PATH.',
  })
}

/**
 * PowerShell has no way to take a script as one untouched argument and still give the last program's exit code as its
 * own, so the command travels in a variable of this name and the script around it is fixed.
 */
const powershellVariable = 'LATHE_COMMAND'
const powershellScript = [
  '[Console]::OutputEncoding = [Text.UTF8Encoding]::new()',
  `$command = $env:${powershellVariable}`,
  `Remove-Item Env:${powershellVariable}`,
  'Invoke-Expression $command',
  '$succeeded = $?',
  'if ($null -ne $LASTEXITCODE) { exit $LASTEXITCODE }',
  'if (-not $succeeded) { exit 1 }',
].join('; ')

/** How a shell is given a command: as one argument, never spliced into a larger script. */
export function shellLaunch(
  shell: Shell,
  command: string,
  login: boolean,
): Pick<Launch, 'file' | 'args' | 'verbatimArguments'> & { env: Env } {
  const { name, file } = shell
  switch (name) {
    case 'bash':
      return { file, args: login ? ['-l', '-c', command] : ['--noprofile', '--norc', '-c', command], env: {} }
    case 'zsh':
      return { file, args: login ? ['-l', '-c', command] : ['-f', '-c', command], env: {} }
    case 'sh':
      return { file, args: ['-c', command], env: {} }
    case 'pwsh':
    case 'powershell':
      return {
        file,
        args: ['-NoLogo', '-NoProfile', '-NonInteractive', '-Command', powershellScript],
        env: { [powershellVariable]: command },
      }
    case 'cmd':
      return { file, args: ['/d', '/s', '/c', `"${command}"`], verbatimArguments: true, env: {} }
  }
}

export type ShellCommand = {
  shell: Shell
  command: string
  login: boolean
  /** Absolute. */
  cwd: string
  env: Env
  /** Milliseconds; null: no limit. */
  timeoutMs: number | null
  capture: CaptureOptions
  ledger?: ProcessLedger | undefined
}

/** A one-shot command on its way. */
export type RunningCommand = {
  /**
   * Settles when the command ended and, unless it exited by itself, its whole tree with it. Never rejects. `left` takes
   * what processes it left in the background print from then on.
   */
  finished: Promise<{ end: ProcessEnd; output: CapturedOutput; left: OutputCapture | null; durationMs: number }>
  process: RunningProcess
}

/** Starts a command in a shell, on pipes. Throws `exec.spawn_failed`. */
export async function startCommand(command: ShellCommand): Promise<RunningCommand> {
  const began = performance.now()
  const launch = shellLaunch(command.shell, command.command, command.login)
  let capture = new OutputCapture(command.capture)
  const running = await startProcess({
    ...launch,
    cwd: command.cwd,
    env: { ...command.env, ...launch.env },
    outputByName: true,
    ledger: command.ledger,
    output: (stream, bytes) => capture.push(stream, bytes),
  })
  capture.onPressure((high) => (high ? running.pause() : running.resume()))
  const timer =
    command.timeoutMs === null ? undefined : setTimeout(() => void running.stop('timed_out'), command.timeoutMs)
  // An exit is no time-out: what it left in the background is not ended for being slow to drain.
  void running.exited.then(() => clearTimeout(timer))
  const finished = running.end.then((end) => {
    clearTimeout(timer)
    const output = capture.finish()
    const { folder, redactor } = command.capture
    const left = end.background ? (capture = new OutputCapture({ folder, redactor })) : null
    return { end, output, left, durationMs: Math.round(performance.now() - began) }
  })
  return { finished, process: running }
}
