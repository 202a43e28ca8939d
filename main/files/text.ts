/**
 * Bytes as text and back, byte for byte (F-201 to F-204): encoding and byte order mark, line ends, what is binary.
 * `chardet` and `iconv-lite` load only for the rare file that is neither UTF-8 nor marked.
 */
import { isUtf8 } from 'node:buffer'
import { LatheError } from '../../preload/contract/errors.ts'

export type Encoding = { name: string; /** The byte order mark the file begins with. */ mark: Uint8Array }

export type LineEnds = 'none' | 'lf' | 'crlf' | 'cr' | 'mixed'

export type DecodedText = { text: string; encoding: Encoding }

/** Bytes the binary test and the guess of an encoding look at (F-202). */
export const binarySampleBytes = 8_192
const guessSampleBytes = 64 * 1024

const noMark = new Uint8Array()
export const utf8: Encoding = { name: 'utf-8', mark: noMark }

const marks: Encoding[] = [
  { name: 'utf-8', mark: Uint8Array.of(0xef, 0xbb, 0xbf) },
  { name: 'utf-16le', mark: Uint8Array.of(0xff, 0xfe) },
  { name: 'utf-16be', mark: Uint8Array.of(0xfe, 0xff) },
]

/** The encoding a byte order mark states, or null. */
function markedEncoding(head: Uint8Array): Encoding | null {
  return marks.find(({ mark }) => mark.every((byte, at) => head[at] === byte)) ?? null
}

/** A NUL, or over a fifth control characters, in the first 8,192 bytes (F-202). A marked file is text whatever it holds. */
export function isBinary(bytes: Uint8Array): boolean {
  if (markedEncoding(bytes)) return false
  const sample = bytes.subarray(0, binarySampleBytes)
  let controls = 0
  for (const byte of sample) {
    if (byte === 0) return true
    if (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0c && byte !== 0x0d && byte !== 0x1b) controls++
  }
  return controls > sample.length / 5
}

/** The encoding of a text file (F-201); null for binary content. `bytes` may be the head of a longer file. */
export async function encodingOf(bytes: Uint8Array): Promise<Encoding | null> {
  const marked = markedEncoding(bytes)
  if (marked) return marked
  if (isBinary(bytes)) return null
  return isUtf8(bytes) ? utf8 : legacyEncoding(bytes)
}

/** A guess, `windows-1252` when unsure (F-201). */
async function legacyEncoding(bytes: Uint8Array): Promise<Encoding> {
  const [{ analyse }, { encodingExists }] = await Promise.all([import('chardet'), legacyCodec()])
  const best = analyse(bytes.subarray(0, guessSampleBytes)).find(
    ({ name }) => !/^utf|^ascii/i.test(name) && encodingExists(name),
  )
  // The library reports Western text as ISO-8859-1, whose C1 range is empty in practice: its Windows superset is meant.
  const sure = best !== undefined && best.confidence >= 40 && best.name !== 'ISO-8859-1'
  return { name: sure ? best.name.toLowerCase() : 'windows-1252', mark: noMark }
}

/** Text without its byte order mark, or null for binary content. Line ends stay as they are. */
export async function decodeText(bytes: Uint8Array): Promise<DecodedText | null> {
  const encoding = await encodingOf(bytes)
  return encoding && { text: await decodeAs(bytes.subarray(encoding.mark.length), encoding), encoding }
}

/** Bytes after the mark as text; what cannot be decoded becomes U+FFFD. */
export async function decodeAs(body: Uint8Array, { name }: Encoding): Promise<string> {
  const buffer = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  if (name === 'utf-8') return buffer.toString('utf8')
  if (name === 'utf-16le') return buffer.toString('utf16le')
  if (name === 'utf-16be') return swapped(buffer).toString('utf16le')
  return (await legacyCodec()).decode(buffer, name, { stripBOM: false })
}

/** Text as bytes, mark included. Throws `file.unencodable` naming character and line (F-203). */
export async function encodeText({ text, encoding }: DecodedText): Promise<Uint8Array> {
  return Buffer.concat([encoding.mark, await encodeAs(text, encoding)])
}

async function encodeAs(text: string, encoding: Encoding): Promise<Buffer> {
  const { name } = encoding
  if (name === 'utf-16le') return Buffer.from(text, 'utf16le')
  if (name === 'utf-16be') return swapped(Buffer.from(text, 'utf16le'))
  const bytes = name === 'utf-8' ? Buffer.from(text, 'utf8') : (await legacyCodec()).encode(text, name)
  // UTF-8 expresses all but lone surrogates; a legacy encoding much less.
  const fits = name === 'utf-8' ? text.isWellFormed() : (await decodeAs(bytes, encoding)) === text
  if (!fits) throw await unencodable(text, encoding)
  return bytes
}

/** Whether decoding and encoding gives every byte back: only then is the file edited (F-203). */
export async function keepsEveryByte(bytes: Uint8Array, decoded: DecodedText): Promise<boolean> {
  if (decoded.encoding.name === 'utf-8') return isUtf8(bytes)
  const again = await encodeText(decoded).catch(() => null)
  return again !== null && Buffer.compare(again, bytes) === 0
}

/** Which line ends a text uses; CR counts only where there is no LF (F-204). */
export function lineEndsOf(text: string): LineEnds {
  let crlf = 0
  let lf = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    if (text[at - 1] === '\r') crlf++
    else lf++
  }
  if (crlf > 0) return lf > 0 ? 'mixed' : 'crlf'
  if (lf > 0) return 'lf'
  return text.includes('\r') ? 'cr' : 'none'
}

/** Lines of a text as people count them: a last line end begins no further line. */
export function countLines(text: string): number {
  if (text === '') return 0
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  return text.endsWith('\n') ? count : count + 1
}

/** The first `limit` characters, never half of a surrogate pair. */
export function clip(text: string, limit: number): string {
  if (text.length <= limit) return text
  const last = text.charCodeAt(limit - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit)
}

export type LineDecoder = {
  write(bytes: Uint8Array): string
  /** What was held back; the decoder starts anew. */
  end(): string
}

/** Decodes a line that comes in pieces. UTF-16 is not one of its encodings: its lines cannot be found as bytes. */
export async function lineDecoder({ name }: Encoding): Promise<LineDecoder> {
  if (name === 'utf-8' || name.startsWith('utf-16')) {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
    return { write: (bytes) => decoder.decode(bytes, { stream: true }), end: () => decoder.decode() }
  }
  const codec = await legacyCodec()
  let decoder = codec.getDecoder(name)
  return {
    write: (bytes) => decoder.write(Buffer.from(bytes)),
    end() {
      const rest = decoder.end() ?? ''
      decoder = codec.getDecoder(name)
      return rest
    },
  }
}

async function unencodable(text: string, encoding: Encoding): Promise<LatheError> {
  let line = 1
  for (const character of text) {
    if (character === '\n') line++
    if (character.codePointAt(0)! < 0x80) continue
    const fits =
      encoding.name === 'utf-8'
        ? character.isWellFormed()
        : (await decodeAs((await legacyCodec()).encode(character, encoding.name), encoding)) === character
    if (!fits)
      return new LatheError(
        'file.unencodable',
        `The file is ${encoding.name}, which cannot express "${character.toWellFormed()}" (line ${line}).`,
        { hint: 'Nothing was written. Use characters the encoding has, or convert the file first.' },
      )
  }
  return new LatheError('file.unencodable', `The file is ${encoding.name}, which cannot express this text.`)
}

function swapped(bytes: Buffer): Buffer {
  const even = Buffer.from(bytes.subarray(0, bytes.length & ~1))
  return even.swap16()
}

let codec: Promise<typeof import('iconv-lite')> | undefined

function legacyCodec(): Promise<typeof import('iconv-lite')> {
  return (codec ??= import('iconv-lite').then((module) =>
    'default' in module ? (module.default as typeof module) : module,
  ))
}
