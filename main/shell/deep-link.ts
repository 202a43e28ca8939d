/** `lathe://` links (S-122, Z-159): they open, show or prefill, and never send, approve, trust or run. */
import { isAbsolute } from 'node:path'
import { Id } from '../../preload/contract/ids.ts'

const linkCharsMax = 2_048
const settingsPages = new Set(['general', 'models', 'approvals', 'appearance', 'keys', 'storage', 'privacy'])

export type DeepLink =
  | { kind: 'session'; sessionId: string; itemId: string | null }
  | { kind: 'new'; workspace: string | null; prompt: string | null }
  | { kind: 'settings'; page: string }

/** Null for anything that is not one of the three forms. */
export function parseDeepLink(text: string): DeepLink | null {
  if (text.length > linkCharsMax) return null
  const url = URL.parse(text)
  if (url?.protocol !== 'lathe:' || url.username !== '' || url.password !== '' || url.port !== '') return null
  const parts = url.pathname.split('/').filter((part) => part !== '')
  if (url.host === 'session') {
    const [sessionId, itemId = null, ...more] = parts
    const known =
      Id.safeParse(sessionId).success && (itemId === null || Id.safeParse(itemId).success) && more.length === 0
    return known && url.search === '' ? { kind: 'session', sessionId: sessionId!, itemId } : null
  }
  if (url.host === 'new' && parts.length === 0) {
    if ([...url.searchParams.keys()].some((key) => key !== 'workspace' && key !== 'prompt')) return null
    const workspace = url.searchParams.get('workspace')
    if (workspace !== null && (!isAbsolute(workspace) || workspace.includes('\0'))) return null
    return { kind: 'new', workspace, prompt: url.searchParams.get('prompt') }
  }
  if (url.host === 'settings' && parts.length === 1 && settingsPages.has(parts[0]!))
    return { kind: 'settings', page: parts[0]! }
  return null
}

/** The first link among the arguments a second start hands over (S-134). */
export function linkAmong(args: readonly string[]): DeepLink | null {
  for (const argument of args) {
    const link = argument.startsWith('lathe:') ? parseDeepLink(argument) : null
    if (link) return link
  }
  return null
}
