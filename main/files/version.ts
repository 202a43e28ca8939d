/** What tells one state of a file from another (F-205). */
import { createHash } from 'node:crypto'
import type { BigIntStats } from 'node:fs'

/** Files up to this size are known by the hash of their bytes and may be edited (F-205, F-522). */
export const hashedBytesMax = 16 * 1024 * 1024
/** Up to here hashing takes under a millisecond; more is done off the main loop. */
const hashedHereMax = 256 * 1024

/** SHA-256 of the bytes, 64 hex digits. */
export async function hashOf(bytes: Uint8Array): Promise<string> {
  if (bytes.length <= hashedHereMax) return createHash('sha256').update(bytes).digest('hex')
  return Buffer.from(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)).toString('hex')
}

/** The version of a file too large to hash: size, time of change in nanoseconds, file number. */
export function statVersion(stats: BigIntStats): string {
  return `${stats.size}-${stats.mtimeNs}-${stats.ino}`
}
