/** How each tool's card reads: an icon, words for its state, what of its arguments is worth a line. Pure. */
import {
  Bot,
  FileDiff,
  FilePen,
  FilePlus,
  FileSearch,
  FileText,
  FolderTree,
  Globe,
  ListChecks,
  type LucideIcon,
  MessageCircleQuestion,
  Plug,
  Search,
  SquareTerminal,
  Terminal,
  Wrench,
} from 'lucide-react'
import type { ItemOf } from '../../preload/contract/items.ts'
import { durationText } from '../ui/time-text.ts'

type ToolItem = ItemOf<'tool'>

export const toolIcons: Record<string, LucideIcon> = {
  read_file: FileText,
  write_file: FilePlus,
  edit_file: FilePen,
  apply_patch: FileDiff,
  list_dir: FolderTree,
  find_files: FileSearch,
  grep: Search,
  shell: Terminal,
  exec_session: SquareTerminal,
  list_exec_sessions: SquareTerminal,
  update_plan: ListChecks,
  ask_person: MessageCircleQuestion,
  web_fetch: Globe,
  subagent: Bot,
}

export const mcpIcon: LucideIcon = Plug
export const otherIcon: LucideIcon = Wrench

/** The tool in plain words, for labels and groups. */
export function toolWords(name: string): string {
  const mcp = /^mcp__(.+?)__(.+)$/.exec(name)
  if (mcp) return `${mcp[2]!.replaceAll('_', ' ')} (${mcp[1]})`
  return name.replaceAll('_', ' ')
}

export type ToolKind = 'command' | 'edit' | 'read' | 'search' | 'plan' | 'other'

export function toolKind(name: string): ToolKind {
  if (name === 'shell' || name === 'exec_session') return 'command'
  if (name === 'write_file' || name === 'edit_file' || name === 'apply_patch') return 'edit'
  if (name === 'read_file') return 'read'
  if (name === 'grep' || name === 'find_files' || name === 'list_dir' || name === 'web_fetch') return 'search'
  return name === 'update_plan' ? 'plan' : 'other'
}

/** Whether the call has come to an end, one way or another. */
export function toolEnded({ state }: ToolItem): boolean {
  return state !== 'proposed' && state !== 'waiting' && state !== 'running'
}

/** The state in words, so that colour never says it alone (S-150). Empty where the call is done and all is well. */
export function toolStateWords({ state, view, code }: ToolItem): string {
  switch (state) {
    case 'proposed':
      return 'Preparing'
    case 'waiting':
      return 'Waiting for you'
    case 'running':
      return 'Running'
    case 'ok':
      return view?.exitCode ? `Exit ${view.exitCode}` : ''
    case 'error':
      if (view?.signal) return `Ended by ${view.signal}`
      if (view?.exitCode != null) return `Exit ${view.exitCode}`
      return code === 'exec.timed_out' || code === 'tool.timed_out'
        ? 'Timed out'
        : code === 'exec.stopped_by_person'
          ? 'Stopped by you'
          : 'Failed'
    case 'denied':
      return 'Denied'
    case 'cancelled':
      return 'Stopped'
    case 'unknown':
      return 'May or may not have run'
  }
}

/** What a call's title says it does, and on what: `Read` and `src/a.ts`. A title of another shape is all verb. */
export function titleParts(title: string): { verb: string; subject: string } {
  const found =
    /^(Run|Read|Edit|Write|Create|Replace|Delete|Patch|List|Search|Fetch|Find files in|Find|Asked:) (.+)$/s.exec(title)
  return found ? { verb: found[1]!, subject: found[2]! } : { verb: title, subject: '' }
}

const doing: Record<string, string> = {
  Run: 'Running',
  Read: 'Reading',
  Edit: 'Editing',
  Write: 'Writing',
  Create: 'Creating',
  Replace: 'Replacing',
  Delete: 'Deleting',
  Patch: 'Patching',
  List: 'Listing',
  Search: 'Searching',
  Fetch: 'Fetching',
  Find: 'Finding',
  'Find files in': 'Finding files in',
}

/** The same while it goes on: `Reading` and `src/a.ts`. */
export function doingParts(title: string): { verb: string; subject: string } {
  const { verb, subject } = titleParts(title)
  const words = subject === '' ? undefined : doing[verb]
  return words ? { verb: words, subject } : { verb: 'Running', subject: title }
}

/** `Tool call, read file, failed`: the card's accessible name (S-147). */
export function toolLabel(item: ToolItem): string {
  const words = toolStateWords(item) || 'done'
  const took = item.durationMs === null ? '' : `, ${durationText(item.durationMs)}`
  return `${item.byPerson ? 'Your command' : 'Tool call'}, ${toolWords(item.name)}, ${titleParts(item.title).subject || item.title}, ${words.toLowerCase()}${took}`
}

/** A string argument by name; null where the call has no such argument. */
export function argument(args: unknown, name: string): string | null {
  if (typeof args !== 'object' || args === null) return null
  const value = (args as Record<string, unknown>)[name]
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : null
}

const argumentsCharsMax = 20_000

/** All arguments as indented JSON, bounded. */
export function argumentsText(args: unknown): string {
  if (args === undefined || args === null) return ''
  const text = typeof args === 'string' ? args : (JSON.stringify(args, null, 2) ?? '')
  return text === '{}' ? '' : text.length > argumentsCharsMax ? `${text.slice(0, argumentsCharsMax)}\n…` : text
}

/** What the call put out: live while it runs, then the sections of its result. */
export function toolOutput({ state, output, view, summary }: ToolItem): string {
  if (state === 'running' || !view) return output || (state === 'running' ? '' : summary)
  const sections = [view.stdout, view.stderr].filter((text): text is string => Boolean(text))
  return sections.length > 0 ? sections.join('\n') : output || summary
}

/** How many of each kind a folded group holds: `4 commands, 2 edits, 1 thought`. */
export function activityCounts(items: readonly (ToolItem | ItemOf<'reasoning'>)[]): { text: string; failed: string[] } {
  const words: Record<ToolKind | 'thought', [string, string]> = {
    command: ['command', 'commands'],
    edit: ['edit', 'edits'],
    read: ['file read', 'files read'],
    search: ['search', 'searches'],
    plan: ['plan update', 'plan updates'],
    other: ['tool call', 'tool calls'],
    thought: ['thought', 'thoughts'],
  }
  const counts = new Map<ToolKind | 'thought', number>()
  const failed: string[] = []
  for (const item of items) {
    const kind = item.kind === 'reasoning' ? 'thought' : toolKind(item.name)
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
    if (item.kind === 'tool' && (item.state === 'error' || item.state === 'unknown'))
      failed.push(item.title || toolWords(item.name))
  }
  const order = ['command', 'edit', 'read', 'search', 'other', 'plan', 'thought'] as const
  const text = order
    .filter((kind) => counts.has(kind))
    .map((kind) => `${counts.get(kind)} ${words[kind][counts.get(kind) === 1 ? 0 : 1]}`)
    .join(', ')
  return { text, failed }
}
