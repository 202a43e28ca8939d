/**
 * One definition for each kind of row. A mapped type over the kinds: a new kind does not compile until its row is here.
 */
import type { ComponentType } from 'react'
import { durationText } from '../ui/time-text.ts'
import { activityCounts, argument, toolLabel, toolOutput } from './tools.ts'
import { foldedWords, outcomeWords } from './outcome.ts'
import type { Row, RowKind, RowOf } from './rows.ts'
import { CompactionRow } from './rows/compaction-row.tsx'
import { ErrorRow } from './rows/error-row.tsx'
import { FoldedTurnRow } from './rows/folded-turn-row.tsx'
import { GroupRow } from './rows/group-row.tsx'
import { ForkRow, RewindRow } from './rows/mark-rows.tsx'
import { ReasoningRow } from './rows/reasoning-row.tsx'
import { ApprovalRow, NoticeRow, QuestionRow, RecoveryRow, UnknownRow, UnsentRow } from './rows/small-rows.tsx'
import { SubagentRow } from './rows/subagent-row.tsx'
import { TextRow } from './rows/text-row.tsx'
import { ToolRow } from './rows/tool-row.tsx'
import { TurnEndRow } from './rows/turn-end-row.tsx'
import { UserRow } from './rows/user-row.tsx'
import { plainOutput } from './shown-text.ts'
import { subagentEnded, subagentWords } from './subagents.ts'

export type RowProps<K extends RowKind> = {
  row: RowOf<K>
  open: boolean
  /** `shown`, of a group: how many of its items to show. */
  onToggle: (shown?: number) => void
}

type RowDefinition<K extends RowKind> = {
  View: ComponentType<RowProps<K>>
  /** A first guess of its height in pixels, for a column of that width; measured once it is drawn. */
  estimate(row: RowOf<K>, width: number): number
  /** Its accessible name (S-147). */
  label(row: RowOf<K>): string
  /** What "Copy" gives. */
  toText(row: RowOf<K>): string
  /** Rows that unfold: whether they are open before anybody chose. */
  opens?: (row: RowOf<K>, foldReasoning: boolean) => boolean
}

const clip = (text: string, most = 80) => (text.length > most ? `${text.slice(0, most)}…` : text)

/** Wrapped lines of 14 px type in a column. */
function wrapped(text: string, width: number, lineHeight: number): number {
  const perLine = Math.max(20, Math.floor(width / 7))
  let lines = 0
  for (const line of text.split('\n', 400)) lines += Math.max(1, Math.ceil(line.length / perLine))
  return lines * lineHeight
}

export const rowRegistry: { [K in RowKind]: RowDefinition<K> } = {
  user: {
    View: UserRow,
    estimate: ({ item }, width) =>
      50 + Math.min(300, wrapped(item.text, width - 50, 24)) + (item.attachments.length > 0 ? 40 : 0),
    label: ({ item, origin }) => `${origin ?? 'You'}: ${clip(item.text || `${item.attachments.length} attachments`)}`,
    toText: ({ item }) => item.text,
  },
  text: {
    View: TextRow,
    estimate: ({ item }, width) => 24 + wrapped(item.text, width, 23),
    label: ({ item }) => (item.status === 'live' ? 'Answer, being written' : `Answer: ${clip(item.text)}`),
    toText: ({ item }) => item.text,
  },
  reasoning: {
    View: ReasoningRow,
    estimate: () => 32,
    label: ({ item }) => (item.status === 'live' ? 'Thinking' : `Thought${item.title ? `: ${item.title}` : ''}`),
    toText: ({ item }) => item.text,
    opens: ({ item }, foldReasoning) => !foldReasoning && item.status !== 'live',
  },
  tool: {
    View: ToolRow,
    // Of what is drawn alone: a row whose guess changes and whose height does not is not measured again.
    estimate: ({ item }) => (item.byPerson || (item.state === 'running' && item.output !== '') ? 160 : 32),
    label: ({ item }) => toolLabel(item),
    toText: ({ item }) =>
      [argument(item.args, 'command') ?? item.title, plainOutput(toolOutput(item))].filter(Boolean).join('\n'),
    opens: ({ item }) => item.byPerson === true,
  },
  approval: {
    View: ApprovalRow,
    estimate: () => 32,
    label: ({ item }) =>
      `Approval, ${item.state === 'open' ? 'waiting for you' : item.state.replaceAll('_', ' ')}: ${item.request.title}`,
    toText: ({ item }) => item.request.detail,
  },
  question: {
    View: QuestionRow,
    estimate: ({ item }, width) => 40 + wrapped(item.text, width - 40, 20),
    label: ({ item }) => `Question, ${item.state}: ${clip(item.text)}`,
    toText: ({ item }) => [item.text, item.answer].filter(Boolean).join('\n'),
  },
  notice: {
    View: NoticeRow,
    estimate: ({ item }, width) => 12 + wrapped(item.text, width - 24, 20),
    label: ({ item }) => `Notice: ${clip(item.text)}`,
    toText: ({ item }) => item.text,
  },
  error: {
    View: ErrorRow,
    estimate: ({ item }, width) => 96 + wrapped(`${item.message} ${item.hint}`, width - 60, 20),
    label: ({ item }) => `Error: ${item.title}`,
    toText: ({ item }) => [item.title, item.code, item.message, item.hint, item.details].filter(Boolean).join('\n'),
  },
  rewind: {
    View: RewindRow,
    estimate: () => 48,
    label: ({ item }) => `${item.items} items set aside`,
    toText: ({ item }) => `${item.items} items set aside`,
  },
  fork: {
    View: ForkRow,
    estimate: () => 40,
    label: ({ item }) => `Forked from ${item.from.title}`,
    toText: ({ item }) => `Forked from ${item.from.title}`,
  },
  compaction: {
    View: CompactionRow,
    estimate: () => 80,
    label: ({ item }) => `Context compacted: ${clip(item.summary)}`,
    toText: ({ item }) => item.summary,
    opens: () => false,
  },
  subagent: {
    View: SubagentRow,
    estimate: ({ item }) => 64 + (subagentEnded(item) ? 0 : item.actions.length * 18),
    label: ({ item }) => `Subagent ${item.label}, ${subagentWords(item).toLowerCase()}`,
    toText: ({ item }) => [item.label, item.task, item.result].filter(Boolean).join('\n\n'),
    opens: () => false,
  },
  turnEnd: {
    View: TurnEndRow,
    estimate: () => 40,
    label: ({ turn }) =>
      `Turn ${outcomeWords(turn).toLowerCase()}${turn.durationMs === null ? '' : ` after ${durationText(turn.durationMs)}`}`,
    toText: ({ turn }) => outcomeWords(turn),
  },
  group: {
    View: GroupRow,
    estimate: ({ shown, items }) => (shown > 0 && shown < items.length ? 56 : 32),
    label: ({ items, shown }) => `${activityCounts(items).text}, ${shown > 0 ? 'open' : 'folded'}`,
    toText: ({ items }) => activityCounts(items).text,
  },
  foldedTurn: {
    View: FoldedTurnRow,
    estimate: () => 48,
    label: ({ turn }) => foldedWords(turn),
    toText: ({ turn }) => foldedWords(turn),
  },
  recovery: {
    View: RecoveryRow,
    estimate: () => 128,
    label: () => 'Interrupted turn, waiting for your decision',
    toText: ({ recovery }) => `Interrupted (${recovery.reason})`,
  },
  unsent: {
    View: UnsentRow,
    estimate: ({ unsent }, width) => 90 + Math.min(300, wrapped(unsent.text, width - 50, 24)),
    label: ({ unsent }) => `${unsent.refusal ? 'Not sent' : 'Sending'}: ${clip(unsent.text)}`,
    toText: ({ unsent }) => unsent.text,
  },
  unknown: {
    View: UnknownRow,
    estimate: () => 32,
    label: ({ named }) => `Unknown entry, ${named}`,
    toText: ({ named }) => named,
  },
}

/** The definition of a row's own kind. */
export function definitionOf(row: Row): RowDefinition<RowKind> {
  return rowRegistry[row.kind] as unknown as RowDefinition<RowKind>
}

const estimates = new WeakMap<Row, { width: number; height: number }>()

/** A row's first guess, made once for each width: every change of rows asks for those of all that were never drawn. */
export function estimatedHeight(row: Row, width: number): number {
  const known = estimates.get(row)
  if (known?.width === width) return known.height
  const height = definitionOf(row).estimate(row, width)
  estimates.set(row, { width, height })
  return height
}
