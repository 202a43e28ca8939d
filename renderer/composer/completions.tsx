import { File as FileIcon, Folder, Slash } from 'lucide-react'
import { useMemo } from 'react'
import { useView } from '../state/session-store.ts'
import type { Completion } from './completion-menu.tsx'
import { insertMention, mentionQuery } from './mentions.ts'
import { matchingCommands, slashQuery } from './slash-menu.ts'
import { useFoundFiles } from './use-found-files.ts'

type Entry = Completion & {
  /** The text with it taken, and where the caret goes. */
  apply(): { text: string; caret: number; path?: string }
  /** Taking it is all there is to do. */
  complete: boolean
}
type Menu = { label: string; word: string; entries: Entry[] }

/** What completes the word at the caret: a command's name, or a file of the workspace. */
export function useCompletions(sessionId: string, enabled: boolean, text: string, caret: number): Menu | null {
  const workspace = useView(sessionId, ({ header }) => header.workspace, '')
  const slash = enabled ? slashQuery(text, caret) : null
  const mention = useMemo(() => (enabled ? mentionQuery(text, caret) : null), [enabled, text, caret])
  const files = useFoundFiles(workspace, mention?.query ?? null)
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
  if (!mention) return null
  const entries = files.map(({ path, kind }): Entry => ({
    id: path,
    icon:
      kind === 'folder' ? (
        <Folder size={13} strokeWidth={1.75} aria-hidden />
      ) : (
        <FileIcon size={13} strokeWidth={1.75} aria-hidden />
      ),
    label: <bdi>{path.split('/').at(-1)}</bdi>,
    detail: <bdi>{path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : ''}</bdi>,
    complete: false,
    apply: () => ({ ...insertMention(text, mention, path), path }),
  }))
  return { label: 'Files', word: `@${mention.query}`, entries }
}
