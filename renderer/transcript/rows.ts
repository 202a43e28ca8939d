/**
 * What the transcript shows, as a list: items of the view, an end row for each settled turn, activity groups that stand
 * for many (S-61), turns in one line (T-179, A-117), messages not yet taken in. Pure, and rows that did not
 * change are the same objects as before, so only what changed is drawn again.
 */
import type { Item, ItemOf } from '../../preload/contract/items.ts'
import type { ChangedFile, Recovery, SessionView, Turn } from '../../preload/contract/session.ts'
import type { Unsent } from '../state/session-state.ts'
import { isUnfinished, sourceWords } from './outcome.ts'

export type Activity = ItemOf<'reasoning'> | ItemOf<'tool'>

type ItemRow<K extends Item['kind']> = { kind: K; id: string; turnId: string | null; item: ItemOf<K> }
type UserRow = ItemRow<'user'> & {
  /** Where the message came from, in words, unless a person typed it. */
  origin: string | null
  /** The turn goes on from an unfinished one: drawn as a small mark (T-181). */
  continues: boolean
}
type RewindRow = ItemRow<'rewind'> & {
  /** Nothing was sent since, so that what was set aside can come back in its place (S-81). */
  restorable: boolean
}
type TurnEndRow = {
  kind: 'turnEnd'
  id: string
  turnId: string
  turn: Turn
  changes: ChangedFile[]
  newest: boolean
  /** The agent had begun and something was left open: another turn can go on with it (T-181). */
  unfinished: boolean
}
export type GroupRow = {
  kind: 'group'
  id: string
  turnId: string | null
  items: Activity[]
  /** How many of `items` are shown below it; 0 while folded. */
  shown: number
  running: boolean
}
/** An earlier attempt, or a quiet turn, in one line. */
type FoldedTurnRow = { kind: 'foldedTurn'; id: string; turnId: string; turn: Turn; open: boolean }
type RecoveryRow = { kind: 'recovery'; id: string; turnId: string; recovery: Recovery }
type UnsentRow = { kind: 'unsent'; id: string; turnId: null; unsent: Unsent }
type UnknownRow = { kind: 'unknown'; id: string; turnId: string | null; named: string }

export type Row =
  | UserRow
  | ItemRow<'text'>
  | ItemRow<'reasoning'>
  | ItemRow<'tool'>
  | ItemRow<'approval'>
  | ItemRow<'question'>
  | ItemRow<'notice'>
  | ItemRow<'error'>
  | ItemRow<'fork'>
  | ItemRow<'compaction'>
  | ItemRow<'subagent'>
  | RewindRow
  | TurnEndRow
  | GroupRow
  | FoldedTurnRow
  | RecoveryRow
  | UnsentRow
  | UnknownRow
export type RowKind = Row['kind']
export type RowOf<K extends RowKind> = Extract<Row, { kind: K }>

/** What a person opened, by the id of a group or attempt row; for a group, how many of its items. */
export type Opened = ReadonlyMap<string, number>
export const groupPage = 50
/** Activities that stay in sight at the end of a running turn. */
const runningKept = 5

const itemKinds = new Set<string>([
  'user',
  'text',
  'reasoning',
  'tool',
  'approval',
  'question',
  'notice',
  'error',
  'rewind',
  'fork',
  'compaction',
  'subagent',
])

export function buildRows(
  view: SessionView,
  unsent: readonly Unsent[],
  opened: Opened,
  foldOver: number,
  previous: readonly Row[] = [],
): Row[] {
  const turns = new Map(view.turns.map((turn) => [turn.id, turn]))
  const retried = new Map(view.turns.flatMap((turn) => (turn.retryOf ? [[turn.retryOf, turn.id] as const] : [])))
  const newestTurn = view.turns.at(-1)?.id
  const cards = new Set(view.items.flatMap(({ kind, id }) => (kind === 'tool' || kind === 'subagent' ? [id] : [])))
  const delegated = new Set(view.items.flatMap((item) => (item.kind === 'subagent' ? [item.toolItemId] : [])))
  const asked = new Set(view.items.flatMap((item) => (item.kind === 'question' ? [item.toolItemId] : [])))
  const begun = new Set(
    view.items.flatMap((item) => (item.kind === 'text' || item.kind === 'tool' ? [item.turnId] : [])),
  )
  const rows: Row[] = []
  let activities: Activity[] = []

  function flushActivities(): void {
    if (activities.length === 0) return
    rows.push(...foldActivities(activities, turns, opened, foldOver))
    activities = []
  }
  function endTurn(turnId: string | null): void {
    flushActivities()
    const turn = turnId === null ? undefined : turns.get(turnId)
    if (!turn?.outcome) return
    const changes = view.header.parent ? [] : view.changes.filter((file) => file.turnId === turn.id)
    // A subagent's turn is its parent's to begin again, and what it changed is taken back there.
    const newest = turn.id === newestTurn && !view.header.parent
    const unfinished = isUnfinished(turn) && begun.has(turn.id)
    rows.push({ kind: 'turnEnd', id: `end:${turn.id}`, turnId: turn.id, turn, changes, newest, unfinished })
  }

  const lastOf = new Map(
    view.items.flatMap((item) => (item.turnId !== null && item.visible ? [[item.turnId, item.pos] as const] : [])),
  )

  const newestSent = view.items.findLast((item) => item.turnId !== null && item.visible)?.pos ?? -1

  let current: string | null = null
  let folded: string | null = null
  for (const item of view.items) {
    if (!item.visible) continue
    // Items of no turn (the person's own commands) stand inside whatever turn goes on around them.
    if (item.turnId !== null && item.turnId !== current) {
      if (folded === null) endTurn(current)
      else flushActivities()
      current = item.turnId
      folded = null
      const turn = turns.get(current)
      if (turn && (retried.has(current) || turn.ending === 'quiet')) {
        const id = `folded:${current}`
        rows.push({ kind: 'foldedTurn', id, turnId: current, turn, open: opened.has(id) })
        if (!opened.has(id)) folded = current
      }
    }
    // What came after the last entry of a settled turn stands below its end.
    if (
      item.turnId === null &&
      current !== null &&
      folded === null &&
      item.pos > lastOf.get(current)! &&
      turns.get(current)?.outcome
    ) {
      endTurn(current)
      current = null
    }
    if (folded !== null && item.turnId === folded) continue
    // A question in sight says it all.
    if (item.kind === 'tool' && item.name === 'ask_person' && asked.has(item.id)) continue
    // A subagent's card tells of its call too.
    if (delegated.has(item.id)) continue
    // The person's own command is not the agent's activity.
    if (item.kind === 'reasoning' || (item.kind === 'tool' && !item.byPerson)) {
      activities.push(item)
      continue
    }
    // An approval that waits or was allowed is told by its tool's card.
    if (item.kind === 'approval' && (item.state === 'allowed' || (item.state === 'open' && cards.has(item.toolItemId))))
      continue
    flushActivities()
    if (item.kind === 'rewind') {
      const { id, turnId } = item
      rows.push({ kind: 'rewind', id, turnId, item, restorable: item.pos > newestSent })
    } else rows.push(itemRow(item, turns))
  }
  if (folded === null && view.itemsAfter === 0) endTurn(current)
  else flushActivities()
  // The last turn goes on beyond what is held, and what stands at the end stands there.
  if (view.itemsAfter > 0) return keepEqual(rows, previous)
  const { recovery } = view.header
  if (recovery?.status === 'awaiting')
    rows.push({ kind: 'recovery', id: `recovery:${recovery.recoveryId}`, turnId: recovery.turnId, recovery })
  for (const one of unsent) {
    if (one.as === 'turn' || one.refusal)
      rows.push({ kind: 'unsent', id: `unsent:${one.requestId}`, turnId: null, unsent: one })
  }
  return keepEqual(rows, previous)
}

function itemRow(item: Item, turns: ReadonlyMap<string, Turn>): Row {
  const { id, turnId } = item
  if (!itemKinds.has(item.kind)) return { kind: 'unknown', id, turnId, named: String(item.kind) }
  if (item.kind !== 'user') return { kind: item.kind, id, turnId, item } as Row
  const turn = turnId === null ? undefined : turns.get(turnId)
  const opening = turn?.userItemId === id
  const origin = opening && turn ? sourceWords(turn) : null
  return { kind: 'user', id, turnId, item, origin, continues: opening && turn?.continues !== undefined }
}

/** Between two texts: few as they are; many behind one line, the newest kept in sight while the turn runs. */
function foldActivities(items: Activity[], turns: ReadonlyMap<string, Turn>, opened: Opened, foldOver: number): Row[] {
  const first = items[0]!
  const last = items.at(-1)!
  const running = last.turnId !== null && turns.get(last.turnId)?.outcome === null
  const folded = running ? items.slice(0, -runningKept) : items
  if (folded.length === 0 || items.length <= foldOver) return items.map((item) => itemRow(item, turns))
  const id = `group:${first.id}`
  const shown = Math.min(opened.get(id) ?? 0, folded.length)
  const kept = items.slice(folded.length)
  return [
    { kind: 'group', id, turnId: first.turnId, items: folded, shown, running },
    ...folded.slice(0, shown).map((item) => itemRow(item, turns)),
    ...kept.map((item) => itemRow(item, turns)),
  ]
}

/** `buildRows` that remembers what it answered last, so that equal rows stay the same objects. */
export function rowBuilder(): (
  view: SessionView,
  unsent: readonly Unsent[],
  opened: Opened,
  foldOver: number,
) => Row[] {
  let last: Row[] = []
  return (view, unsent, opened, foldOver) => (last = buildRows(view, unsent, opened, foldOver, last))
}

/** Rows equal to one of before are that one. */
function keepEqual(rows: Row[], previous: readonly Row[]): Row[] {
  if (previous.length === 0) return rows
  const before = new Map(previous.map((row) => [row.id, row]))
  let same = rows.length === previous.length
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at]!
    const old = before.get(row.id)
    if (old && equalRows(old, row)) rows[at] = old
    if (rows[at] !== previous[at]) same = false
  }
  return same ? (previous as Row[]) : rows
}

function equalRows(a: Row, b: Row): boolean {
  const left = a as unknown as Record<string, unknown>
  const right = b as unknown as Record<string, unknown>
  return Object.keys(right).every((key) => {
    const [one, other] = [left[key], right[key]]
    return (
      one === other ||
      (Array.isArray(one) &&
        Array.isArray(other) &&
        one.length === other.length &&
        one.every((each, at) => each === other[at]))
    )
  })
}
