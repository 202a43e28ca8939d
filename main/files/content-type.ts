/** What a file is by its first bytes, whatever its name says (F-307, F-308). */

const signatures: [type: string, bytes: number[], at?: number][] = [
  ['image/png', [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ['image/jpeg', [0xff, 0xd8, 0xff]],
  ['image/gif', [0x47, 0x49, 0x46, 0x38]],
  ['image/webp', [0x57, 0x45, 0x42, 0x50], 8],
  ['image/bmp', [0x42, 0x4d]],
  ['image/tiff', [0x49, 0x49, 0x2a, 0x00]],
  ['image/tiff', [0x4d, 0x4d, 0x00, 0x2a]],
  ['image/x-icon', [0x00, 0x00, 0x01, 0x00]],
  ['image/avif', [0x66, 0x74, 0x79, 0x70, 0x61, 0x76, 0x69, 0x66], 4],
  ['image/heic', [0x66, 0x74, 0x79, 0x70, 0x68, 0x65, 0x69, 0x63], 4],
  ['video/mp4', [0x66, 0x74, 0x79, 0x70], 4],
  ['video/webm', [0x1a, 0x45, 0xdf, 0xa3]],
  ['audio/wav', [0x57, 0x41, 0x56, 0x45], 8],
  ['audio/ogg', [0x4f, 0x67, 0x67, 0x53]],
  ['audio/flac', [0x66, 0x4c, 0x61, 0x43]],
  ['audio/mpeg', [0x49, 0x44, 0x33]],
  ['font/woff2', [0x77, 0x4f, 0x46, 0x32]],
  ['application/pdf', [0x25, 0x50, 0x44, 0x46, 0x2d]],
  ['application/zip', [0x50, 0x4b, 0x03, 0x04]],
  ['application/gzip', [0x1f, 0x8b]],
  ['application/zstd', [0x28, 0xb5, 0x2f, 0xfd]],
  ['application/x-xz', [0xfd, 0x37, 0x7a, 0x58, 0x5a]],
  ['application/x-7z-compressed', [0x37, 0x7a, 0xbc, 0xaf]],
  ['application/x-elf', [0x7f, 0x45, 0x4c, 0x46]],
  ['application/vnd.microsoft.portable-executable', [0x4d, 0x5a]],
  ['application/wasm', [0x00, 0x61, 0x73, 0x6d]],
  ['application/vnd.sqlite3', [0x53, 0x51, 0x4c, 0x69, 0x74, 0x65, 0x20, 0x66]],
]

/** These begin like text but are not. */
const neverText = new Set(['application/pdf'])

/** The media type of content that is not text; null for text and for what is not known. */
export function typeOfContent(head: Uint8Array, binary: boolean): string | null {
  const type = signatures.find(([, bytes, at = 0]) => bytes.every((byte, index) => head[at + index] === byte))?.[0]
  return type !== undefined && (binary || neverText.has(type)) ? type : null
}

export type PixelSize = { width: number; height: number }

/** Size of a PNG, GIF, JPEG or WebP picture by its header, or null. */
export function pixelSize(head: Uint8Array, type: string): PixelSize | null {
  const view = Buffer.from(head.buffer, head.byteOffset, head.byteLength)
  try {
    if (type === 'image/png') return { width: view.readUInt32BE(16), height: view.readUInt32BE(20) }
    if (type === 'image/gif') return { width: view.readUInt16LE(6), height: view.readUInt16LE(8) }
    if (type === 'image/webp') return webpSize(view)
    if (type === 'image/jpeg') return jpegSize(view)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  return null
}

function webpSize(view: Buffer): PixelSize | null {
  const kind = view.toString('latin1', 12, 16)
  if (kind === 'VP8X') return { width: view.readUIntLE(24, 3) + 1, height: view.readUIntLE(27, 3) + 1 }
  if (kind === 'VP8 ') return { width: view.readUInt16LE(26) & 0x3fff, height: view.readUInt16LE(28) & 0x3fff }
  if (kind !== 'VP8L') return null
  const bits = view.readUInt32LE(21)
  return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 }
}

/** Walks the segments to the frame header. */
function jpegSize(view: Buffer): PixelSize | null {
  for (let at = 2; view[at] === 0xff; at += 2 + view.readUInt16BE(at + 2)) {
    const marker = view[at + 1]!
    const frame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
    if (frame) return { width: view.readUInt16BE(at + 7), height: view.readUInt16BE(at + 5) }
  }
  return null
}
