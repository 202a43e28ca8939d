/** What the menu over a typed `/` offers. */
import { type SlashCommand, slashCommands } from '../../preload/contract/slash-commands.ts'

/** What the menu offers while a name is typed; null where the text is not the beginning of a command. */
export function slashQuery(text: string, caret: number): string | null {
  if (!text.startsWith('/') || text.startsWith('//')) return null
  const typed = text.slice(1, caret)
  return /^[A-Za-z]*$/.test(typed) && /^\S*$/.test(text.slice(1)) && !text.slice(1).includes('/')
    ? typed.toLowerCase()
    : null
}

/** Names that begin with the query first, then those that hold its letters. */
export function matchingCommands(query: string): SlashCommand[] {
  const first = slashCommands.filter(({ name }) => name.startsWith(query))
  const rest = slashCommands.filter((command) => !first.includes(command) && command.name.includes(query))
  return [...first, ...rest]
}
