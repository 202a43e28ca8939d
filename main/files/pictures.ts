/** Pictures as the window shows them: told by their content, bounded, given as they are (F-904, F-1303). */
import { LatheError } from '../../preload/contract/errors.ts'
import { shownPictureBytesMax } from '../../preload/contract/limits.ts'
import type { Picture } from '../../preload/contract/file-routes.ts'
import { pixelSize, typeOfContent } from './content-type.ts'
import { isBinary } from './text.ts'

/** Those every window can draw from bytes alone. */
const shownTypes = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'image/bmp',
  'image/x-icon',
])

/** What a picture is; null for anything else. */
export function pictureOf(bytes: Uint8Array): Picture | null {
  const mediaType = typeOfContent(bytes, isBinary(bytes))
  if (mediaType === null || !shownTypes.has(mediaType)) return null
  const { width = null, height = null } = pixelSize(bytes, mediaType) ?? {}
  return { mediaType, bytes: bytes.length, width, height }
}

/** Its bytes in base64. Throws `file.too_large` over 10 MiB, `file.not_found` where it is no picture. */
export function pictureBody(bytes: Uint8Array | null): { data: string; mediaType: string } {
  const picture = bytes && pictureOf(bytes)
  if (!bytes || !picture) throw new LatheError('file.not_found', 'There is no picture to show.')
  if (bytes.length > shownPictureBytesMax)
    throw new LatheError('file.too_large', 'This picture is larger than 10 MiB and is not shown.')
  return {
    data: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64'),
    mediaType: picture.mediaType,
  }
}
