/**
 * What a call that writes files is going to change, read from its arguments while the model still writes them (F-707):
 * files and added lines so far. Nothing is applied before the call is complete. Each piece is looked at once.
 */
import type { CallInWriting } from '../../preload/contract/session.ts'

/** The argument that holds the text, by tool. */
const textArguments: Record<string, string> = { apply_patch: 'patch', write_file: 'content' }
const filesShownMax = 50
/** Arguments before the text: a path, a flag. */
const headCharsMax = 16_000

export class CallBeingWritten {
  readonly #tool: string
  readonly #argument: string
  /** Arguments until their text begins. */
  #head = ''
  #state: 'before' | 'inside' | 'after' = 'before'
  /** JSON of the text that ends in the middle of an escape. */
  #rest = ''
  /** The last line, as far as it is there. */
  #line = ''
  #files: CallInWriting['files'] = []

  private constructor(tool: string, argument: string) {
    this.#tool = tool
    this.#argument = argument
  }

  /** Null for calls that write no files. */
  static of(tool: string): CallBeingWritten | null {
    const argument = textArguments[tool]
    return argument === undefined ? null : new CallBeingWritten(tool, argument)
  }

  push(json: string): void {
    if (this.#state === 'after') return
    if (this.#state === 'inside') return this.#take(json)
    this.#head = (this.#head + json).slice(0, headCharsMax)
    const found = new RegExp(`"${this.#argument}"\\s*:\\s*"`).exec(this.#head)
    if (!found) return
    const text = this.#head.slice(found.index + found[0].length)
    this.#head = this.#head.slice(0, found.index)
    this.#state = 'inside'
    if (this.#tool === 'write_file') this.#files.push({ path: pathIn(this.#head), added: 0 })
    this.#take(text)
  }

  /** What is known so far, as a value of its own. */
  get so(): CallInWriting {
    const files = this.#files.slice(0, filesShownMax).map((file) => ({ ...file }))
    return { tool: this.#tool, files, more: Math.max(0, this.#files.length - filesShownMax) }
  }

  #take(piece: string): void {
    const json = this.#rest + piece
    const { end, closed } = wholeOf(json)
    this.#rest = json.slice(end)
    if (closed) this.#state = 'after'
    const lines = (this.#line + unescaped(json.slice(0, end))).split('\n')
    this.#line = lines.pop() ?? ''
    for (const line of lines) this.#count(line)
    if (closed && this.#line !== '') this.#count(this.#line)
  }

  #count(line: string): void {
    if (this.#tool === 'write_file') {
      this.#files[0]!.added += 1
      return
    }
    const named = /^\*\*\* (?:Add|Update|Delete) File: (.+)$/.exec(line.trimEnd())
    if (named) this.#files.push({ path: named[1]!, added: 0 })
    else if (line.startsWith('+') && this.#files.length > 0) this.#files.at(-1)!.added += 1
  }
}

/** How much of a JSON string's inside is whole: up to its closing quote, or to an escape that is cut. */
function wholeOf(json: string): { end: number; closed: boolean } {
  for (let at = 0; at < json.length; at++) {
    if (json[at] === '"') return { end: at, closed: true }
    if (json[at] !== '\\') continue
    const length = json[at + 1] === 'u' ? 6 : 2
    if (at + length > json.length) return { end: at, closed: false }
    at += length - 1
  }
  return { end: json.length, closed: false }
}

/** What cannot be read is counted as it stands: only a display comes of it. */
function unescaped(json: string): string {
  try {
    return JSON.parse(`"${json}"`) as string
  } catch {
    return json
  }
}

function pathIn(json: string): string | null {
  const found = /"path"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(json)
  return found ? unescaped(found[1]!) : null
}
