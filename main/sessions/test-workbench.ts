/** A workbench for tests: real storage, models and runner in a folder of its own; tools that the test holds in its hand. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { SessionEvent, StoredEvent } from '../../preload/contract/events.ts'
import { foldEvent } from '../../preload/contract/fold.ts'
import { newId } from '../../preload/contract/ids.ts'
import type { Item, ItemOf } from '../../preload/contract/items.ts'
import type { SubmitReply } from '../../preload/contract/session-routes.ts'
import type { SessionView } from '../../preload/contract/session.ts'
import { defaultSettings, type Settings } from '../../preload/contract/settings.ts'
import { AgentFiles } from '../agent/agent-files.ts'
import { Images } from '../files/images.ts'
import { Paths } from '../files/paths.ts'
import { readProvidersConfig } from '../models/config.ts'
import { createModels } from '../models/models.ts'
import { createRedaction } from '../platform/redaction.ts'
import type { Faults } from '../storage/faults.ts'
import { openStorage } from '../storage/open-storage.ts'
import type { Storage } from '../storage/storage.ts'
import { askPerson } from '../tools/ask-person.ts'
import { createRegistry } from '../tools/registry.ts'
import { nothingToReport } from '../tools/nothing-to-report.ts'
import { createSubagentTool } from '../tools/subagent.ts'
import type { CallPlan, Tool, ToolContext, ToolResult } from '../tools/tool.ts'
import { updatePlan } from '../tools/update-plan.ts'
import type { SessionActor } from './actor.ts'
import { Compactions } from './compactions.ts'
import { ProviderPauses } from './provider-pauses.ts'
import { Sessions, type SessionsPorts } from './sessions.ts'
import type { Submission } from './turn-requests.ts'
import { Slots } from './slots.ts'
import { runAdmittedTurn } from './turn-runner.ts'

export type TestWorkbench = {
  home: string
  workspace: string
  storage: Storage
  sessions: Sessions
  compactions: Compactions
  pauses: ProviderPauses
  agents: AgentFiles
  /** As they are now; a test may change them. */
  settings: Settings
  /** Changes the settings of provider `lab` from now on, as an edit of the configuration does. */
  configure(lab: Record<string, unknown>): void
  tools: HeldTools
  log: { level: string; message: string; fields: Record<string, unknown> }[]
  /** An unsent session in the workspace. */
  create(): SessionActor
  submit(actor: SessionActor, text: string, more?: Partial<Submission>): Promise<SubmitReply>
  /** Submits and answers the turn that started. */
  start(actor: SessionActor, text: string, more?: Partial<Submission>): Promise<string>
  follow(actor: SessionActor): Promise<Follower>
  /** Closes storage as it is, without settling anything: what a kill leaves. */
  abandon(): Promise<void>
  close(): Promise<void>
}

export type TestWorkbenchOptions = {
  home: string
  /** Of the scripted model server, protocol `openai-compatible`. */
  baseUrl: string
  faults?: Faults
  /** Goes over the settings of provider `lab`. */
  lab?: Record<string, unknown>
  /** Where keys are read from. */
  env?: NodeJS.ProcessEnv
  /** Goes over the real models. */
  models?: (real: ReturnType<typeof createModels>) => Partial<ReturnType<typeof createModels>>
  /** Goes over the real storage. */
  storage?: (real: Storage) => Partial<Storage>
  /** Awaited while a turn is prepared. */
  preparing?: () => Promise<void>
  afterSettle?: SessionsPorts['afterSettle']
  /** Older turns are summarised after a turn that made it due. */
  compactsAfter?: boolean
  changesRecorded?: SessionsPorts['changesRecorded']
}

export async function openTestWorkbench(options: TestWorkbenchOptions): Promise<TestWorkbench> {
  const { home, faults } = options
  const workspace = join(home, 'workspace')
  await mkdir(workspace, { recursive: true })
  const stored = await openStorage({ home, ...(faults ? { faults } : {}) })
  const storage: Storage = { ...stored, ...options.storage?.(stored) }
  const settings: Settings = { ...defaultSettings, 'titles.auto': false }
  const configOf = (more: Record<string, unknown> = {}) => {
    const lab = { kind: 'openai-compatible', baseUrl: options.baseUrl, models: ['scripted'], ...more }
    return readProvidersConfig({ providers: { lab }, model: 'lab/scripted' })
  }
  let config = configOf(options.lab)
  const env = options.env ?? {}
  const real = createModels({ config: () => config, secret: async () => null, env, random: () => 1 })
  const models = { ...real, ...options.models?.(real) }
  const log: TestWorkbench['log'] = []
  const tools = new HeldTools()
  const subagent = createSubagentTool((request, context) => sessions.subagents.ask(request, context))
  const slots = new Slots(() => settings['turns.maxConcurrent'])
  const context = {
    storage,
    tools: (_: Settings, background: boolean, depth: number) =>
      createRegistry([
        ...tools.tools,
        updatePlan,
        askPerson,
        ...(depth < settings['subagents.depth'] ? [subagent] : []),
        ...(background && depth === 0 ? [nothingToReport] : []),
      ]),
    images: new Images(storage.blobs),
    settings: () => settings,
    shellName: async () => {
      await options.preparing?.()
      return 'none'
    },
    redaction: () => createRedaction({ known: [], loose: false }),
    now: Date.now,
  }
  const agents = new AgentFiles({
    home,
    isTrusted: async () => true,
    toolNames: () => [...tools.tools, updatePlan, askPerson].map((tool) => tool.name),
  })
  const choice = { chooseModel: (name: string | null) => models.choose(name).model, agents }
  const compactions = new Compactions({
    ...context,
    ...choice,
    models,
    log: (level, message, fields) => log.push({ level, message, fields }),
  })
  // The workspace of a test lies in its data folder, where nothing may be reached.
  const paths = new Paths({ dataFolder: join(home, 'blobs') })
  const pauses = new ProviderPauses({
    storage,
    changed: () => {},
    ended: () => sessions.pauseEnded(),
    log: (message, fields) => log.push({ level: 'warn', message, fields }),
    now: () => Date.now(),
  })
  await pauses.load()
  const sessions: Sessions = new Sessions({
    storage,
    settings: () => settings,
    rules: () => [],
    ...choice,
    startTurn: (actor) => {
      if (!actor.handle) return
      void runAdmittedTurn(actor, actor.handle, { ...context, models, slots, compactions })
    },
    afterSettle: options.afterSettle ?? ((actor) => void (options.compactsAfter && compactions.afterSettle(actor))),
    abortCompaction: (sessionId, jobId) => compactions.abort(sessionId, jobId),
    entryChanged: () => {},
    entryRemoved: () => {},
    execSecret: () => {},
    rulesChanged: () => {},
    mentions: { path: (place, path) => paths.resolve(place, path), terminal: async () => null },
    pauses,
    connected: () => false,
    running: () => [],
    changesRecorded: (ids) => options.changesRecorded?.(ids),
    notify: () => {},
    log: (level, message, fields) => log.push({ level, message, fields }),
    now: Date.now,
  })
  let abandoned = false
  const submit: TestWorkbench['submit'] = (actor, text, more = {}) =>
    sessions.turns.submit(actor.id, {
      requestId: newId(),
      text,
      attachments: [],
      attendance: 'attended',
      ...more,
    })
  return {
    home,
    workspace,
    storage,
    sessions,
    compactions,
    pauses,
    agents,
    settings,
    configure: (lab) => (config = configOf(lab)),
    tools,
    log,
    create: () => sessions.create({ workspace }),
    submit,
    start: async (actor, text, more) => {
      const reply = await submit(actor, text, more)
      if (reply.accepted !== 'started') throw new Error(`The message was ${reply.accepted}.`)
      return reply.turnId
    },
    follow: (actor) => Follower.open(sessions, actor.id),
    abandon: async () => {
      abandoned = true
      await pauses.stop()
      await storage.close()
      for (const actor of sessions.running()) actor.handle?.controller.abort('killed')
    },
    close: async () => {
      if (!abandoned) await Promise.all([sessions.close(5_000), compactions.close()])
      await pauses.stop()
      await storage.close()
    },
  }
}

type Held = { name: string; context: ToolContext; finish(result?: Partial<ToolResult>): void; fail(error: Error): void }

/**
 * Tools `hold`, `hold_deaf`, `shell` and `look`, which only reads: a call waits until the test ends it, the deaf one also after an abort; `asks` needs
 * consent, `unplanned` is never looked at to its end.
 */
class HeldTools {
  readonly tools: Tool[]
  /** Calls that run or ran, in the order they began. */
  readonly held: Held[] = []
  /** Told of each call as it begins. */
  onHeld: (held: Held) => void = () => {}
  private wake: (() => void)[] = []

  constructor() {
    const Input = z.object({ name: z.string(), asks: z.boolean().optional(), unplanned: z.boolean().optional() })
    const tool = (name: string, deaf: boolean): Tool<z.infer<typeof Input>> => ({
      name,
      description: 'Waits.',
      input: Input,
      concurrent: true,
      timeLimitMs: null,
      title: (input) => input.name,
      plan: async (input) => {
        if (input.unplanned) await new Promise(() => {})
        return {
          effects: input.asks
            ? [{ kind: 'command', words: ['run', input.name], text: `run ${input.name}`, readOnly: false }]
            : [{ kind: 'none' }],
          preview: { title: input.name, detail: input.name, detailKind: 'text' },
        }
      },
      run: (input, context) =>
        new Promise((resolve, reject) => {
          const held: Held = {
            name: input.name,
            context,
            finish: (result) => resolve({ text: `${input.name} done`, isError: false, ...result }),
            fail: reject,
          }
          this.held.push(held)
          if (!deaf) context.signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
          this.onHeld(held)
          for (const wake of this.wake.splice(0)) wake()
        }),
    })
    const looks: CallPlan['effects'] = [{ kind: 'read', path: '/app/a.txt', inside: true, secret: false }]
    const look: Tool<z.infer<typeof Input>> = {
      ...tool('look', false),
      reproducible: true,
      plan: async ({ name }) => ({ effects: looks, preview: { title: name, detail: name, detailKind: 'path' } }),
    }
    this.tools = [tool('hold', false), tool('hold_deaf', true), tool('shell', false), look]
  }

  /** The call of this name, once it runs. */
  async running(name: string): Promise<Held> {
    for (;;) {
      const found = this.held.find((one) => one.name === name)
      if (found) return found
      await new Promise<void>((resolve) => this.wake.push(resolve))
    }
  }
}

/** A window: opens a session, folds its events, and waits for what it shows. */
export class Follower {
  view: SessionView
  readonly events: SessionEvent[] = []
  private readonly ended = new AbortController()
  private wake: (() => void)[] = []

  private constructor(view: SessionView) {
    this.view = view
  }

  static async open(sessions: Sessions, id: string): Promise<Follower> {
    const follower = new Follower(await sessions.open(id))
    void follower.read(sessions, id)
    return follower
  }

  get items(): readonly Item[] {
    return this.view.items
  }

  itemsOf<K extends Item['kind']>(kind: K): ItemOf<K>[] {
    return this.view.items.filter((item) => item.kind === kind) as ItemOf<K>[]
  }

  of<T extends SessionEvent['type']>(type: T): Extract<SessionEvent, { type: T }>[] {
    return this.events.filter((event) => event.type === type) as Extract<SessionEvent, { type: T }>[]
  }

  /** Resolves once `test` holds of the view; the limit is the test's own. */
  async until(test: (view: SessionView) => unknown): Promise<SessionView> {
    while (!test(this.view)) await new Promise<void>((resolve) => this.wake.push(resolve))
    return this.view
  }

  async event<T extends SessionEvent['type']>(
    type: T,
    test: (event: Extract<SessionEvent, { type: T }>) => boolean = () => true,
  ): Promise<Extract<SessionEvent, { type: T }>> {
    for (;;) {
      const found = this.of(type).find(test)
      if (found) return found
      await new Promise<void>((resolve) => this.wake.push(resolve))
    }
  }

  settled(turnId: string): Promise<Extract<StoredEvent, { type: 'turn.settled' }>> {
    return this.event('turn.settled', (event) => event.turnId === turnId)
  }

  stop(): void {
    this.ended.abort()
  }

  private async read(sessions: Sessions, id: string): Promise<void> {
    const { header, journalId } = this.view
    for await (const event of sessions.events(id, header.lastSeq, journalId, this.ended.signal)) {
      this.events.push(event)
      if (event.seq !== null) this.view = foldEvent(this.view, event)
      for (const wake of this.wake.splice(0)) wake()
    }
  }
}
