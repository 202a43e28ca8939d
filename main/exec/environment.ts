/**
 * The environment children get (section 1): what the person's login shell would give them, without what is Lathe's own
 * or a provider's. Nothing here changes `process.env`; every answer is a new record.
 */
import { randomBytes } from 'node:crypto'
import { homedir, userInfo } from 'node:os'
import { basename, delimiter, join } from 'node:path'
import { runCommand } from './command.ts'

export type Env = Record<string, string>

/** What configuration says about children of one workspace. */
export type EnvironmentSettings = {
  /** Names no child may get: every `apiKeyEnv`, and the usual ones of the providers' kinds (X-106). */
  denied: readonly string[]
  /** `exec.passEnv`: names given back all the same. */
  passed: readonly string[]
  /** `exec.env`, global and then workspace: laid over the result. */
  added: Env
}

export type EnvironmentOptions = {
  /** The host's own environment, read once. */
  host: NodeJS.ProcessEnv
  settings(workspace: string): EnvironmentSettings
  /** Told once when the login shell could not be read. */
  notice?(text: string): void
  /** The host's own environment is a shell's already: a login shell would only cost time (K-28 is about starts without one). */
  startedFromShell?: boolean
  /** The login shell; default `SHELL`, else the account's. */
  loginShell?: string
  /** Milliseconds the login shell may take; default 10,000. */
  limitMs?: number
  home?: string
  platform?: NodeJS.Platform
}

export interface Environment {
  /** For programs Lathe runs for itself in a workspace: git, ripgrep, tool servers. */
  forProgram(workspace: string): Promise<Env>
  /** For commands of the agent. */
  forCommand(owner: { sessionId: string; workspace: string }, pty?: boolean): Promise<Env>
  /** For the person's own terminals. */
  forTerminal(owner: { terminalId: string; workspace: string }): Promise<Env>
  /** Reads the login shell again; running processes keep what they had. */
  reload(): Promise<void>
}

/** Lathe's own and the host runtime's: not the person's to pass on. `LATHE_HOME` names a place, no secret. */
const neverPassed = /^(ELECTRON_.*|LATHE_(?!HOME$).*|NODE_OPTIONS|BASH_ENV|ENV)$/i

/** The shell's own bookkeeping, which would be wrong in another process. */
const shellsOwn = new Set(['_', 'SHLVL', 'PWD', 'OLDPWD'])

const nonInteractive: Env = {
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  MANPAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  GIT_EDITOR: 'true',
  PYTHONUNBUFFERED: '1',
}

/** Starts reading the login shell at once; whoever asks meanwhile waits for it. */
export function createEnvironment(options: EnvironmentOptions): Environment {
  const platform = options.platform ?? process.platform
  const host = definedOf(options.host)
  let base = readBase()

  async function readBase(): Promise<Env> {
    if (platform === 'win32' || options.startedFromShell) return host
    try {
      return await readLoginShell(options, host)
    } catch (error) {
      options.notice?.(
        `The environment of your login shell could not be read (${(error as Error).message}). Programs it sets up may not be found.`,
      )
      const home = options.home ?? homedir()
      const path = [host['PATH'] ?? '', '/usr/local/bin', '/opt/homebrew/bin', join(home, '.local/bin')]
      return { ...host, PATH: path.filter(Boolean).join(delimiter) }
    }
  }

  async function forWorkspace(workspace: string, ours: Env = {}): Promise<Env> {
    const { denied, passed, added } = options.settings(workspace)
    const key = (name: string): string => (platform === 'win32' ? name.toUpperCase() : name)
    const deny = new Set(denied.map(key))
    const pass = new Set(passed.map(key))
    const env: Env = {}
    const read = await base
    // The login shell itself was not given what is never passed on, so that is found in the host's environment only.
    for (const [name, value] of Object.entries({ ...host, ...read })) {
      const ours = neverPassed.test(name) || shellsOwn.has(name) || deny.has(key(name))
      if (pass.has(key(name)) || (!ours && name in read)) env[name] = value
    }
    // A locale the person chose is kept; programs that find none would fall back to ASCII.
    if (!env['LANG'] && !env['LC_ALL']) env['LANG'] = 'C.UTF-8'
    return { ...env, ...ours, ...added }
  }

  return {
    forProgram: (workspace) => forWorkspace(workspace),
    forCommand: ({ sessionId, workspace }, pty = false) =>
      forWorkspace(workspace, {
        ...nonInteractive,
        ...(pty ? { TERM: 'xterm-256color' } : { TERM: 'dumb', NO_COLOR: '1' }),
        LATHE_SESSION_ID: sessionId,
        LATHE_WORKSPACE: workspace,
      }),
    forTerminal: ({ terminalId, workspace }) =>
      forWorkspace(workspace, {
        TERM: 'xterm-256color',
        COLORTERM: 'truecolor',
        TERM_PROGRAM: 'lathe',
        LATHE_TERMINAL_ID: terminalId,
      }),
    async reload() {
      base = readBase()
      await base
    },
  }
}

/** What ripgrep and git get of the host's environment: where programs and the person's own ignore files are. */
export function programEnvironment(host: NodeJS.ProcessEnv): Env {
  const wanted = ['PATH', 'HOME', 'XDG_CONFIG_HOME', 'USERPROFILE', 'APPDATA', 'SystemRoot', 'LANG']
  return Object.fromEntries(Object.entries(definedOf(host)).filter(([name]) => wanted.includes(name)))
}

function definedOf(host: NodeJS.ProcessEnv): Env {
  return Object.fromEntries(Object.entries(host).filter((entry): entry is [string, string] => entry[1] !== undefined))
}

/**
 * Runs the login shell interactively, as a new terminal would, and reads the environment it prints between two random
 * markers; what its start-up files print is ignored. Throws where it fails or takes too long.
 */
async function readLoginShell(options: EnvironmentOptions, host: Env): Promise<Env> {
  const file = options.loginShell ?? (host['SHELL'] || userInfo().shell || '/bin/sh')
  const mark = randomBytes(16).toString('hex')
  // `env -0` is not everywhere; without it a value with a line feed is put together again by its lines.
  const script = `printf %s ${mark}; command env -0 2>/dev/null || command env; printf %s ${mark}`
  // The C shells take `-l` only by itself.
  const args = /^t?csh$/.test(basename(file))
    ? ['-i', '-c', script.replace(/command |2>\/dev\/null /g, '')]
    : ['-i', '-l', '-c', script]
  const env = Object.fromEntries(Object.entries(host).filter(([name]) => !neverPassed.test(name)))
  const cwd = options.home ?? homedir()
  const { stdout } = await runCommand({
    file,
    args,
    cwd,
    env,
    timeoutMs: options.limitMs ?? 10_000,
    maxBytes: 4 * 1024 * 1024,
  })
  const printed = stdout.toString('utf8').split(mark)
  if (printed.length !== 3) throw new Error(`${file} printed no environment`)
  return parseEnvironment(printed[1]!)
}

/** `NAME=value` entries ended by NUL, or else by line feeds. */
export function parseEnvironment(printed: string): Env {
  const entries = printed.includes('\0') ? printed.split('\0') : printed.split(/\n(?=[A-Za-z_][A-Za-z0-9_]*=)/)
  const env: Env = {}
  for (const entry of entries) {
    const at = entry.indexOf('=')
    if (at > 0)
      env[entry.slice(0, at)] = printed.includes('\0') ? entry.slice(at + 1) : entry.slice(at + 1).replace(/\n$/, '')
  }
  return env
}
