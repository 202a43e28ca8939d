/** Bringing in exported sessions (S-92): chosen from the menu or dropped on the window, with the same question before. */
import { createElement } from 'react'
import { uploadParts } from '../composer/attachments.ts'
import { client, failure } from '../state/link.ts'
import { choose, showSession } from '../state/window-store.ts'
import { bytesText } from '../transcript/amounts.ts'
import { shownText } from '../transcript/shown-text.ts'
import { toast } from '../ui/toast.tsx'

/** What the beginning of an exported file tells of its session. */
export type SessionFile = { title: string | null; workspace: string | null }

const headBytes = 256 * 1024

/** Null where the file is no exported session. Nothing but its beginning is read. */
export async function readSessionFile(file: Blob): Promise<SessionFile | null> {
  const head = await file.slice(0, headBytes).text()
  if (!/^\s*\{\s*"format"\s*:\s*"lathe\.session"/.test(head)) return null
  return { title: textOf(head, 'title'), workspace: textOf(head, 'workspace') }
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

/** Shows what would be brought in, and does so on a yes. False where the person wants `otherwise` done with the file. */
export async function offerImport(file: File, otherwise?: string): Promise<boolean> {
  const found = await readSessionFile(file)
  const facts = [
    found?.title == null ? file.name : `“${shownText(found.title)}”`,
    ...(found?.workspace == null ? [] : [`of ${shownText(found.workspace)}`]),
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
