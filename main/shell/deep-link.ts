/** `lathe://` links and start arguments (S-122, S-134, Z-159): they show or prefill, and never send, approve or run. */
import { stat } from 'node:fs/promises'
import { isAbsolute, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ShellRequest } from '../../preload/contract/shell.ts'

const linkCharsMax = 2_048
const argumentsMax = 64

/** Null for anything that is not one of the three forms. */
export function parseDeepLink(text: string): ShellRequest | null {
  if (text.length > linkCharsMax) return null
  const url = URL.parse(text)
  if (url?.protocol !== 'lathe:' || url.username !== '' || url.password !== '' || url.port !== '') return null
  const parts = url.pathname.split('/').filter((part) => part !== '')
  return ShellRequest.safeParse(requestOf(url, parts)).data ?? null
}

function requestOf(url: URL, parts: string[]): unknown {
  if (url.host === 'session' && url.search === '' && parts.length <= 2)
    return { do: 'show', sessionId: parts[0], itemId: parts[1] ?? null }
  if (url.host === 'settings' && url.search === '' && parts.length === 1) return { do: 'settings', page: parts[0] }
  if (url.host !== 'new' || parts.length > 0) return null
  if ([...url.searchParams.keys()].some((key) => key !== 'workspace' && key !== 'prompt')) return null
  const workspace = url.searchParams.get('workspace')
  if (workspace !== null && !isAbsolute(workspace)) return null
  return { do: 'new', workspace, prompt: url.searchParams.get('prompt'), asked: false }
}

/** A folder the person opened with Lathe; null where it is none. */
export async function requestForFolder(path: string): Promise<ShellRequest | null> {
  const folder = await stat(path).catch(() => null)
  return folder?.isDirectory()
    ? (ShellRequest.safeParse({ do: 'new', workspace: path, prompt: null, asked: true }).data ?? null)
    : null
}

/** What the arguments of a start ask for: its first link, else its first folder; switches are passed over. */
export async function requestAmong(args: readonly string[], from: string): Promise<ShellRequest | null> {
  const named = args.slice(0, argumentsMax).filter((argument) => argument !== '' && !argument.startsWith('-'))
  for (const argument of named) {
    const request = argument.startsWith('lathe:') ? parseDeepLink(argument) : null
    if (request) return request
  }
  for (const argument of named) {
    const path = pathOf(argument, from)
    const request = path === null ? null : await requestForFolder(path)
    if (request) return request
  }
  return null
}

/** A path as a shell gives it, or as a file manager does (`file:///home/ada/code`). */
function pathOf(argument: string, from: string): string | null {
  if (argument.startsWith('lathe:')) return null
  if (!argument.startsWith('file:')) return resolve(from, argument)
  try {
    return fileURLToPath(argument)
  } catch {
    return null
  }
}
