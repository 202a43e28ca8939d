/**
 * Reasoning that a model writes as text between tags (M-60). Only tags that open the text count: later ones, in code or
 * quoted, are text. At most `heldLimit` characters are held back at the stream's edge.
 */
export type Piece = { type: 'text' | 'reasoning'; delta: string }

const wrappers = [
  { open: '<think>', close: '</think>' },
  { open: '<thinking>', close: '</thinking>' },
  { open: '<|channel|>analysis<|message|>', close: '<|end|>' },
]
const heldLimit = 32

export class ThinkTags {
  #state: 'opening' | 'reasoning' | 'text' = 'opening'
  #held = ''
  #close = ''

  /** Pieces that are certain so far. */
  feed(delta: string): Piece[] {
    if (this.#state === 'text') return delta === '' ? [] : [{ type: 'text', delta }]
    const text = this.#held + delta
    this.#held = ''
    return this.#state === 'opening' ? this.#openWith(text) : this.#reason(text)
  }

  /** What was held back, once the stream is over. */
  flush(): Piece[] {
    const held = this.#held
    this.#held = ''
    if (held === '') return []
    return [{ type: this.#state === 'reasoning' ? 'reasoning' : 'text', delta: held }]
  }

  #openWith(text: string): Piece[] {
    const start = text.trimStart()
    const wrapper = wrappers.find(({ open }) => start.startsWith(open))
    if (wrapper) {
      this.#state = 'reasoning'
      this.#close = wrapper.close
      return this.#reason(start.slice(wrapper.open.length))
    }
    if (text.length <= heldLimit && wrappers.some(({ open }) => open.startsWith(start))) {
      this.#held = text
      return []
    }
    this.#state = 'text'
    return this.feed(text)
  }

  #reason(text: string): Piece[] {
    const end = text.indexOf(this.#close)
    if (end !== -1) {
      this.#state = 'text'
      const before: Piece[] = end === 0 ? [] : [{ type: 'reasoning', delta: text.slice(0, end) }]
      return [...before, ...this.feed(text.slice(end + this.#close.length))]
    }
    const sure = text.length - overlap(text, this.#close)
    this.#held = text.slice(sure)
    return sure === 0 ? [] : [{ type: 'reasoning', delta: text.slice(0, sure) }]
  }
}

/** How much of the end of `text` may be the beginning of `tag`. */
function overlap(text: string, tag: string): number {
  for (let length = Math.min(text.length, tag.length - 1); length > 0; length -= 1) {
    if (tag.startsWith(text.slice(-length))) return length
  }
  return 0
}
