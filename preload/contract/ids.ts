/** Ids are UUIDv7, made once, never reused, never used as file names (S-2). An id from outside is matched whole. */
import { z } from 'zod'
import { idCharsMax, requestIdCharsMax } from './limits.ts'

/** 1-64 of `A-Za-z0-9_-`; anchored so that a trailing newline, dot or slash is refused. */
export const Id = z.string().regex(new RegExp(`^[A-Za-z0-9_-]{1,${idCharsMax}}$`))
export const RequestId = z.string().regex(new RegExp(`^[A-Za-z0-9._:-]{1,${requestIdCharsMax}}$`))
export const BlobHash = z.string().regex(/^[0-9a-f]{64}$/)

let last = 0n

/** A fresh UUIDv7: sorts by time, and within one process strictly by the order of making. */
export function newId(now: number = Date.now()): string {
  const random = new Uint8Array(8)
  crypto.getRandomValues(random)
  // 48 bits of milliseconds and 12 of a counter that carries on within a millisecond, so order of making is order of id.
  let stamp = BigInt(now) << 12n
  if (stamp <= last) stamp = last + 1n
  last = stamp
  const time = (stamp >> 12n).toString(16).padStart(12, '0')
  const counter = (stamp & 0xfffn).toString(16).padStart(3, '0')
  const tail = [...random].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  const variant = ((random[0]! & 0x3f) | 0x80).toString(16)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${counter}-${variant}${tail.slice(2, 4)}-${tail.slice(4)}`
}
