/** What fills the model's context, section by section (C-10): the same projection a turn would be sent. */
import type { Item } from '../../preload/contract/items.ts'
import type { ContextReport } from '../../preload/contract/routes.ts'
import type { ContextFigures, Turn } from '../../preload/contract/session.ts'
import { schemaOf } from '../tools/arguments.ts'
import type { Tool } from '../tools/tool.ts'
import { estimateTokens, resultText } from './context.ts'
import type { PromptSection } from './system-prompt.ts'

export function contextReport(input: {
  model: string | null
  figures: ContextFigures
  prompt: readonly PromptSection[]
  tools: readonly Tool[]
  items: readonly Item[]
  turns: readonly Turn[]
}): ContextReport {
  const retried = new Set(input.turns.map((turn) => turn.retryOf))
  const items = input.items.filter((item) => item.contextual && !retried.has(item.turnId ?? undefined))
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
      tokens: estimateTokens(section.text),
      text: section.text,
    })),
    { name: 'Tool definitions', tokens: estimateTokens(tools.join('\n')), text: tools.join('\n\n') },
    { name: 'Messages of the person', tokens: estimateTokens(text('user')) },
    { name: 'Answers of the agent', tokens: estimateTokens(text('text')) },
    { name: 'Tool calls and results', tokens: estimateTokens(calls.join('\n')) },
  ]
  const estimate = sections.reduce((sum, section) => sum + section.tokens, 0)
  return {
    model: input.model,
    window: input.figures.window,
    used: input.figures.used ?? estimate,
    estimated: input.figures.used === null || input.figures.estimated,
    sections,
  }
}
