/** What the requests of a session are made of, read at one instant: for a turn, and for the summary of older turns (C-60). */
import type { Agent, ChosenAgent } from '../agent/agent-files.ts'
import { budgetOf, type Budget } from '../agent/budget.ts'
import {
  limitImages,
  neededBodies,
  projectItems,
  SentPictures,
  type Bodies,
  type NeededFile,
} from '../agent/context.ts'
import { contextReport } from '../agent/context-report.ts'
import { joinPrompt, systemPrompt } from '../agent/system-prompt.ts'
import { countMessage, countTools } from '../agent/token-count.ts'
import { typeOfContent } from '../files/content-type.ts'
import { isImageType, sizeNote, type Images } from '../files/images.ts'
import type { ModelInfo, ModelMessage, Models, ToolSpec } from '../models/model.ts'
import type { Storage } from '../storage/storage.ts'
import type { SessionState } from '../turns/state.ts'
import { schemaOf } from '../tools/arguments.ts'
import { nothingToReport } from '../tools/nothing-to-report.ts'
import { createRegistry, type Registry } from '../tools/registry.ts'
import { LatheError } from '../../preload/contract/errors.ts'
import type { Item } from '../../preload/contract/items.ts'
import type { ContextReport } from '../../preload/contract/session-routes.ts'
import type { ExtraFolder, Parent, SessionHeader, Turn } from '../../preload/contract/session.ts'
import type { Settings } from '../../preload/contract/settings.ts'
import { chosenAgent, type ChoicePorts } from './turn-choice.ts'

export type ModelContextPorts = {
  storage: Pick<Storage, 'sentItems' | 'contextItems' | 'blobs'>
  /** `background`: nobody waits for the turn, and it may end without a word (T-33). */
  tools(settings: Settings, background: boolean, depth: number): Registry
  images: Images
  settings(): Settings
  /** Whether a folder is trusted; absent: all are (Z-4). */
  isTrusted?: ((workspace: string) => boolean) | undefined
  /** Name of the shell the `shell` tool uses in a workspace, for the system prompt. */
  shellName(workspace: string): Promise<string>
}

export type ModelContext = {
  model: ModelInfo
  budget: Budget
  registry: Registry
  tools: ToolSpec[]
  toolTokens: number
  system: string
  /** Tokens of system prompt and tools. */
  fixed: number
  /** From the summary in force on. */
  items: Item[]
  turns: Turn[]
  /** A stretch of `items` as messages; pictures past the limit are sentences (F-1224). */
  messages(items: readonly Item[]): { messages: ModelMessage[]; leftOut: number }
}

export async function loadModelContext(
  ports: ModelContextPorts,
  session: {
    id: string
    workspace: string
    extraFolders: readonly ExtraFolder[]
    background: boolean
    agent: ChosenAgent | null
    parent?: Parent | undefined
  },
  model: string,
  models: Models,
  signal: AbortSignal,
): Promise<ModelContext> {
  const agent = usable(session.agent)
  const registry = offeredTo(agent, ports.tools(ports.settings(), session.background, session.parent?.depth ?? 0))
  const [info, stored, shell] = await Promise.all([
    models.describe(model, signal),
    ports.storage.sentItems(session.id),
    ports.shellName(session.workspace),
  ])
  const [sections, bodies] = await Promise.all([
    systemPrompt({
      workspace: session.workspace,
      extraFolders: session.extraFolders,
      trusted: ports.isTrusted?.(session.workspace) ?? true,
      tools: registry.tools.map((tool) => tool.name),
      shell,
      agent,
      subagent: session.parent !== undefined,
    }),
    loadBodies(ports, neededBodies(stored.items, stored.turns)),
  ])
  const tools = registry.tools.map((tool): ToolSpec => ({
    name: tool.name,
    description: tool.description,
    parameters: schemaOf(tool),
  }))
  const system = joinPrompt(sections)
  const toolTokens = countTools(tools)
  return {
    model: info,
    budget: budgetOf(info, ports.settings()),
    registry,
    tools,
    toolTokens,
    system,
    fixed: countMessage({ role: 'system', text: system }) + toolTokens,
    ...stored,
    messages: (items) => limitImages(projectItems(items, stored.turns, bodies)),
  }
}

/** Throws why a chosen agent cannot be used (T-160). */
function usable(agent: ChosenAgent | null): Agent | null {
  if (agent && 'problem' in agent) throw new LatheError(agent.problem.code, agent.problem.message, agent.problem)
  return agent
}

/** An agent has the tools its file lists; that there is nothing to report can always be said (T-33). */
function offeredTo(agent: Agent | null, registry: Registry): Registry {
  const listed = agent?.tools
  if (!listed) return registry
  return createRegistry(
    registry.tools.filter((tool) => listed.includes(tool.name) || tool.name === nothingToReport.name),
  )
}

/** Enough of a file to tell what it is. */
const headBytes = 4_100
const notLoaded = new Uint8Array()

/** Bodies of what a request names; pictures from the newest on, until it holds as many as it may (F-1224). */
export async function loadBodies(
  { storage, images: pictures }: { storage: Pick<Storage, 'blobs'>; images: Images },
  needed: { results: readonly string[]; attachments: readonly NeededFile[] },
): Promise<Bodies> {
  const load = async (hash: string) => storage.blobs.get(hash).catch(() => null)
  const results = new Map<string, string>()
  for (const hash of new Set(needed.results)) {
    const bytes = await load(hash)
    if (bytes) results.set(hash, new TextDecoder().decode(bytes))
  }
  const attachments = new Map<string, Uint8Array>()
  const images = new Map<string, { mediaType: string; data: Uint8Array; note: string }>()
  const sent = new SentPictures()
  for (const { hash, isPicture, isPrepared } of needed.attachments.toReversed()) {
    if (isPicture && sent.isFull && !attachments.has(hash)) {
      attachments.set(hash, notLoaded)
      images.set(hash, { mediaType: 'image/png', data: notLoaded, note: '' })
      continue
    }
    const bytes = attachments.get(hash) ?? (await load(hash))
    if (!bytes) continue
    attachments.set(hash, bytes)
    if (!isPrepared && !images.has(hash)) await prepare(hash, bytes)
    sent.fits((isPrepared ? bytes : images.get(hash)?.data)?.length ?? 0)
  }
  return { results, attachments, images }

  async function prepare(hash: string, bytes: Uint8Array): Promise<void> {
    if (!isImageType(typeOfContent(bytes.subarray(0, headBytes), true))) return
    // One that cannot be shown goes as a line with its name: it never breaks a turn (F-1212).
    const image = await pictures.prepare(bytes).catch(() => null)
    const data = image && (await load(image.hash))
    if (image && data) images.set(hash, { mediaType: image.mediaType, data, note: sizeNote(image) })
  }
}

/** What fills a session's context now (C-10). */
export async function reportContext(
  ports: ModelContextPorts & ChoicePorts,
  header: SessionHeader,
): Promise<ContextReport> {
  const chosen = header.agent ? await chosenAgent(ports, header.agent, header.workspace) : null
  // One that cannot be used fails the turn, not the look at what fills the context.
  const agent = chosen && 'problem' in chosen ? null : chosen
  const { tools } = offeredTo(agent, ports.tools(ports.settings(), false, header.parent?.depth ?? 0))
  const [{ items, turns }, shell] = await Promise.all([
    ports.storage.contextItems(header.id),
    ports.shellName(header.workspace),
  ])
  const prompt = await systemPrompt({
    workspace: header.workspace,
    extraFolders: header.extraFolders,
    trusted: ports.isTrusted?.(header.workspace) ?? true,
    tools: tools.map((tool) => tool.name),
    shell,
    agent,
    subagent: header.parent !== undefined,
  })
  return contextReport({
    model: turns.at(-1)?.model ?? header.model,
    figures: header.context,
    prompt,
    tools,
    items,
    turns,
  })
}

/** A stored body is one of this session's: an attachment, or what a call left. */
export async function holdsBody(
  storage: Pick<Storage, 'contextItems'>,
  sessionId: string,
  hash: string,
): Promise<boolean> {
  const { items } = await storage.contextItems(sessionId)
  return items.some((item) =>
    item.kind === 'user'
      ? item.attachments.some((attachment) => attachment.hash === hash)
      : item.kind === 'notice'
        ? item.outputRef === hash
        : item.kind === 'tool' && (item.resultRef === hash || item.view?.outputRef === hash),
  )
}

/** The model is sent the result of this call whole with each request: of the running turn memory tells, of others what is stored. */
export async function isSent(
  { id, state }: { id: string; state: SessionState },
  storage: Pick<Storage, 'sentItems'>,
  callId: string,
): Promise<boolean> {
  const own = state.turn && state.view.items.findLast((item) => item.id === callId && item.turnId === state.turn?.id)
  if (own) return own.kind === 'tool' && own.contextual && !own.pruned
  const { items, turns } = await storage.sentItems(id)
  const retried = new Set(turns.map(({ retryOf }) => retryOf))
  const item = items.find((one) => one.id === callId)
  return item?.kind === 'tool' && !item.pruned && (item.turnId === null || !retried.has(item.turnId))
}
