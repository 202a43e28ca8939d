/** What an attached file is, by its content alone (F-1206), and what it may be called (F-1205). */
import { LatheError } from '../../preload/contract/errors.ts'
import { typeOfContent } from './content-type.ts'
import { isImageType } from './images.ts'
import { isBinary } from './text.ts'

const headBytes = 4_100
const imageBytesMax = 20 * 1024 * 1024
const nameCharsMax = 120
const reservedNames = /^(con|prn|aux|nul|com[1-9]|lpt[1-9])(\.|$)/i

/** The media type of the bytes; what was declared and what the name ends in decide nothing. */
export function attachmentType(bytes: Uint8Array): string {
  const head = bytes.subarray(0, headBytes)
  const binary = isBinary(bytes)
  return typeOfContent(head, binary) ?? (binary ? 'application/octet-stream' : 'text/plain')
}

/** Throws `attachment.rejected` with a reason for what is empty, or a picture over 20 MiB (F-1203, F-1206). */
export function checkAttachment(name: string, bytes: Uint8Array): void {
  if (bytes.length === 0) throw rejected(name, 'malformed', 'It is empty.')
  if (bytes.length > imageBytesMax && isImageType(attachmentType(bytes)))
    throw rejected(name, 'too_large', 'A picture may have 20 MiB.')
}

/** A name for people and for any disk: last segment, no control characters, at most 120 characters with its extension. */
export function attachmentName(given: string, bytes: Uint8Array): string {
  const last = given.split(/[/\\]/).at(-1) ?? ''
  // oxlint-disable-next-line no-control-regex -- these are what is taken out
  const plain = last.replace(/[\u0000-\u001f\u007f-\u009f<>:"/\\|?*]/g, '').trim()
  if (plain === '' || /^\.+$/.test(plain)) return `attachment${extensionOf(attachmentType(bytes))}`
  const safe = reservedNames.test(plain) ? `_${plain}` : plain
  if (safe.length <= nameCharsMax) return safe
  const extension = /\.[^.]{1,16}$/.exec(safe)?.[0] ?? ''
  return `${safe.slice(0, nameCharsMax - extension.length)}${extension}`
}

/** Equal names of one message are told apart (F-1205); identity is never the name. */
export function distinctNames(names: readonly string[]): string[] {
  const taken = new Set<string>()
  return names.map((name) => {
    const [, stem = name, extension = ''] = /^(.+?)(\.[^.]*)?$/s.exec(name) ?? []
    let one = name
    for (let count = 2; taken.has(one.toLowerCase()); count++) one = `${stem} (${count})${extension}`
    taken.add(one.toLowerCase())
    return one
  })
}

function extensionOf(type: string): string {
  const known: Record<string, string> = { 'text/plain': '.txt', 'application/pdf': '.pdf', 'image/jpeg': '.jpg' }
  return known[type] ?? (isImageType(type) ? `.${type.slice('image/'.length)}` : '')
}

function rejected(name: string, reason: string, why: string): LatheError {
  return new LatheError('attachment.rejected', `${name} cannot be attached. ${why}`, {
    data: { files: [{ name, reason }] },
  })
}
