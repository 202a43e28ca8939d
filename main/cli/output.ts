/** What a command writes: results to stdout, everything else to stderr (S-127). A closed stdout ends the output only. */
import { errorBody } from '../../preload/contract/errors.ts'

export type Output = {
  readonly json: boolean
  /** Text of the result, as it is meant for people; without control characters. */
  print(text: string): void
  /** One line of JSON Lines. */
  line(value: unknown): void
  /** A stretch of a result as it is; resolves once stdout has taken it. */
  write(text: string): Promise<void>
  /** Diagnostics for people. */
  note(text: string): void
  /** A failure: one JSON line, or sentences on stderr. */
  fail(error: unknown): void
  /** Resolves once all that was written is out. */
  flush(): Promise<void>
  /** Whether stdout failed, as a full disk does, and not only closed: the result is not all there. */
  isLost(): boolean
}

/** A pipe or a socket whose other end has gone. */
const readersGone = new Set<string | undefined>(['EPIPE', 'ECONNRESET', 'EOF'])

export function createOutput(
  json: boolean,
  stdout: NodeJS.WritableStream = process.stdout,
  stderr: NodeJS.WritableStream = process.stderr,
): Output {
  let open = true
  let lost = false
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (!open) return
    open = false
    // Somebody who read enough has closed their end (`| head`).
    if (readersGone.has(error.code)) return
    lost = true
    note(`lathe: The output could not be written: ${error.message}`)
  })
  stderr.on('error', () => {})
  const out = (text: string): void => {
    if (open) stdout.write(text)
  }
  const note = (text: string): void => void stderr.write(`${printable(text)}\n`)

  return {
    json,
    print: (text) => out(`${printable(text)}\n`),
    write: (text) =>
      new Promise((resolve) => {
        if (!open) return resolve()
        stdout.write(text, () => resolve())
      }),
    line: (value) => out(`${JSON.stringify(value)}\n`),
    note,
    fail(error) {
      const { code, message, hint } = errorBody(error)
      if (json) out(`${JSON.stringify({ type: 'error', code, message, ...(hint === undefined ? {} : { hint }) })}\n`)
      else note(`lathe: ${message}${hint === undefined ? '' : `\n${hint}`}`)
    },
    flush: () =>
      Promise.race([
        Promise.all([written(stdout), written(stderr)]).then(() => undefined),
        new Promise<void>((resolve) => stdout.on('error', () => resolve())),
      ]),
    isLost: () => lost,
  }
}

function written(stream: NodeJS.WritableStream): Promise<void> {
  return new Promise((resolve) => stream.write('', () => resolve()))
}

/** Text without anything a terminal would obey or hide: such characters stand as visible marks (Z-200). */
export function printable(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(
      /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu,
      (character) => {
        const code = character.codePointAt(0)!
        if (code < 0x20) return String.fromCodePoint(0x2400 + code)
        return code === 0x7f ? '\u2421' : `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`
      },
    )
}
