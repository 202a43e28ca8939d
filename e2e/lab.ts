/**
 * A lab: a data folder, a git checkout of a sample workspace and a scripted model, all of one test's own, and Lathe
 * started in it as people start it, by `bin/lathe`. Disposing it ends what still runs and removes every file.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, readdir, readlink, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { ErrorBody } from '../preload/contract/errors.ts'
import { StoredEvent } from '../preload/contract/events.ts'
import { startModelServer, type ModelServer, type RecordedRequest, type Step } from './model-server/server.ts'

const exec = promisify(execFile)
const root = resolve(import.meta.dirname, '..')
const launcher = join(root, 'bin/lathe')
/** Longer than any healthy start, turn or end takes on a busy machine; what it cuts off is a hang. */
const hangMs = 60_000

export type SampleWorkspace = 'ms' | 'semver-compare' | 'escape-string-regexp'

/** A host that stays asks for a title when it has time; no script has to foresee when. */
const title: Step = { repeat: 'always', when: { contains: 'Write a title' }, emit: [{ text: 'A scripted title' }] }

export type LabOptions = {
  workspace?: SampleWorkspace
  script?: Step[]
  /** `config.json`: goes over the usual one, which names `lab/scripted`. A text is written as it is. */
  config?: string | Record<string, unknown> | ((server: ModelServer) => Record<string, unknown>)
  env?: Record<string, string | undefined>
}

export type StartOptions = {
  stdin?: string
  env?: Record<string, string | undefined>
  /** How long it may run before it counts as hanging. */
  limitMs?: number
}

export type Ended = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string }

export class Lab {
  /** Everything lies in here. */
  readonly folder: string
  /** `LATHE_HOME`. */
  readonly home: string
  readonly workspace: string
  readonly server: ModelServer
  readonly env: NodeJS.ProcessEnv
  readonly #started: LatheProcess[] = []

  private constructor(folder: string, server: ModelServer, env: NodeJS.ProcessEnv) {
    this.folder = folder
    this.home = join(folder, 'data')
    this.workspace = join(folder, 'workspace')
    this.server = server
    this.env = env
  }

  static async open({ workspace = 'ms', script, config, env }: LabOptions = {}): Promise<Lab> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'lathe-lab-')))
    const server = await startModelServer({ script: [title] })
    const lab = new Lab(folder, server, {
      // Only what a login gives, so that no setting of whoever runs the tests decides them.
      PATH: [dirname(process.execPath), process.env['PATH']].join(':'),
      HOME: join(folder, 'person'),
      TMPDIR: join(folder, 'tmp'),
      SHELL: '/bin/sh',
      LANG: 'C.UTF-8',
      LATHE_HOME: join(folder, 'data'),
      GIT_CONFIG_GLOBAL: '/dev/null',
      ...env,
    })
    lab.script(script ?? [])
    for (const made of [lab.home, lab.env['HOME']!, lab.env['TMPDIR']!]) await mkdir(made)
    await lab.configure(typeof config === 'function' ? config(server) : (config ?? {}))
    await cp(join(import.meta.dirname, 'workspaces', workspace), lab.workspace, { recursive: true })
    await lab.git('init', '--quiet', '--initial-branch=main')
    await lab.git('add', '.')
    await lab.git('-c', 'user.name=Lab', '-c', 'user.email=lab@localhost', 'commit', '--quiet', '--message=As found')
    return lab
  }

  /** Replaces what the model is still to say. */
  script(script: Step[]): void {
    this.server.script([title, ...script])
  }

  /** The requests of turns, without those for titles. */
  asked(): RecordedRequest[] {
    return this.server.asked().filter(({ body }) => !JSON.stringify(body).includes('Write a title'))
  }

  async configure(config: Record<string, unknown> | string): Promise<void> {
    const lab = { kind: 'openai-compatible', baseUrl: this.server.baseUrl, models: ['scripted'] }
    const text =
      typeof config === 'string' ? config : JSON.stringify({ providers: { lab }, model: 'lab/scripted', ...config })
    await writeFile(join(this.home, 'config.json'), text)
  }

  async git(...args: string[]): Promise<string> {
    return (await exec('git', ['-C', this.workspace, ...args], { env: { ...this.env, PATH: process.env['PATH'] } }))
      .stdout
  }

  /** Whether the tests of the workspace pass. */
  async testsPass(): Promise<boolean> {
    return exec(process.execPath, ['--test'], { cwd: this.workspace, env: this.env, timeout: hangMs }).then(
      () => true,
      () => false,
    )
  }

  async read(path: string): Promise<string> {
    return readFile(join(this.workspace, path), 'utf8')
  }

  /** Starts `bin/lathe` in the workspace. */
  start(args: string[], options: StartOptions = {}): LatheProcess {
    const child = spawn(launcher, args, { cwd: this.workspace, env: { ...this.env, ...options.env }, stdio: 'pipe' })
    const started = new LatheProcess(child, args, options.limitMs)
    child.stdin.on('error', () => {})
    child.stdin.end(options.stdin ?? '')
    this.#started.push(started)
    return started
  }

  /** Runs `bin/lathe` to its end. */
  async lathe(args: string[], options: StartOptions = {}): Promise<Ended> {
    return this.start(args, options).ended
  }

  /** Command lines of the processes that work in this lab, whoever started them. Linux only; elsewhere empty. */
  async processes(): Promise<string[]> {
    const found: string[] = []
    for (const pid of (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))) {
      const of = async (what: string) => readFile(`/proc/${pid}/${what}`, 'utf8').catch(() => '')
      const [environ, cwd, status] = [
        await of('environ'),
        await readlink(`/proc/${pid}/cwd`).catch(() => ''),
        await of('stat'),
      ]
      const isDead = /\) [ZX] /.test(status)
      if (!isDead && (environ.includes(this.folder) || cwd.startsWith(this.folder)))
        found.push((await of('cmdline')).replaceAll('\0', ' ').trim())
    }
    return found
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const started of this.#started) started.kill('SIGKILL')
    await Promise.allSettled(this.#started.map(({ ended }) => ended))
    try {
      await this.server.close()
    } finally {
      await rm(this.folder, { recursive: true, force: true, maxRetries: 5 })
    }
  }
}

/** One started `bin/lathe`; the launcher gives its process over to Node, so the id is that of Lathe itself. */
export class LatheProcess {
  readonly pid: number
  readonly child: ChildProcess
  /** Once it has exited and its output is closed; rejects where it hangs. */
  readonly ended: Promise<Ended>
  stdout = ''
  stderr = ''
  readonly #listeners = new Set<() => void>()

  constructor(child: ChildProcess, args: string[], limitMs = hangMs) {
    this.pid = child.pid!
    this.child = child
    const heard = (name: 'stdout' | 'stderr') => (part: string) => {
      this[name] += part
      for (const listener of this.#listeners) listener()
    }
    child.stdout!.setEncoding('utf8').on('data', heard('stdout'))
    child.stderr!.setEncoding('utf8').on('data', heard('stderr'))
    this.ended = new Promise((done, fail) => {
      const limit = setTimeout(() => {
        child.kill('SIGKILL')
        fail(
          new Error(
            `lathe ${args.join(' ')} did not end.\nstdout: ${this.stdout.slice(-2_000)}\nstderr: ${this.stderr}`,
          ),
        )
      }, limitMs)
      child.once('error', fail)
      child.once('close', (code, signal) => {
        clearTimeout(limit)
        for (const listener of this.#listeners) listener()
        done({ code, signal, stdout: this.stdout, stderr: this.stderr })
      })
    })
    this.ended.catch(() => {})
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null
  }

  kill(signal: NodeJS.Signals): void {
    if (this.isRunning) this.child.kill(signal)
  }

  /** Complete lines of stdout so far. */
  get lines(): string[] {
    return this.stdout.split('\n').slice(0, -1)
  }

  /** The first line of stdout that fits; rejects where the process ends without it. */
  async line(fits: (line: string) => boolean): Promise<string> {
    return this.#first(() => this.lines.find(fits))
  }

  /** Resolves once stderr has said it; rejects where the process ends without it. */
  async said(text: string): Promise<void> {
    await this.#first(() => (this.stderr.includes(text) ? text : undefined))
  }

  async #first(find: () => string | undefined): Promise<string> {
    for (;;) {
      const found = find()
      if (found !== undefined) return found
      if (this.child.stdout!.closed || !this.isRunning) {
        const ended = await this.ended
        const late = find()
        if (late !== undefined) return late
        throw new Error(
          `lathe ended with ${ended.code ?? ended.signal} before that.\nstdout: ${ended.stdout}\nstderr: ${ended.stderr}`,
        )
      }
      await new Promise<void>((heard) => {
        const listener = () => {
          this.#listeners.delete(listener)
          heard()
        }
        this.#listeners.add(listener)
      })
    }
  }
}

/** The first line of `lathe run --json` (S-126). */
const Header = z.strictObject({
  type: z.literal('session'),
  sessionId: z.string(),
  turnId: z.string(),
  workspace: z.string(),
  model: z.string(),
})

export type Ran = { header: z.infer<typeof Header>; events: StoredEvent[] }

/**
 * Header and events that `lathe run --json` printed. Each must be what the contract says, without a field beyond it; a
 * last line cut off by a kill is left out.
 */
export function readRun(stdout: string): Ran {
  const [first = '', ...rest] = stdout.split('\n').slice(0, -1)
  const events = rest.map((line) => {
    const raw: unknown = JSON.parse(line)
    const event = StoredEvent.parse(raw)
    if (JSON.stringify(sorted(event)) !== JSON.stringify(sorted(raw)))
      throw new Error(`The contract does not know all of this event: ${line}`)
    return event
  })
  return { header: Header.parse(JSON.parse(first)), events }
}

const ErrorLine = ErrorBody.extend({ type: z.literal('error') })

/** The one line of `lathe ... --json` where nothing could begin (S-126). */
export function readError(stdout: string): z.infer<typeof ErrorLine> {
  const lines = stdout.trimEnd().split('\n')
  if (lines.length !== 1) throw new Error(`One line was expected:\n${stdout}`)
  return ErrorLine.parse(JSON.parse(lines[0]!))
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  )
}
