/** Parsing shell commands in a thread of its own, started with the first command and ended when none comes. */
import { Worker } from 'node:worker_threads'
import { ForkBomb, type Part } from './shell-grammar.ts'
import { Opaque } from './shell-words.ts'

export type ParseRequest = { id: number; source: string; home: string }
export type ParseReply =
  | { id: number; parts: Part[] }
  | { id: number; failure: 'opaque' | 'fork_bomb' | 'fault'; message: string }

/** Far above what 16 KiB take; a thread that needs longer hangs. */
const limitMs = 3_000
const idleMs = 60_000

type Waiting = { resolve(parts: Part[]): void; reject(error: Error): void }

class ParserThread {
  readonly #worker = new Worker(new URL('./shell-parser-thread.ts', import.meta.url), { name: 'shell parser' })
  readonly #waiting = new Map<number, Waiting>()
  #last = 0
  #idle: NodeJS.Timeout | undefined
  gone = false

  constructor() {
    this.#worker.unref()
    this.#worker.on('message', (reply: ParseReply) => this.#answer(reply))
    this.#worker.on('error', (error) => this.#end(error))
    this.#worker.on('exit', () => this.#end(new Error('the parser ended')))
  }

  async parse(source: string, home: string): Promise<Part[]> {
    const id = (this.#last += 1)
    clearTimeout(this.#idle)
    // What waits for the parser keeps the program running; the parser alone does not.
    this.#worker.ref()
    const limit = setTimeout(() => this.#end(new Opaque('it takes too long to parse')), limitMs)
    try {
      return await new Promise<Part[]>((resolve, reject) => {
        this.#waiting.set(id, { resolve, reject })
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
        this.#worker.postMessage({ id, source, home } satisfies ParseRequest)
      })
    } finally {
      clearTimeout(limit)
      this.#waiting.delete(id)
      if (this.#waiting.size === 0) this.#rest()
    }
  }

  #rest(): void {
    this.#worker.unref()
    this.#idle = setTimeout(() => this.#end(new Error('idle')), idleMs).unref()
  }

  #answer(reply: ParseReply): void {
    const waiting = this.#waiting.get(reply.id)
    if ('parts' in reply) waiting?.resolve(reply.parts)
    else if (reply.failure === 'opaque') waiting?.reject(new Opaque(reply.message))
    else if (reply.failure === 'fork_bomb') waiting?.reject(new ForkBomb(reply.message))
    else waiting?.reject(new Error(reply.message))
  }

  #end(error: Error): void {
    this.gone = true
    clearTimeout(this.#idle)
    for (const { reject } of this.#waiting.values()) reject(error)
    void this.#worker.terminate()
  }
}

let thread: ParserThread | null = null

/** The parts of a bash or sh command. Throws `Opaque`, `ForkBomb`, or any fault of the parser. */
export function parseInThread(source: string, home: string): Promise<Part[]> {
  if (thread === null || thread.gone) thread = new ParserThread()
  return thread.parse(source, home)
}
