import { Bot, Slash } from 'lucide-react'
import { useMemo } from 'react'
import type { Mention } from '../../preload/contract/items.ts'
import { useKnownAgents } from '../state/agent-store.ts'
import { useView } from '../state/session-store.ts'
import type { Completion } from './completion-menu.tsx'
import { mentionIcons } from '../transcript/mention-chips.tsx'
import { shownText } from '../transcript/shown-text.ts'
import { useMentionable } from './mentionable.ts'
import { insertMention, mentionQuery, type Written } from './mentions.ts'
import { argumentQuery, matchingAgents, matchingCommands, slashQuery } from './slash-menu.ts'
import { useFoundFiles } from './use-found-files.ts'

type Entry = Completion & {
  /** The text with it taken, and where the caret goes. */
  apply(): { text: string; caret: number; mentions?: Mention[] }
  /** Taking it is all there is to do. */
  complete: boolean
}
type Menu = { label: string; word: string; entries: Entry[] }

/** What completes the word at the caret: a command's name, an agent's, or what can be mentioned (S-111). */
export function useCompletions(
  sessionId: string,
  offered: { commands: boolean; mentions: boolean },
  written: Written,
  caret: number,
): Menu | null {
  const workspace = useView(sessionId, ({ header }) => header.workspace, '')
  const { text } = written
  const slash = offered.commands ? slashQuery(text, caret) : null
  const argument = offered.commands ? argumentQuery(text, caret) : null
  const agents = useKnownAgents(workspace)
  const mention = useMemo(() => (offered.mentions ? mentionQuery(text, caret) : null), [offered.mentions, text, caret])
  const files = useFoundFiles(workspace, mention?.query ?? null, true)
  const others = useMentionable(sessionId, mention?.query ?? null)
  if (slash !== null) {
    const entries = matchingCommands(slash).map((command): Entry => ({
      id: command.name,
      icon: <Slash size={13} strokeWidth={1.75} aria-hidden />,
      label: (
        <>
          {command.name} {command.argument && <span className="text-faint">{command.argument}</span>}
        </>
      ),
      detail: command.help,
      complete: command.argument === undefined,
      apply: () => {
        const line = `/${command.name}${command.argument === undefined ? '' : ' '}`
        return { text: line, caret: line.length }
      },
    }))
    return { label: 'Commands', word: `/${slash}`, entries }
  }
  if (argument?.name === 'agent') {
    const entries = matchingAgents(agents, argument.typed).map(({ name, description }): Entry => ({
      id: name,
      icon: <Bot size={13} strokeWidth={1.75} aria-hidden />,
      label: <bdi>{shownText(name)}</bdi>,
      detail: <bdi>{shownText(description)}</bdi>,
      complete: true,
      apply: () => ({ text: `/agent ${name}`, caret: name.length + 7 }),
    }))
    return { label: 'Agents', word: text, entries }
  }
  if (!mention) return null
  const entries = [
    ...files.map(({ path, kind }): Offered => ({
      target: { kind: 'file', ref: path, label: path },
      icon: kind,
      label: path.replace(/\/$/, '').split('/').at(-1)!,
      detail: path.includes('/') ? path.slice(0, path.lastIndexOf('/', path.length - 2)) : '',
    })),
    ...others.map(({ detail, ...target }): Offered => ({ target, icon: target.kind, label: target.label, detail })),
  ]
  return {
    label: 'Mentions',
    word: `@${mention.query}`,
    entries: entries.map(({ target, icon, label, detail }): Entry => {
      const Icon = mentionIcons[icon]
      return {
        id: `${target.kind} ${target.ref}`,
        icon: <Icon size={13} strokeWidth={1.75} aria-hidden />,
        label: <bdi>{label}</bdi>,
        detail: <bdi>{detail}</bdi>,
        complete: false,
        apply: () => insertMention(written, mention, target),
      }
    }),
  }
}

type Offered = {
  target: Omit<Mention, 'at'>
  icon: keyof typeof mentionIcons
  label: string
  detail: string
}
