/**
 * Pictures as a model gets them (F-1220 to F-1222): upright, without metadata, small enough. Decoded by native code in its
 * own threads, so the main loop never waits for it; made once for each content.
 */
import { LatheError } from '../../preload/contract/errors.ts'
import type { Blobs } from '../storage/blobs.ts'
import { hashOf } from './version.ts'

export type PreparedImage = {
  /** Of the prepared bytes, which are a blob. */
  hash: string
  mediaType: 'image/png' | 'image/jpeg'
  width: number
  height: number
  /** Pixels of the picture it was made from, upright. */
  original: { width: number; height: number }
}

const sideMax = 2_000
const sentBytesMax = Math.floor(3.5 * 1024 * 1024)
const pixelsMax = 50_000_000
const qualities = [85, 70, 50]
const decodeSeconds = 20
const keptMax = 500

/** Types that are sent as pictures where they can be decoded; SVG is text and never one (F-1206). */
const imageTypes = new Set([
  'image/png',
  'image/jpeg',
  'image/webp',
  'image/gif',
  'image/tiff',
  'image/avif',
  'image/heic',
  'image/bmp',
])

export function isImageType(type: string | null): type is string {
  return type !== null && imageTypes.has(type)
}

export class Images {
  readonly #blobs: Blobs
  readonly #prepared = new Map<string, Promise<PreparedImage>>()

  constructor(blobs: Blobs) {
    this.#blobs = blobs
  }

  /** Throws `file.binary` where it is damaged, of a kind nobody decodes here, or over 50 megapixels. */
  async prepare(bytes: Uint8Array): Promise<PreparedImage> {
    const key = await hashOf(bytes)
    let prepared = this.#prepared.get(key)
    if (!prepared) {
      prepared = this.#make(bytes)
      this.#prepared.set(key, prepared)
      prepared.catch(() => this.#prepared.delete(key))
      if (this.#prepared.size > keptMax) this.#prepared.delete(this.#prepared.keys().next().value!)
    }
    return prepared
  }

  async #make(bytes: Uint8Array): Promise<PreparedImage> {
    try {
      const { data, ...image } = await smallEnough(bytes)
      return { hash: await this.#blobs.put(data), ...image }
    } catch (error) {
      if (error instanceof LatheError) throw error
      throw new LatheError('file.binary', 'This picture is damaged or too large, and cannot be shown.', {
        cause: error,
      })
    }
  }
}

/** PNG stays PNG where that fits; else JPEG, worse and then smaller by a quarter until it fits. */
async function smallEnough(bytes: Uint8Array): Promise<Omit<PreparedImage, 'hash'> & { data: Uint8Array }> {
  const { default: sharp } = await import('sharp')
  const open = () => sharp(bytes, { limitInputPixels: pixelsMax, pages: 1 }).timeout({ seconds: decodeSeconds })
  const { autoOrient, format, hasAlpha } = await open().metadata()
  const original = { width: autoOrient.width, height: autoOrient.height }
  const sized = (side: number) =>
    open().autoOrient().resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
  if (format === 'png' || format === 'gif' || hasAlpha) {
    const { data, info } = await sized(sideMax).png().toBuffer({ resolveWithObject: true })
    if (data.length <= sentBytesMax)
      return { data, mediaType: 'image/png', width: info.width, height: info.height, original }
  }
  for (let side = sideMax; ; side = Math.floor(side * 0.75)) {
    for (const quality of qualities) {
      const { data, info } = await sized(side)
        .flatten({ background: 'white' })
        .jpeg({ quality })
        .toBuffer({ resolveWithObject: true })
      if (data.length <= sentBytesMax || side < 64)
        return { data, mediaType: 'image/jpeg', width: info.width, height: info.height, original }
    }
  }
}

/** How a changed size is told to the model; empty where it is as it was (F-1221). */
export function sizeNote({ width, height, original }: PreparedImage): string {
  return width === original.width && height === original.height
    ? ''
    : `shown at ${width}x${height} of ${original.width}x${original.height}`
}
