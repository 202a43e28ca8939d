/** One terminal's way to the host: keys in order, output with credit, the size joined over 50 ms. */
import type { ErrorBody } from '../../preload/contract/errors.ts'
import type { TerminalFrame } from '../../preload/contract/terminal-routes.ts'
import { act, client, failure, link } from '../state/link.ts'
import { pieces } from './paste.ts'

export interface TerminalLink {
  /** Keys and pastes, delivered in the order they were given. */
  send(data: string): void
  resize(cols: number, rows: number): void
  /** Forgets scrollback and screen in the host too, else they were back with the next snapshot. */
  clear(): void
  close(): void
}

type Handlers = {
  /** Done once the text is parsed: only then more is asked for. */
  frame: (frame: TerminalFrame) => Promise<void>
  refused: (error: ErrorBody) => void
}

const resizeJoinedMs = 50
const joinedMax = 64 * 1024

/** Takes what goes with the next request: all that was typed while the last one was on its way, up to a limit. */
function nextPiece(waiting: string[]): string {
  let data = waiting.shift() ?? ''
  while (waiting[0] !== undefined && data.length + waiting[0].length <= joinedMax) data += waiting.shift()
  return data
}

/** Attaches to a terminal: a snapshot, then its output from there; after a lost connection a snapshot again. */
export function attachTerminal(id: string, { frame, refused }: Handlers): TerminalLink {
  const ended = new AbortController()
  link().read<TerminalFrame>(
    (stream, signal) => client().terminals.attach({ stream, id }, { signal }),
    {
      frame: async (next) => {
        if (!ended.signal.aborted) await frame(next)
      },
      failed: (error) => ended.signal.aborted || refused(error),
    },
    ended.signal,
  )

  const waiting: string[] = []
  let sending = false
  const pump = async () => {
    if (sending) return
    sending = true
    try {
      while (waiting.length > 0 && !ended.signal.aborted)
        await client().terminals.input({ id, data: nextPiece(waiting) })
    } catch (thrown) {
      // Keys that meet a lost connection are not typed later into whatever is there by then.
      waiting.length = 0
      if (!ended.signal.aborted) refused(failure(thrown))
    } finally {
      sending = false
    }
  }

  let sizing: ReturnType<typeof setTimeout> | undefined
  let size = ''
  return {
    send(data) {
      waiting.push(...pieces(data))
      void pump()
    },
    resize(cols, rows) {
      clearTimeout(sizing)
      sizing = setTimeout(() => {
        const wanted = `${cols} ${rows}`
        if (wanted === size) return
        size = wanted
        client()
          .terminals.resize({ id, cols: Math.max(2, Math.min(1_000, cols)), rows: Math.max(1, Math.min(500, rows)) })
          .catch(() => (size = ''))
      }, resizeJoinedMs)
    },
    clear() {
      client()
        .terminals.clear({ ...act(), id })
        .catch((thrown: unknown) => ended.signal.aborted || refused(failure(thrown)))
    },
    close() {
      clearTimeout(sizing)
      ended.abort()
    },
  }
}
