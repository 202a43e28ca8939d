/**
 * The one reducer of a session: main folds it over what it decided, windows over what they receive, recovery over what
 * the journal holds. Live, late and replayed readers therefore hold equal state at equal seq (T-201).
 */
import type { StoredEvent } from './events.ts'
import type { Item } from './items.ts'
import { toolOutputCharsMax } from './limits.ts'
import type { ItemSlice, RunningTurn, SessionHeader, SessionView, Turn } from './session.ts'
import type { Usage } from './usage.ts'

export const noUsage: Usage = {
  input: null,
  output: null,
  reasoning: null,
  cacheRead: null,
  cacheWrite: null,
  total: null,
  cost: null,
}

/** A session's header before anything is known of it: a new session, and what a damaged field falls back to (S-7). */
export const blankHeader: SessionHeader = {
  id: '',
  rev: 0,
  createdAt: 0,
  updatedAt: 0,
  workspace: '',
  extraFolders: [],
  title: 'New session',
  titleSource: 'default',
  model: null,
  effort: null,
  agent: null,
  approvalMode: 'ask',
  muted: false,
  lastSeq: 0,
  readSeq: 0,
  notableSeq: 0,
  currentTurnId: null,
  lastTurnId: null,
  lastOutcome: null,
  pinnedAt: null,
  archivedAt: null,
  deletedAt: null,
  forkOf: null,
  usage: noUsage,
  lastUsage: null,
  context: { used: null, window: null, compactAt: null, estimated: false, model: null },
  compaction: null,
  plan: null,
  notices: [],
  queue: { followUps: [], paused: null },
  recovery: null,
  automaticHeld: null,
  itemCount: 0,
}

/** `view` after `event`; the same object where nothing a reader sees changed. Events must come in order, gaps are the caller's to find. */
export function foldEvent(view: SessionView, event: StoredEvent): SessionView {
  const next = change(view, event)
  return { ...next, header: { ...next.header, lastSeq: event.seq } }
}

function change(view: SessionView, event: StoredEvent): SessionView {
  switch (event.type) {
    case 'turn.started': {
      const row: Turn = {
        id: event.turnId,
        userItemId: event.userItemId,
        requestId: event.requestId,
        origin: event.origin,
        source: event.source,
        ...(event.automation === undefined ? {} : { automation: event.automation }),
        model: event.model,
        ...(event.agent === undefined ? {} : { agent: event.agent }),
        ...(event.agentAsked === undefined ? {} : { agentAsked: event.agentAsked }),
        ...(event.followUpId === undefined ? {} : { followUpId: event.followUpId }),
        ...(event.retryOf === undefined ? {} : { retryOf: event.retryOf }),
        ...(event.continues === undefined ? {} : { continues: event.continues }),
        startedAt: event.at,
        settledAt: null,
        outcome: null,
        durationMs: null,
        waitedMs: 0,
        steps: 0,
        usage: noUsage,
        rate: null,
      }
      const turn: RunningTurn = { id: event.turnId, step: 0, status: null, steers: [], usage: noUsage, rate: null }
      return withHeader({ ...view, turns: [...view.turns, row], turn }, { currentTurnId: event.turnId })
    }
    case 'turn.status':
      return withTurn(view, { status: event.status })
    case 'turn.settled': {
      // A clipped snapshot adds nothing to an item that is held whole.
      const settled = event.items.reduce(
        (now, item) => (item.omitted !== undefined && indexOf(now.items, item.id) >= 0 ? now : putItem(now, item)),
        view,
      )
      const turns = settled.turns.map((row) => (row.id === event.turnId ? event.turn : row))
      return { ...settled, turns, turn: null, header: event.session }
    }
    case 'step.started': {
      const turns = view.turns.map((row) => (row.id === event.turnId ? { ...row, steps: event.step } : row))
      return withTurn({ ...view, turns }, { step: event.step })
    }
    case 'step.ended':
      return view
    case 'plan.changed':
      return withHeader(view, { plan: event.plan })
    case 'steers.changed':
      return withTurn(view, { steers: event.steers })
    case 'usage.changed':
      return withTurn(
        { ...view, header: { ...view.header, usage: event.session, context: event.context } },
        { usage: event.turn, rate: event.rate },
      )
    case 'item.put':
      return putItem(view, event.item)
    case 'item.delta':
      return changeItem(view, event.itemId, (item) => extend(item, event.field, event.offset, event.add))
    case 'item.patch':
      return changeItem(view, event.itemId, (item) => ({ ...item, ...event.set }) as Item)
    case 'approval.queue':
      return { ...view, approvals: { head: event.head, depth: event.depth } }
    case 'question.queue':
      return { ...view, questions: { head: event.head, depth: event.depth } }
    case 'queue.changed': {
      const { followUps, paused, pausedBy } = event
      return withHeader(view, { queue: { followUps, paused, ...(pausedBy === undefined ? {} : { pausedBy }) } })
    }
    case 'compaction.started': {
      const { jobId, startedAt, reason, place } = event
      return withHeader(view, { compaction: { jobId, startedAt, reason, place } })
    }
    case 'compaction.ended':
      return withHeader(view, { compaction: null, context: event.context, usage: event.usage })
    case 'changes.changed':
      return { ...view, changes: [...view.changes.filter((file) => file.turnId !== event.about), ...event.files] }
    case 'exec.changed':
      return { ...view, execSessions: event.execSessions }
    case 'notices.changed':
      return withHeader(view, { notices: event.notices })
    case 'session.changed':
      return withHeader(view, definedOf(event.patch))
    case 'session.recovery':
      return withHeader(view, { recovery: event.recovery })
    case 'session.rewound':
      return rewound(view, event)
    case 'title.status':
      return view
    default:
      return view
  }
}

/** Later entries leave the view, or come back to it; either way it stays one stretch that ends with the newest (S-81). */
function rewound(view: SessionView, event: Extract<StoredEvent, { type: 'session.rewound' }>): SessionView {
  const { from, restored, deleted, session: header, slice } = event
  // A stretch that is not the end is asked for anew by who holds it.
  if (deleted || view.itemsAfter > 0) return { ...view, header }
  const older = view.items.filter((item) => item.pos < from)
  if (restored) {
    const back = slice?.items ?? []
    const joins = older.length > 0 && (back[0]?.pos ?? from) <= from
    const { turns, changes } = withRowsOf(view, slice)
    return {
      ...view,
      header,
      items: [...(joins ? older : []), ...back, ...view.items.filter((item) => item.pos >= from)],
      itemsBefore: joins ? view.itemsBefore : (slice?.before ?? view.itemsBefore),
      turns,
      changes,
    }
  }
  const last = view.turns.findIndex((turn) => turn.id === header.lastTurnId)
  const kept = { ...view, turns: view.turns.slice(0, last + 1) }
  const { turns, changes } = older.length > 0 ? kept : withRowsOf(kept, slice)
  return {
    ...view,
    header,
    items: older.length > 0 ? older : (slice?.items ?? []),
    itemsBefore: older.length > 0 ? view.itemsBefore : (slice?.before ?? 0),
    turns,
    changes: changes.filter((file) => turns.some((turn) => turn.id === file.turnId)),
  }
}

function withRowsOf(view: SessionView, slice: ItemSlice | undefined): Pick<SessionView, 'turns' | 'changes'> {
  const known = new Set(view.turns.map((turn) => turn.id))
  return {
    turns: [...view.turns, ...(slice?.turns ?? []).filter((turn) => !known.has(turn.id))],
    changes: [...view.changes, ...(slice?.changes ?? []).filter((file) => !known.has(file.turnId))],
  }
}

function withHeader(view: SessionView, patch: Partial<SessionHeader>): SessionView {
  return { ...view, header: { ...view.header, ...patch, rev: view.header.rev + 1 } }
}

function definedOf<T extends object>(patch: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined)) as never
}

function withTurn(view: SessionView, patch: Partial<RunningTurn>): SessionView {
  return view.turn ? { ...view, turn: { ...view.turn, ...patch } } : view
}

/** Upserts by id and keeps the order of `pos`; an item older or newer than the stretch is not taken in. */
function putItem(view: SessionView, item: Item): SessionView {
  const at = indexOf(view.items, item.id)
  if (at >= 0) return recounted({ ...view, items: view.items.with(at, item) }, view.items[at]!, item)
  const first = view.items[0]
  if (first && item.pos < first.pos && view.itemsBefore > 0) {
    if (item.kind !== 'compaction') return view
    // A mark is put once and stands where its summary ends, so one that is not held is new all the same.
    const counted = { ...view.header, itemCount: view.header.itemCount + 1 }
    return { ...view, header: counted, itemsBefore: view.itemsBefore + 1 }
  }
  if (view.itemsAfter > 0 && item.pos > view.items.at(-1)!.pos) return view
  let place = view.items.length
  while (place > 0 && view.items[place - 1]!.pos > item.pos) place--
  const header = item.visible ? { ...view.header, itemCount: view.header.itemCount + 1 } : view.header
  return { ...view, header, items: view.items.toSpliced(place, 0, item) }
}

function changeItem(view: SessionView, id: string, to: (item: Item) => Item): SessionView {
  const at = indexOf(view.items, id)
  if (at < 0) return view
  const item = view.items[at]!
  const changed = to(item)
  return changed === item ? view : recounted({ ...view, items: view.items.with(at, changed) }, item, changed)
}

/** Items are counted while they are visible. */
function recounted(view: SessionView, before: Item, after: Item): SessionView {
  if (before.visible === after.visible) return view
  const itemCount = view.header.itemCount + (after.visible ? 1 : -1)
  return { ...view, header: { ...view.header, itemCount } }
}

/** Newest first: what changes stands nearly always at the end. */
function indexOf(items: readonly Item[], id: string): number {
  for (let at = items.length - 1; at >= 0; at--) if (items[at]!.id === id) return at
  return -1
}

/** Adds what of a delta is new (T-51): a part already held is not added twice, a delta past the end changes nothing. */
/** An item with what its deltas add; events of anything else are left out. */
export function extended(item: Item, events: readonly StoredEvent[]): Item {
  return events.reduce(
    (grown, event) =>
      event.type === 'item.delta' && event.itemId === item.id
        ? extend(grown, event.field, event.offset, event.add)
        : grown,
    item,
  )
}

function extend(item: Item, field: 'text' | 'output', offset: number, add: string): Item {
  if (field === 'output') {
    if (item.kind !== 'tool') return item
    const known = offset === item.outputStart + item.output.length ? 0 : item.outputStart + item.output.length - offset
    if (known < 0 || known >= add.length) return item
    const all = item.output + add.slice(known)
    const cut = Math.max(0, all.length - toolOutputCharsMax)
    return { ...item, output: cut ? all.slice(cut) : all, outputStart: item.outputStart + cut }
  }
  if (item.kind !== 'text' && item.kind !== 'reasoning') return item
  const known = item.text.length - offset
  if (known < 0 || known >= add.length) return item
  return { ...item, text: item.text + add.slice(known) }
}

/** Whether `event` is a delta that lies beyond what `view` holds of its item: the reader must open again (T-51). */
export function isBeyond(view: SessionView, event: StoredEvent): boolean {
  if (event.type !== 'item.delta') return false
  const at = indexOf(view.items, event.itemId)
  const item = view.items[at]
  if (!item) return false
  if (event.field === 'output') return item.kind === 'tool' && event.offset > item.outputStart + item.output.length
  return (item.kind === 'text' || item.kind === 'reasoning') && event.offset > item.text.length
}
