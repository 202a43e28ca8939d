/** What a message must pass before it enters a mailbox (T-14, T-15): all that has to be awaited, in the order of the refusals. */
import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { LatheError } from '../../preload/contract/errors.ts'
import type { Attachment } from '../../preload/contract/items.ts'
import {
  attachedImagesBytesMax,
  attachmentsBytesMax,
  attachmentsMax,
  freeDiskMin,
} from '../../preload/contract/limits.ts'
import { freeBytes } from '../platform/disk-watch.ts'
import type { Blobs } from '../storage/blobs.ts'

/** SHA-256 of the canonical JSON of what was asked (T-13). */
export function fingerprintOf(value: Record<string, unknown>): string {
  const sorted = (_key: string, part: unknown): unknown =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part
  const canonical = JSON.stringify(value, sorted)
  return createHash('sha256').update(canonical).digest('hex')
}

/** All or nothing, with a reason for each file that is refused: F-1203, F-1204. */
export async function checkAttachments(attachments: readonly Attachment[], blobs: Blobs): Promise<void> {
  const files: { name: string; reason: string }[] = []
  let bytes = 0
  let imageBytes = 0
  for (const [at, { name, hash, mediaType }] of attachments.entries()) {
    const body = at < attachmentsMax ? await blobs.get(hash).catch(() => null) : null
    bytes += body?.byteLength ?? 0
    if (mediaType.startsWith('image/')) imageBytes += body?.byteLength ?? 0
    if (at >= attachmentsMax) files.push({ name, reason: 'too_many' })
    else if (!body) files.push({ name, reason: 'unreadable' })
    else if (bytes > attachmentsBytesMax || imageBytes > attachedImagesBytesMax)
      files.push({ name, reason: 'too_large' })
  }
  if (files.length === 0) return
  const names = files.map((file) => file.name).join(', ')
  throw new LatheError('attachment.rejected', `${names} cannot be sent.`, {
    hint: 'Remove it, or attach it again.',
    data: { files },
  })
}

/** The folder is there, and its disk and that of the data folder have room for the work (Z-223). */
export async function checkPlace(workspace: string, dataFolder: string): Promise<void> {
  const folder = await stat(workspace).catch(() => null)
  if (!folder?.isDirectory()) {
    throw new LatheError('workspace.missing', `The folder ${workspace} is not there.`, {
      hint: 'Locate it, or open another one.',
    })
  }
  for (const place of [dataFolder, workspace]) {
    const free = await freeBytes(place)
    if (free !== null && free < freeDiskMin) {
      throw new LatheError('storage.low', `Less than 100 MiB of disk are free at ${place}.`, {
        hint: 'Free some space, then send it again.',
      })
    }
  }
}
