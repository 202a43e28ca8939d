/** Ids are UUIDv7, made once, never reused, never used as file names (S-2). An id from outside is matched whole. */
import { z } from 'zod'
import { idCharsMax, requestIdCharsMax } from './limits.ts'

/** 1-64 of `A-Za-z0-9_-`; anchored so that a trailing newline, dot or slash is refused. */
export const Id = z.string().regex(new RegExp(`^[A-Za-z0-9_-]{1,${idCharsMax}}$`))
export const RequestId = z.string().regex(new RegExp(`^[A-Za-z0-9._:-]{1,${requestIdCharsMax}}$`))
export const BlobHash = z.string().regex(/^[0-9a-f]{64}$/)

/** Random bytes are made for many ids at once: asking for them costs more than all the rest. */
const tails = new Uint8Array(8 * 256)
let used = tails.length
const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
let lastMs = 0
let count = 0

/** A fresh UUIDv7: sorts by time, and within one process strictly by the order of making. */
export function newId(now: number = Date.now()): string {
  // 48 bits of milliseconds and 12 of a counter that carries on within a millisecond, so order of making is order of id.
  if (now > lastMs) {
    lastMs = now
    count = 0
  } else if (++count > 0xfff) {
    lastMs++
    count = 0
  }
  if (used === tails.length) {
    crypto.getRandomValues(tails)
    used = 0
  }
  const byte = (at: number): string => hex[tails[used + at]!]!
  const time = lastMs.toString(16).padStart(12, '0')
  const variant = hex[(tails[used]! & 0x3f) | 0x80]!
  const id = `${time.slice(0, 8)}-${time.slice(8)}-7${hex[count >> 8]![1]!}${hex[count & 0xff]!}-${variant}${byte(1)}-${byte(2)}${byte(3)}${byte(4)}${byte(5)}${byte(6)}${byte(7)}`
  used += 8
  return id
}
