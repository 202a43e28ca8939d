/** What the menu over a typed `/` offers. */
import { builtInAgent, type AgentEntry } from '../../preload/contract/agents.ts'
import { type SlashCommand, slashCommands } from '../../preload/contract/slash-commands.ts'

/** What the menu offers while a name is typed; null where the text is not the beginning of a command. */
export function slashQuery(text: string, caret: number): string | null {
  if (!text.startsWith('/') || text.startsWith('//')) return null
  const typed = text.slice(1, caret)
  return /^[A-Za-z]*$/.test(typed) && /^\S*$/.test(text.slice(1)) && !text.slice(1).includes('/')
    ? typed.toLowerCase()
    : null
}

/** The command whose argument is being typed, and as much of that as there is; null where the caret is elsewhere. */
export function argumentQuery(text: string, caret: number): { name: string; typed: string } | null {
  const [, name = '', typed = ''] = /^\/([A-Za-z]+) +(\S*)$/.exec(text) ?? []
  return name === '' || caret !== text.length ? null : { name: name.toLowerCase(), typed: typed.toLowerCase() }
}

/** Agents that can be chosen: the name itself, names that begin with what was typed, then those that hold it. */
export function matchingAgents(
  agents: readonly AgentEntry[],
  typed: string,
): Pick<AgentEntry, 'name' | 'description'>[] {
  const usable = agents.filter(({ problem }) => problem === null)
  if (usable.length === 0) return []
  const rank = ({ name }: { name: string }) => {
    const lower = name.toLowerCase()
    return lower === typed ? 0 : lower.startsWith(typed) ? 1 : 2
  }
  return [{ name: builtInAgent, description: 'Lathe’s own, with all tools' }, ...usable]
    .filter(({ name }) => name.toLowerCase().includes(typed))
    .sort((one, other) => rank(one) - rank(other))
}

/** Names that begin with the query first, then those that hold its letters. */
export function matchingCommands(query: string): SlashCommand[] {
  const first = slashCommands.filter(({ name }) => name.startsWith(query))
  const rest = slashCommands.filter((command) => !first.includes(command) && command.name.includes(query))
  return [...first, ...rest]
}
