/** Runs the worker of an admitted turn: slot, model, context, then the step loop; every report goes to the session's actor. */
import { errorBody } from '../../preload/contract/errors.ts'
import { newId } from '../../preload/contract/ids.ts'
import type { SessionView } from '../../preload/contract/session.ts'
import type { Settings } from '../../preload/contract/settings.ts'
import { limitImages, neededBodies, projectItems, type Bodies } from '../agent/context.ts'
import { runTurn } from '../agent/run-turn.ts'
import { joinPrompt, systemPrompt } from '../agent/system-prompt.ts'
import type { TurnPort } from '../agent/turn-port.ts'
import type { Models } from '../models/model.ts'
import { orStop } from '../models/stop.ts'
import { typeOfContent } from '../files/content-type.ts'
import { isImageType, sizeNote, type Images } from '../files/images.ts'
import type { Redaction } from '../platform/redaction.ts'
import type { Storage } from '../storage/storage.ts'
import type { Registry } from '../tools/registry.ts'
import type { SessionActor } from './actor.ts'
import type { Slots } from './slots.ts'
import type { TurnHandle } from './turn-handle.ts'

export type RunnerPorts = {
  storage: Pick<Storage, 'contextItems' | 'blobs'>
  models: Models
  /** `background`: nobody waits for the turn, and it may end without a word (T-33). */
  tools(settings: Settings, background: boolean): Registry
  slots: Slots
  images: Images
  settings(): Settings
  /** Name of the shell the `shell` tool uses, for the system prompt. */
  shellName(): Promise<string>
  redaction(): Redaction
  now(): number
}

/** Enough of a file to tell what it is. */
const headBytes = 4_100

/** Never throws: whatever goes wrong, preparation included, ends the turn, and the session stays usable (T-6). */
export async function runAdmittedTurn(actor: SessionActor, handle: TurnHandle, ports: RunnerPorts): Promise<void> {
  const port = portOf(actor, handle, ports.now)
  // As it was admitted: what is chosen while it waits for its place is for the next turn (T-18).
  const { view } = actor.peek()
  try {
    await port.report({ type: 'preparing' })
    // Turns that nobody waits for were counted before they were admitted; neither kind waits for the other (T-21).
    if (!actor.peek().turn?.background) {
      if (ports.slots.full) await port.report({ type: 'slot', waiting: true })
      const isGoal = actor.peek().view.turns.at(-1)?.source === 'goal'
      const release = await ports.slots.take(isGoal ? 1 : 0, port.signal)
      // A call that is deaf to its signal keeps no other turn waiting: the place is free once this one has settled.
      void handle.ended.then(release)
    }
    await prepareAndRun(view, port, ports)
  } catch (error) {
    // What is thrown after the abort is no failure of the turn (T-109).
    if (!port.signal.aborted) await port.report({ type: 'failed', error: errorBody(error) })
  }
  await port.report({ type: 'unwound' })
}

async function prepareAndRun(view: SessionView, port: TurnPort, ports: RunnerPorts): Promise<void> {
  const settings = ports.settings()
  const row = view.turns.find((turn) => turn.id === port.turnId)
  if (!row) throw new Error(`Turn ${port.turnId} has no row.`)
  const models = ports.models.forTurn()
  const background = row.origin === 'background'
  const registry = ports.tools(settings, background)
  const prepare = async () => {
    const [model, stored, shell] = await Promise.all([
      models.describe(row.model, port.signal),
      ports.storage.contextItems(port.sessionId),
      ports.shellName(),
    ])
    const [system, bodies] = await Promise.all([
      systemPrompt({ workspace: view.header.workspace, tools: registry.tools.map((tool) => tool.name), shell }),
      loadBodies(ports, neededBodies(stored.items)),
    ])
    const history = limitImages(projectItems(stored.items, stored.turns, bodies))
    if (history.leftOut > 0) {
      const text = `${history.leftOut} older ${history.leftOut === 1 ? 'image is' : 'images are'} not sent to the model any more: a request holds 20 images and 50 MiB.`
      void port.report({ type: 'notice', level: 'info', text })
    }
    return { model, system: joinPrompt(system), history: history.messages }
  }
  const prepared = await orStop(prepare(), port.signal)
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
    ...prepared,
    effort: view.header.effort ?? settings.effort,
    maxSteps: settings[background ? 'turns.maxStepsBackground' : 'turns.maxSteps'],
    loadBodies: (attachments) => loadBodies(ports, { results: [], attachments }),
  })
}

async function loadBodies(
  { storage, images: pictures }: Pick<RunnerPorts, 'storage' | 'images'>,
  needed: { results: string[]; attachments: readonly { hash: string }[] },
): Promise<Bodies> {
  const load = async (hash: string) => storage.blobs.get(hash).catch(() => null)
  const results = new Map<string, string>()
  for (const hash of new Set(needed.results)) {
    const bytes = await load(hash)
    if (bytes) results.set(hash, new TextDecoder().decode(bytes))
  }
  const attachments = new Map<string, Uint8Array>()
  const images = new Map<string, { mediaType: string; data: Uint8Array; note: string }>()
  for (const hash of new Set(needed.attachments.map((one) => one.hash))) {
    const bytes = await load(hash)
    if (!bytes) continue
    attachments.set(hash, bytes)
    if (!isImageType(typeOfContent(bytes.subarray(0, headBytes), true))) continue
    // One that cannot be shown goes as a line with its name: it never breaks a turn (F-1212).
    const image = await pictures.prepare(bytes).catch(() => null)
    const data = image && (await load(image.hash))
    if (image && data) images.set(hash, { mediaType: image.mediaType, data, note: sizeNote(image) })
  }
  return { results, attachments, images }
}

function portOf(actor: SessionActor, handle: TurnHandle, now: () => number): TurnPort {
  const { turnId, controller } = handle
  return {
    turnId,
    sessionId: actor.id,
    signal: controller.signal,
    report: (report, when) => actor.report(turnId, report, when).catch(() => ({ steers: [], ended: true })),
    stream: (report) => actor.stream(turnId, report),
    ticket: (ticket) => handle.ticket(ticket),
    requestSignal: () => handle.requestSignal(),
    newId,
    now,
  }
}
