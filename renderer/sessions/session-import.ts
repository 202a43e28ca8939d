/** Bringing in exported sessions (S-92): chosen from the menu or dropped on the window, with the same question before. */
import { createElement } from 'react'
import { importBytesMax, sessionFileVersion } from '../../preload/contract/limits.ts'
import { uploadParts } from '../composer/attachments.ts'
import { client, failure } from '../state/link.ts'
import { choose, showSession } from '../state/window-store.ts'
import { bytesText } from '../transcript/amounts.ts'
import { shownText } from '../transcript/shown-text.ts'
import { toast } from '../ui/toast.tsx'

const headBytes = 256 * 1024

/** Whether a file that could be anything is an exported session. Nothing but its beginning is read. */
export async function isSessionFile(file: Blob): Promise<boolean> {
  return /^\s*\{\s*"format"\s*:\s*"lathe\.session"/.test(await file.slice(0, 1_024).text())
}

/**
 * Why a file cannot be imported, as far as its beginning tells; null where it may be, which the host finds out by reading
 * all of it.
 */
export function whyNoSession(head: string, bytes: number): string | null {
  if (bytes === 0) return 'The file is empty.'
  if (bytes > importBytesMax) return `The file is larger than ${importBytesMax / 1024 / 1024} MiB.`
  if (!/^\s*\{/.test(head) || !/"format"\s*:\s*"lathe\.session"/.test(head))
    return 'This is no exported session. Export one as JSON.'
  const version = Number(/"lathe\.session"\s*,\s*"version"\s*:\s*(\d+)/.exec(head)?.[1] ?? sessionFileVersion)
  if (version > sessionFileVersion) return `The file was written by a newer Lathe (version ${version}). Update Lathe.`
  if (bytes > headBytes) return null
  try {
    JSON.parse(head)
    return null
  } catch {
    return 'The file is not whole. Export the session anew as JSON.'
  }
}

function textOf(json: string, name: string): string | null {
  const found = new RegExp(`"${name}"\\s*:\\s*("(?:[^"\\\\]|\\\\.){0,4096}")`).exec(json)?.[1]
  try {
    return found === undefined ? null : (JSON.parse(found) as string)
  } catch {
    return null
  }
}

/** The person picks an exported file. */
export function chooseImport(): void {
  const input = Object.assign(document.createElement('input'), { type: 'file', accept: '.json,application/json' })
  input.addEventListener('change', () => {
    const file = input.files?.[0]
    if (file) void offerImport(file)
  })
  input.click()
}

/**
 * Shows what would be brought in, and does so on a yes; what cannot be is refused here. False where the file is no session,
 * or the person wants `otherwise` done with it.
 */
export async function offerImport(file: File, otherwise?: string): Promise<boolean> {
  const head = await file.slice(0, headBytes).text()
  const why = whyNoSession(head, file.size)
  if (why !== null) {
    toast.failed(`Could not import ${shownText(file.name)}`, { detail: why })
    return false
  }
  const title = textOf(head, 'title')
  const workspace = textOf(head, 'workspace')
  const facts = [
    shownText(title === null ? file.name : `“${title}”`),
    ...(workspace === null ? [] : [`of ${shownText(workspace)}`]),
    `(${bytesText(file.size)})`,
  ]
  const said = await choose({
    title: 'Import this session?',
    description: createElement(
      'bdi',
      null,
      `${facts.join(' ')}. It becomes a session of yours, idle. What it was allowed elsewhere is not allowed here.`,
    ),
    confirm: 'Import',
    ...(otherwise === undefined ? {} : { other: otherwise }),
  })
  if (said === 'other') return false
  if (said === 'yes') await importSession(file)
  return true
}

/** A Lathe JSON becomes a session, which is shown; the same file once more can be opened where it is, or copied. */
async function importSession(file: File, copy = false): Promise<void> {
  const { sessions } = client()
  try {
    const sessionId = await uploadParts(
      file,
      async (uploadId, part, last, data) => (await sessions.import({ uploadId, part, last, data, copy })).sessionId,
    )
    showSession(sessionId)
    toast.done('Imported', { detail: file.name })
  } catch (thrown) {
    const { code, message, hint, data } = failure(thrown)
    const { sessionId } = (data ?? {}) as { sessionId?: string }
    if (code !== 'import.duplicate' || sessionId === undefined) {
      toast.failed('Could not import the session', { detail: [message, hint].filter(Boolean).join(' ') })
      return
    }
    const said = await choose({
      title: 'Imported before',
      description: `${shownText(file.name)} is a session here already.`,
      confirm: 'Open that session',
      other: 'Import a copy',
    })
    if (said === 'yes') showSession(sessionId)
    if (said === 'other') await importSession(file, true)
  }
}
