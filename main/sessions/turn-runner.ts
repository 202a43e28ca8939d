/** Runs the worker of an admitted turn: slot, model, context, then the step loop; every report goes to the session's actor. */
import { errorBody, LatheError } from '../../preload/contract/errors.ts'
import { newId } from '../../preload/contract/ids.ts'
import type { ContextFigures, SessionView } from '../../preload/contract/session.ts'
import type { ChosenAgent } from '../agent/agent-files.ts'
import { budgetOf, inputMin } from '../agent/budget.ts'
import { Conversation, type Earlier } from '../agent/conversation.ts'
import { filesOf } from '../agent/context.ts'
import { isDue } from '../agent/coverage.ts'
import { runTurn } from '../agent/run-turn.ts'
import { countMessages } from '../agent/token-count.ts'
import type { TurnPort } from '../agent/turn-port.ts'
import type { ModelMessage, Models } from '../models/model.ts'
import { orStop } from '../models/stop.ts'
import type { Redaction } from '../platform/redaction.ts'
import type { SessionActor } from './actor.ts'
import type { Compactions, Outcome } from './compactions.ts'
import { loadBodies, loadModelContext, type ModelContext, type ModelContextPorts } from './model-context.ts'
import type { Slots } from './slots.ts'
import type { TurnHandle } from './turn-handle.ts'

export type RunnerPorts = ModelContextPorts & {
  models: Models
  slots: Slots
  compactions: Compactions
  redaction(): Redaction
  now(): number
}

/** Never throws: whatever goes wrong, preparation included, ends the turn, and the session stays usable (T-6). */
export async function runAdmittedTurn(actor: SessionActor, handle: TurnHandle, ports: RunnerPorts): Promise<void> {
  const port = portOf(actor, handle, ports.now)
  // As it was admitted: what is chosen while it waits for its place is for the next turn (T-18).
  const { view, turn } = actor.peek()
  const agent = turn?.agent ?? null
  try {
    await port.report({ type: 'preparing' })
    // Turns that nobody waits for were counted before they were admitted; neither kind waits for the other (T-21).
    // A subagent works in its parent's place.
    if (!actor.peek().turn?.background && !view.header.parent) {
      if (ports.slots.full) await port.report({ type: 'slot', waiting: true })
      const isGoal = actor.peek().view.turns.at(-1)?.source === 'goal'
      const release = await ports.slots.take(isGoal ? 1 : 0, port.signal)
      // A call that is deaf to its signal keeps no other turn waiting: the place is free once this one has settled.
      void handle.ended.then(release)
    }
    await prepareAndRun(actor, { view, agent }, port, ports)
  } catch (error) {
    // What is thrown after the abort is no failure of the turn (T-109).
    if (!port.signal.aborted) await port.report({ type: 'failed', error: errorBody(error) })
  }
  await port.report({ type: 'unwound' })
}

async function prepareAndRun(
  actor: SessionActor,
  { view, agent }: { view: SessionView; agent: ChosenAgent | null },
  port: TurnPort,
  ports: RunnerPorts,
): Promise<void> {
  const settings = ports.settings()
  const { header } = view
  const row = view.turns.find((turn) => turn.id === port.turnId)
  if (!row) throw new Error(`Turn ${port.turnId} has no row.`)
  const models = ports.models.forTurn()
  const background = row.origin === 'background'
  const { parent } = header
  const { workspace, extraFolders } = header
  const session = { id: actor.id, workspace, extraFolders, background, agent, parent }
  const load = () => orStop(loadModelContext(ports, session, row.model, models, port.signal), port.signal)
  let context = await load()
  checkSize(context)
  if (
    ports.compactions.running(actor.id) ||
    isFull(context, split(context, row.userItemId), actor.peek().view.header.context)
  ) {
    await makeRoom(actor, port, ports, { reason: 'before_turn', needed: false })
    context = await load()
  }
  const { earlier, own, leftOut } = split(context, row.userItemId)
  if (leftOut > 0) {
    const text = `${leftOut} older ${leftOut === 1 ? 'image is' : 'images are'} not sent to the model any more: a request holds 20 images and 50 MiB.`
    void port.report({ type: 'notice', level: 'info', text })
  }
  const { registry, model, tools } = context
  const figures = actor.peek().view.header.context
  const conversation = new Conversation({
    model: model.name,
    system: context.system,
    toolTokens: context.toolTokens,
    earlier,
    own,
    budget: context.budget,
    known: figures.model === model.name && figures.used !== null ? figures.used + countMessages(own) : null,
    reproducible: (name) => registry.tools.some((tool) => tool.name === name && tool.reproducible),
    pruned: (itemIds) => port.report({ type: 'pruned', itemIds }),
    compact: async (wish) => {
      const outcome = await makeRoom(actor, port, ports, { reason: 'in_turn', needed: true, ...wish })
      return outcome.came === 'compacted' ? split(await load(), row.userItemId).earlier : null
    },
    notice: (text) => void port.report({ type: 'notice', level: 'info', text }),
  })
  await port.report({ type: 'running' })
  await runTurn({
    port,
    parent,
    registry,
    tools,
    conversation,
    budget: () => budgetOf(models.resolve(model.name), settings),
    blobs: ports.storage.blobs,
    workspace: header.workspace,
    extraFolders: () => actor.peek().view.header.extraFolders,
    parallel: settings['tools.parallel'],
    redaction: ports.redaction(),
    models,
    model,
    effort: header.effort ?? (agent && 'effort' in agent ? agent.effort : null) ?? settings.effort,
    maxSteps: settings[parent ? 'subagents.maxSteps' : background ? 'turns.maxStepsBackground' : 'turns.maxSteps'],
    closes: !parent,
    loadBodies: (attachments) => loadBodies(ports, { results: [], attachments: filesOf(attachments) }),
  })
}

/** Waits for a summary of older turns, with the status line saying so (T-60, T-100). */
async function makeRoom(
  actor: SessionActor,
  port: TurnPort,
  ports: RunnerPorts,
  wish: Parameters<Compactions['forTurn']>[1],
): Promise<Outcome> {
  const outcome = await ports.compactions.forTurn(actor, wish, port.signal, (since) =>
    port.report({ type: 'compacting', since }),
  )
  await port.report({ type: 'compacting', since: null })
  return outcome
}

type Split = { earlier: Earlier; own: ModelMessage[]; leftOut: number }

/** What came before this turn, with the summary in force, and what is its own. */
function split({ items, messages }: ModelContext, userItemId: string): Split {
  const opening = items.find((item) => item.id === userItemId)
  const before = items.filter((item) => opening && item.pos < opening.pos)
  const all = messages(items)
  const at = messages(before).messages.length
  const marks = before[0]?.kind === 'compaction' ? 1 : 0
  return {
    earlier: { summary: all.messages.slice(0, marks), messages: all.messages.slice(marks, at) },
    own: all.messages.slice(at),
    leftOut: all.leftOut,
  }
}

/** Due before this turn; figures of another model make nothing due (C-43, C-45). */
function isFull(
  { budget, model, fixed, items }: ModelContext,
  { earlier, own }: Split,
  figures: ContextFigures,
): boolean {
  const { thresholds, window } = budget
  if (!thresholds || (figures.model !== null && figures.model !== model.name)) return false
  const counted = fixed + countMessages([...earlier.summary, ...earlier.messages])
  const total = (figures.used ?? counted) + countMessages(own)
  return isDue(
    total,
    thresholds.compactAt,
    items.find((item) => item.kind === 'compaction'),
    window,
  )
}

/** A model too small for the system prompt and the tools can do nothing (C-15, C-44). */
function checkSize({ budget, fixed, model }: ModelContext): void {
  if (budget.input >= inputMin && fixed <= budget.input - besideFixedMin) return
  throw new LatheError('config.invalid', `The context of ${model.label} is too small to work in.`, {
    reason: 'context_too_small',
    hint: 'Choose a model with a longer context, or set its contextLength in config.json.',
  })
}

/** Tokens without which no conversation fits beside system prompt and tools. */
const besideFixedMin = 1_024

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
