import type { Item } from '../../preload/contract/items.ts'
import { itemTextBytesMax } from '../../preload/contract/limits.ts'

const headBytes = (itemTextBytesMax / 4) * 3
const tailBytes = itemTextBytesMax / 4

/** An item as it stands in a slice; `omitted` counts the UTF-16 units left out of its texts. */
export type ClippedItem = Item

/**
 * The item as slices and settle events carry it (S-38, S-58): each text over 64 KiB of UTF-8, wherever in the item it
 * stands, is its first 48 and last 16 KiB with the omitted count between. The same object where nothing is that long.
 */
export function clipItem(item: Item): ClippedItem {
  let omitted = 0
  const clipped = clipTexts(item, (count) => (omitted += count)) as Item
  return omitted === 0 ? item : { ...clipped, omitted }
}

/** The same of a stored body; a damaged one stays as it is, and the main side answers for it (S-7). */
export function clipBody(body: string): string {
  // One byte of text is at least one unit of JSON, so a shorter body holds no text to clip.
  if (body.length <= itemTextBytesMax / 3) return body
  const item = parsed(body)
  const clipped = item && clipItem(item)
  return clipped === item ? body : JSON.stringify(clipped)
}

function parsed(body: string): Item | null {
  try {
    return JSON.parse(body) as Item
  } catch {
    return null
  }
}

function clipTexts(value: unknown, onOmit: (count: number) => void): unknown {
  if (typeof value === 'string') return clipText(value, onOmit)
  if (Array.isArray(value)) return value.map((part) => clipTexts(part, onOmit))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, clipTexts(part, onOmit)]))
}

function clipText(text: string, onOmit: (count: number) => void): string {
  // A UTF-16 unit is at most three bytes, so most texts are known to fit without being measured.
  if (text.length * 3 <= itemTextBytesMax) return text
  const bytes = Buffer.from(text)
  if (bytes.length <= itemTextBytesMax) return text
  const head = bytes.toString('utf8', 0, charStart(bytes, headBytes))
  const tail = bytes.toString('utf8', charStart(bytes, bytes.length - tailBytes))
  const count = text.length - head.length - tail.length
  onOmit(count)
  return `${head}\n\n[${count} characters omitted]\n\n${tail}`
}

/** `at`, or the start of the character that would be cut there. */
function charStart(bytes: Buffer, at: number): number {
  while (at > 0 && (bytes[at]! & 0xc0) === 0x80) at--
  return at
}
