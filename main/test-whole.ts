/** What tests of the whole workbench begin with: a data folder, a scripted model, folders to work in. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startModelServer, type ModelServer, type Step } from '../e2e/model-server/server.ts'
import { newId } from '../preload/contract/ids.ts'
import type { Attachment } from '../preload/contract/items.ts'
import { createLog, type Log } from './platform/log.ts'
import { createWorkbench, type Workbench } from './workbench.ts'

/** Who asks, where a route is called. */
export const who = { clientId: newId(), kind: 'web' as const, attendance: 'attended' as const }
export const call = (name: string, args: Record<string, unknown>) => ({ call: { name, args } })
export const says = (text: string): Step => ({ emit: [{ text }] })

/** Processes that one of them ends are ended for the whole process: a test file has one at a time. */
export class Whole {
  readonly root: string
  readonly server: ModelServer
  bench!: Workbench
  log!: Log

  private constructor(root: string, server: ModelServer) {
    this.root = root
    this.server = server
  }

  /** `lab` goes over the settings of the one provider. */
  static async open(lab: Record<string, unknown> = {}): Promise<Whole> {
    const root = await realpath(await mkdtemp(join(tmpdir(), 'lathe-whole-')))
    const whole = new Whole(root, await startModelServer())
    await mkdir(whole.home)
    const provider = { kind: 'openai-compatible', baseUrl: whole.server.baseUrl, models: ['scripted'], ...lab }
    const config = { providers: { lab: provider }, model: 'lab/scripted' }
    await writeFile(join(whole.home, 'config.json'), JSON.stringify(config))
    await whole.start()
    return whole
  }

  get home(): string {
    return join(this.root, 'home')
  }

  /** Opens the data folder, again after `bench.dispose()`. */
  async start(): Promise<void> {
    this.log = createLog({ home: this.home, redact: (line) => line })
    const { home, log } = this
    this.bench = await createWorkbench({ home, kind: 'web', version: '0', lasting: false, log })
    await this.bench.start()
  }

  /** A new, empty folder. */
  async workspace(): Promise<string> {
    const path = await mkdtemp(join(this.root, 'app-'))
    await this.bench.handlers.workspaces.open({ requestId: newId(), path, trust: true }, who)
    return path
  }

  /** Begins a turn that the model answers by `script`; resolves with its id. */
  async begin(
    sessionId: string,
    { text = 'Do it', attachments = [] }: { text?: string; attachments?: Attachment[] },
    ...script: Step[]
  ): Promise<string> {
    this.server.enqueue(...script)
    const submission = { requestId: newId(), text, attachments, attendance: 'attended' as const }
    const reply = await this.bench.sessions.turns.submit(sessionId, submission)
    if (reply.accepted !== 'started') throw new Error(`The message was ${reply.accepted}.`)
    return reply.turnId
  }

  async settled(sessionId: string, turnId: string): Promise<void> {
    await this.bench.sessions.settled(await this.bench.sessions.actor(sessionId), turnId)
  }

  /** A turn to its end. */
  async turn(...asked: Parameters<Whole['begin']>): Promise<string> {
    const turnId = await this.begin(...asked)
    await this.settled(asked[0], turnId)
    return turnId
  }

  /** What the model was sent last. */
  lastRequest(): string {
    return JSON.stringify(this.server.asked().at(-1)?.body)
  }

  async close(): Promise<void> {
    await this.bench.dispose()
    await this.server.close()
    await rm(this.root, { recursive: true, force: true })
  }
}
