/** The thread that parses commands (Z-56): the grammar is wasm, and no text of a stranger may hold the main loop. */
import { parentPort } from 'node:worker_threads'
import { ForkBomb, parseShell } from './shell-grammar.ts'
import type { ParseReply, ParseRequest } from './shell-parser.ts'
import { Opaque } from './shell-words.ts'

const port = parentPort!

port.on('message', ({ id, source, home }: ParseRequest) => {
  const failure = (error: unknown): ParseReply => {
    if (error instanceof ForkBomb) return { id, failure: 'fork_bomb', message: error.message }
    if (error instanceof Opaque) return { id, failure: 'opaque', message: error.message }
    return { id, failure: 'fault', message: String(error) }
  }
  void parseShell(source, home)
    .then((parts): ParseReply => ({ id, parts }), failure)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    .then((reply) => port.postMessage(reply))
})
