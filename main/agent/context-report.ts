/** What fills the model's context, section by section (C-10): the same projection a turn would be sent. */
import type { Item } from '../../preload/contract/items.ts'
import type { ContextReport } from '../../preload/contract/session-routes.ts'
import type { ContextFigures, Turn } from '../../preload/contract/session.ts'
import { schemaOf } from '../tools/arguments.ts'
import type { Tool } from '../tools/tool.ts'
import { resultText, sentItems } from './context.ts'
import { summaryBlock } from './summary.ts'
import type { PromptSection } from './system-prompt.ts'
import { countText } from './token-count.ts'

export function contextReport(input: {
  model: string | null
  figures: ContextFigures
  prompt: readonly PromptSection[]
  tools: readonly Tool[]
  /** Every item that may be sent; those under a summary are counted, not shown. */
  items: readonly Item[]
  turns: readonly Turn[]
}): ContextReport {
  const retried = new Set(input.turns.map((turn) => turn.retryOf))
  const [mark] = sentItems(input.items)
  const items = sentItems(input.items).filter((item) => item.contextual && !retried.has(item.turnId ?? undefined))
  const text = (kind: 'user' | 'text') =>
    items
      .map((item) => (item.kind === kind ? (item.kind === 'user' ? (item.prompt ?? item.text) : item.text) : ''))
      .join('\n')
  const none = { results: new Map<string, string>(), attachments: new Map<string, Uint8Array>(), images: new Map() }
  const calls = items.flatMap((item) =>
    item.kind === 'tool' ? [`${JSON.stringify(item.args)}\n${resultText(item, none)}`] : [],
  )
  const tools = input.tools.map((tool) => `${tool.name}: ${tool.description}\n${JSON.stringify(schemaOf(tool))}`)
  const sections = [
    ...input.prompt.map((section) => ({
      name: section.name,
      tokens: countText(section.text),
      text: section.text,
    })),
    { name: 'Tool definitions', tokens: countText(tools.join('\n')), text: tools.join('\n\n') },
    ...(mark?.kind === 'compaction'
      ? [{ name: 'Summary of older turns', tokens: countText(summaryBlock(mark)), text: mark.summary }]
      : []),
    { name: 'Messages of the person', tokens: countText(text('user')) },
    { name: 'Answers of the agent', tokens: countText(text('text')) },
    { name: 'Tool calls and results', tokens: countText(calls.join('\n')) },
  ]
  const estimate = sections.reduce((sum, section) => sum + section.tokens, 0)
  return {
    model: input.model,
    window: input.figures.window,
    used: input.figures.used ?? estimate,
    estimated: input.figures.used === null || input.figures.estimated,
    compactAt: input.figures.compactAt,
    mark:
      mark?.kind === 'compaction'
        ? { itemId: mark.id, covered: input.items.filter(({ pos }) => pos < mark.pos).length }
        : null,
    sent: items.filter((item) => item.kind !== 'compaction').length,
    pruned: items.filter((item) => item.kind === 'tool' && item.pruned).length,
    sections,
  }
}
