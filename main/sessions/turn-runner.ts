/** Runs the worker of an admitted turn: slot, model, context, then the step loop; every report goes to the session's actor. */
import { errorBody } from '../../preload/contract/errors.ts'
import { newId } from '../../preload/contract/ids.ts'
import type { Settings } from '../../preload/contract/settings.ts'
import { neededBodies, projectItems, type Bodies } from '../agent/context.ts'
import type { Release } from '../agent/reports.ts'
import { runTurn } from '../agent/run-turn.ts'
import { joinPrompt, systemPrompt } from '../agent/system-prompt.ts'
import type { TurnPort } from '../agent/turn-port.ts'
import type { Models } from '../models/model.ts'
import type { Redaction } from '../platform/redaction.ts'
import type { Storage } from '../storage/storage.ts'
import type { Registry } from '../tools/registry.ts'
import type { SessionActor, TurnHandle } from './actor.ts'
import type { Slots } from './slots.ts'

export type RunnerPorts = {
  storage: Pick<Storage, 'contextItems' | 'blobs'>
  models: Models
  tools(settings: Settings): Registry
  slots: Slots
  settings(): Settings
  /** Name of the shell the `shell` tool uses, for the system prompt. */
  shellName(): Promise<string>
  redaction(): Redaction
  now(): number
}

export async function runAdmittedTurn(actor: SessionActor, handle: TurnHandle, ports: RunnerPorts): Promise<void> {
  const port = portOf(actor, handle, ports.now)
  let release: (() => void) | null = null
  try {
    await port.report({ type: 'preparing' })
    const background = actor.peek().turn?.background ?? false
    if (ports.slots.full) await port.report({ type: 'slot', waiting: true })
    release = await ports.slots.take(background ? 1 : 0, port.signal)
    await prepareAndRun(actor, port, ports)
  } catch (error) {
    // Preparation is guarded like the rest: what throws ends the turn, unless the turn was ended anyway (T-6, T-109).
    if (!port.signal.aborted) await port.report({ type: 'failed', error: errorBody(error) })
    await port.report({ type: 'unwound' })
  } finally {
    release?.()
  }
}

async function prepareAndRun(actor: SessionActor, port: TurnPort, ports: RunnerPorts): Promise<void> {
  const settings = ports.settings()
  const { view } = actor.peek()
  const row = view.turns.find((turn) => turn.id === port.turnId)
  if (!row) return
  const models = ports.models.forTurn()
  const registry = ports.tools(settings)
  const [model, stored, shell] = await Promise.all([
    models.describe(row.model, port.signal),
    ports.storage.contextItems(actor.id),
    ports.shellName(),
  ])
  const [system, bodies] = await Promise.all([
    systemPrompt({ workspace: view.header.workspace, tools: registry.tools.map((tool) => tool.name), shell }),
    loadBodies(ports.storage, neededBodies(stored.items)),
  ])
  await port.report({ type: 'running' })
  await runTurn({
    port,
    registry,
    blobs: ports.storage.blobs,
    workspace: view.header.workspace,
    extraFolders: view.header.extraFolders,
    parallel: settings['tools.parallel'],
    redaction: ports.redaction(),
    models,
    model,
    effort: view.header.effort ?? settings.effort,
    maxSteps: settings['turns.maxSteps'],
    system: joinPrompt(system),
    history: projectItems(stored.items, stored.turns, bodies),
    loadBodies: (attachments) => loadBodies(ports.storage, { results: [], attachments }),
  })
}

async function loadBodies(
  storage: Pick<Storage, 'blobs'>,
  needed: { results: string[]; attachments: readonly { hash: string }[] },
): Promise<Bodies> {
  const load = async (hash: string) => storage.blobs.get(hash).catch(() => null)
  const results = new Map<string, string>()
  for (const hash of new Set(needed.results)) {
    const bytes = await load(hash)
    if (bytes) results.set(hash, new TextDecoder().decode(bytes))
  }
  const attachments = new Map<string, Uint8Array>()
  for (const hash of new Set(needed.attachments.map((one) => one.hash))) {
    const bytes = await load(hash)
    if (bytes) attachments.set(hash, bytes)
  }
  return { results, attachments }
}

function portOf(actor: SessionActor, handle: TurnHandle, now: () => number): TurnPort {
  const { turnId, controller } = handle
  return {
    turnId,
    sessionId: actor.id,
    signal: controller.signal,
    report: (report) => actor.report(turnId, report).catch(() => ({ steers: [], ended: true })),
    stream: (report) => actor.stream(turnId, report),
    ticket: (ticket) => new Promise<Release>((resolve) => handle.tickets.set(ticket, resolve)),
    requestSignal: () => {
      handle.request = new AbortController()
      return AbortSignal.any([controller.signal, handle.request.signal])
    },
    newId,
    now,
  }
}
