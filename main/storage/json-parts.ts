/**
 * The values of a JSON object one by one, however large the whole is: each element of an array that stands in it, each
 * other value whole, as text. Text comes in chunks cut anywhere.
 */
import { nestedValuesMax } from '../../preload/contract/limits.ts'

export type JsonPart = { key: string; index: number | null; text: string }

const quote = 0x22
const backslash = 0x5c
const openers = new Set([0x5b, 0x7b])
const closers = new Set([0x5d, 0x7d])
const blanks = new Set([0x20, 0x09, 0x0a, 0x0d])
const comma = 0x2c

export class JsonParts {
  private state: 'start' | 'key' | 'colon' | 'value' | 'element' | 'done' = 'start'
  /** What has been read of the value under way; null between values. */
  private open: string | null = null
  private depth = 0
  private inString = false
  private escaped = false
  private key = ''
  private index: number | null = null
  private readonly valueCharsMax: number

  constructor(valueCharsMax: number) {
    this.valueCharsMax = valueCharsMax
  }

  /** Throws a SyntaxError for what is no JSON object, and for a value longer or deeper than allowed. */
  *feed(chunk: string): Generator<JsonPart> {
    let from = 0
    for (let at = 0; at < chunk.length; at++) {
      const char = chunk.charCodeAt(at)
      if (this.open === null) {
        if (!this.between(char)) continue
        this.open = ''
        from = at
        this.depth = 0
        this.inString = false
      }
      const ends = this.within(char)
      if (ends === null) continue
      const until = ends === 'after' ? at + 1 : at
      const part = this.close(chunk.slice(from, until))
      // What ended a number stands for itself.
      if (ends === 'before') this.between(char)
      if (part) yield part
    }
    if (this.open === null) return
    this.open += chunk.slice(from)
    if (this.open.length > this.valueCharsMax) throw new SyntaxError('A value is too long.')
  }

  /** Throws where the object has not ended. */
  end(): void {
    if (this.state !== 'done') throw new SyntaxError('The text ends too early.')
  }

  /** Takes a character that stands between values; true where it begins one. */
  private between(char: number): boolean {
    if (blanks.has(char)) return false
    switch (this.state) {
      case 'start':
        this.expect(char, '{')
        this.state = 'key'
        return false
      case 'key':
        if (char === quote) return true
        if (char === 0x7d) this.state = 'done'
        else this.expect(char, ',')
        return false
      case 'colon':
        this.expect(char, ':')
        this.state = 'value'
        return false
      case 'value':
        if (char !== 0x5b) return true
        this.index = 0
        this.state = 'element'
        return false
      case 'element':
        if (char === 0x5d) {
          this.index = null
          this.state = 'key'
          return false
        }
        return char !== comma
      case 'done':
        throw new SyntaxError('Something stands behind the end.')
    }
  }

  /** Takes a character of a value; says whether the value ends with it, or before it. */
  private within(char: number): 'after' | 'before' | null {
    if (this.inString) {
      if (this.escaped) this.escaped = false
      else if (char === backslash) this.escaped = true
      else if (char === quote) {
        this.inString = false
        if (this.depth === 0) return 'after'
      }
      return null
    }
    if (char === quote) this.inString = true
    else if (openers.has(char)) {
      if (++this.depth > nestedValuesMax) throw new SyntaxError('A value is nested too deep.')
    } else if (closers.has(char)) {
      if (this.depth === 0) return 'before'
      if (--this.depth === 0) return 'after'
    } else if (this.depth === 0 && (char === comma || blanks.has(char))) return 'before'
    return null
  }

  private close(rest: string): JsonPart | null {
    const text = this.open + rest
    this.open = null
    if (text.length > this.valueCharsMax) throw new SyntaxError('A value is too long.')
    if (this.state === 'key') {
      this.key = JSON.parse(text) as string
      this.state = 'colon'
      return null
    }
    const part = { key: this.key, index: this.index, text }
    if (this.index === null) this.state = 'key'
    else this.index++
    return part
  }

  private expect(char: number, wanted: string): void {
    if (char !== wanted.charCodeAt(0)) throw new SyntaxError(`"${wanted}" was expected.`)
  }
}
