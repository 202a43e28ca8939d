/** Files on their way into a message: checked at once, sent to the host in parts, each with its own progress and refusal (F-1201). */
import { newId } from '../../preload/contract/ids.ts'
import { attachmentBytesMax, attachmentsBytesMax, attachmentsMax } from '../../preload/contract/limits.ts'
import type { Attachment } from '../../preload/contract/items.ts'
import { asLatheError, type SessionClient } from '../state/session-client.ts'
import { bytesText } from '../transcript/amounts.ts'

export type Chip = {
  id: string
  name: string
  mediaType: string
  bytes: number
  /** Text that was pasted and can be put back into the message (F-1208). */
  pasted: string | null
  state:
    | { kind: 'sending'; share: number }
    | { kind: 'ready'; attachment: Attachment }
    | { kind: 'refused'; reason: string }
}

export const partBytes = 1024 * 1024
const pastedCharsMax = 2_000
const pastedLinesMax = 30

/** Pasted text this long becomes a chip. */
export function isLongPaste(text: string): boolean {
  return text.length > pastedCharsMax || text.split('\n', pastedLinesMax + 1).length > pastedLinesMax
}

export function pastedName(text: string): string {
  const lines = text.split('\n').length
  return `Pasted text, ${lines.toLocaleString('en')} ${lines === 1 ? 'line' : 'lines'}`
}

/** Why a file cannot be added, or null; `others` are the chips there already. */
export function refusalOf(file: { size: number }, others: readonly Chip[]): string | null {
  const kept = others.filter((chip) => chip.state.kind !== 'refused')
  if (file.size === 0) return 'It is empty.'
  if (kept.length >= attachmentsMax) return `A message holds ${attachmentsMax} files.`
  if (file.size > attachmentBytesMax)
    return `It is larger than ${bytesText(attachmentBytesMax)}. Mention it by its path instead.`
  const sum = kept.reduce((all, chip) => all + chip.bytes, file.size)
  return sum > attachmentsBytesMax ? `Together more than ${bytesText(attachmentsBytesMax)}.` : null
}

/** Sends a file's bytes; `onShare` is told how much is there, from 0 to 1. Throws `LatheError`, or the signal's reason. */
export async function uploadFile(
  upload: SessionClient['attachments']['upload'],
  file: Blob,
  { name, mediaType }: { name: string; mediaType: string },
  onShare: (share: number) => void,
  signal: AbortSignal,
): Promise<Attachment> {
  return uploadParts(file, async (uploadId, part, last, data, share) => {
    signal.throwIfAborted()
    try {
      const { attachment } = await upload({ uploadId, name, mediaType, part, last, data }, { signal })
      if (!attachment) onShare(share)
      return attachment
    } catch (thrown) {
      signal.throwIfAborted()
      throw asLatheError(thrown)
    }
  })
}

/** Sends a file in base64 parts, one after another, until `send` answers what it became. */
export async function uploadParts<T>(
  file: Blob,
  send: (uploadId: string, part: number, last: boolean, data: string, share: number) => Promise<T | null>,
): Promise<T> {
  const uploadId = newId()
  const parts = Math.max(1, Math.ceil(file.size / partBytes))
  for (let part = 0; part < parts; part++) {
    const data = await base64Of(file.slice(part * partBytes, (part + 1) * partBytes))
    const answer = await send(uploadId, part, part === parts - 1, data, (part + 1) / parts)
    if (answer !== null) return answer
  }
  throw asLatheError(new Error('The host did not take the file.'))
}

async function base64Of(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer())
  let binary = ''
  // In pieces: the arguments of one call are limited.
  for (let at = 0; at < bytes.length; at += 32_768) binary += String.fromCharCode(...bytes.subarray(at, at + 32_768))
  return btoa(binary)
}
