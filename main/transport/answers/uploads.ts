/** Attachments on their way in: parts in order, bounded, joined into one blob at the last (F-1203). */
import { LatheError } from '../../../preload/contract/errors.ts'
import type { Attachment } from '../../../preload/contract/items.ts'
import { attachmentName, attachmentType, checkAttachment } from '../../files/attachment-type.ts'
import type { Blobs } from '../../storage/blobs.ts'

type Part = { uploadId: string; name: string; part: number; last: boolean; data: string }
type Upload = { parts: Buffer[]; bytes: number; at: number }

const uploadsMax = 16
const staleMs = 5 * 60_000

export class Uploads {
  private readonly open = new Map<string, Upload>()
  private readonly blobs: Blobs
  private readonly bytesMax: number

  constructor(blobs: Blobs, bytesMax: number) {
    this.blobs = blobs
    this.bytesMax = bytesMax
  }

  /** Resolves with the attachment at the last part. Throws `attachment.rejected`, `request.invalid`. */
  async add({ uploadId, name, part, last, data }: Part): Promise<{ attachment: Attachment | null }> {
    const upload = this.upload(uploadId, part)
    const bytes = Buffer.from(data, 'base64')
    upload.bytes += bytes.length
    upload.at = Date.now()
    if (upload.bytes > this.bytesMax) {
      this.open.delete(uploadId)
      throw new LatheError('attachment.rejected', `${name} is larger than ${this.bytesMax / 1024 / 1024} MiB.`, {
        data: { files: [{ name, reason: 'too_large' }] },
      })
    }
    upload.parts.push(bytes)
    if (!last) return { attachment: null }
    this.open.delete(uploadId)
    const whole = Buffer.concat(upload.parts)
    checkAttachment(name, whole)
    const hash = await this.blobs.put(whole)
    return {
      attachment: {
        name: attachmentName(name, whole),
        mediaType: attachmentType(whole),
        bytes: whole.length,
        hash,
      },
    }
  }

  private upload(uploadId: string, part: number): Upload {
    const known = this.open.get(uploadId)
    if (known && known.parts.length === part) return known
    if (known || part !== 0)
      throw new LatheError('request.invalid', 'The parts of this upload came out of order.', {
        hint: 'Attach the file again.',
      })
    for (const [id, upload] of this.open) if (Date.now() - upload.at > staleMs) this.open.delete(id)
    if (this.open.size >= uploadsMax)
      throw new LatheError('attachment.rejected', 'Too many files are being attached at once.', {
        hint: 'Wait for the others.',
      })
    const upload: Upload = { parts: [], bytes: 0, at: Date.now() }
    this.open.set(uploadId, upload)
    return upload
  }
}
