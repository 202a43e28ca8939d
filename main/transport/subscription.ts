/**
 * One stream to one client. The source is read at once into a bounded queue and given out against credit, so a slow
 * reader costs a fixed amount of memory and never holds up the workbench (design, "Journal and streams").
 */
import { inPlaceOf, subjectOf, type SessionEvent, type WorkbenchEvent } from '../../preload/contract/events.ts'
import { LatheError } from '../../preload/contract/errors.ts'
import type { TerminalFrame } from '../../preload/contract/terminal-routes.ts'

export type StreamLimits = {
  /** Frames and bytes sent and not yet acknowledged. */
  windowFrames: number
  windowBytes: number
  /** Once the window's bytes are used up there is credit again when no more than these are left to be acknowledged. */
  resumeBytes: number
  /** Frames and bytes held back here. */
  queueFrames: number
  queueBytes: number
}

const streamLimits: StreamLimits = {
  windowFrames: 256,
  windowBytes: 1024 * 1024,
  resumeBytes: 1024 * 1024,
  queueFrames: 512,
  queueBytes: 4 * 1024 * 1024,
}

/** Output waits where it is printed, and becomes a snapshot there: nothing is read ahead. */
export const terminalLimits: StreamLimits = {
  windowFrames: 256,
  windowBytes: 512 * 1024,
  resumeBytes: 64 * 1024,
  queueFrames: 1,
  queueBytes: 1,
}

/** What becomes of frames a client is too slow for. */
export type SlowReader<Frame> = {
  /** The waiting frame that `frame` goes into, and what both are together; null where it must stand by itself. */
  merge?(queue: readonly Frame[], frame: Frame): { at: number; merged: Frame } | null
  /**
   * Past the queue's bound. `resume`: the source is closed, what waits is sent, then it is opened again. `wait`: it is not
   * read until what waits is sent and there is credit. `end`: the stream ends.
   */
  whenFull: 'resume' | 'wait' | 'end'
}

export type Subscription<Frame> = {
  frames: AsyncGenerator<Frame, void, void>
  /** `taken` frames in all were taken by the client. Throws `request.invalid` for more than were sent. */
  ack(taken: number): void
}

/** `open` opens the source where the last one left off; the source ends when the signal given to it fires. */
export function subscribe<Frame>(options: {
  open: (signal: AbortSignal) => AsyncIterable<Frame>
  slow: SlowReader<Frame>
  signal: AbortSignal
  limits?: StreamLimits
}): Subscription<Frame> {
  const { open, slow, limits = streamLimits } = options
  const unsubscribed = new AbortController()
  const signal = AbortSignal.any([options.signal, unsubscribed.signal])
  const queue: Frame[] = []
  let queuedBytes = 0
  /** Sizes of the frames sent and not acknowledged, oldest first. */
  const unacked: number[] = []
  let unackedBytes = 0
  let spent = false
  let acked = 0
  let ended = false
  let failure: unknown
  let changed = Promise.withResolvers<void>()

  const wake = (): void => {
    changed.resolve()
    changed = Promise.withResolvers()
  }
  const isFull = (): boolean => queue.length >= limits.queueFrames || queuedBytes >= limits.queueBytes
  const hasCredit = (): boolean => {
    spent = unackedBytes >= limits.windowBytes || (spent && unackedBytes > limits.resumeBytes)
    return !spent && unacked.length < limits.windowFrames
  }
  /** All that was queued is sent, and more may be. */
  const sentAll = async (): Promise<void> => {
    while ((queue.length > 0 || !hasCredit()) && !signal.aborted) await changed.promise
  }

  function enqueue(frame: Frame): void {
    const merge = slow.merge?.(queue, frame)
    if (merge) queuedBytes -= sizeOf(queue.splice(merge.at, 1)[0])
    const queued = merge ? merge.merged : frame
    queue.push(queued)
    queuedBytes += sizeOf(queued)
    wake()
  }

  /** True where the source ended by itself, false where it was closed because the client is behind. */
  async function readSource(): Promise<boolean> {
    const behind = new AbortController()
    try {
      for await (const frame of open(AbortSignal.any([signal, behind.signal]))) {
        if (signal.aborted) return true
        enqueue(frame)
        if (!isFull()) continue
        if (slow.whenFull !== 'wait') return false
        await sentAll()
      }
      return true
    } finally {
      behind.abort()
    }
  }

  async function pump(): Promise<void> {
    while (!(await readSource())) {
      if (slow.whenFull === 'end') return
      await sentAll()
      if (signal.aborted) return
    }
  }

  async function* frames(): AsyncGenerator<Frame, void, void> {
    signal.addEventListener('abort', wake, { once: true })
    pump()
      .catch((error: unknown) => {
        failure = error
      })
      .finally(() => {
        ended = true
        wake()
      })
    try {
      while (!signal.aborted) {
        if (queue.length > 0 && hasCredit()) {
          const frame = queue.shift()!
          const size = sizeOf(frame)
          queuedBytes -= size
          unacked.push(size)
          unackedBytes += size
          if (queue.length === 0) wake()
          yield frame
        } else if (queue.length === 0 && ended) {
          if (failure !== undefined) throw failure
          return
        } else {
          await changed.promise
        }
      }
    } finally {
      unsubscribed.abort()
    }
  }

  return {
    frames: frames(),
    ack(taken) {
      const fresh = taken - acked
      if (fresh > unacked.length)
        throw new LatheError('request.invalid', 'More frames were acknowledged than were sent.')
      if (fresh <= 0) return
      acked = taken
      for (const size of unacked.splice(0, fresh)) unackedBytes -= size
      wake()
    },
  }
}

/**
 * A session's events are never merged or dropped: windows need every `seq` (S-37), and the journal holds them. A slow
 * reader's are read from there again, after the last one that was queued.
 */
export const slowSessionReader: SlowReader<SessionEvent> = { whenFull: 'resume' }

/** A terminal's feed joins what waits, and has the screen for a reader who is too slow even for that. */
export const slowTerminalReader: SlowReader<TerminalFrame> = { whenFull: 'wait' }

/** Each event carries the whole value of what it names (T-215), so a newer one takes the place of one that waits. */
export const slowWatcher: SlowReader<WorkbenchEvent> = {
  merge(queue, frame) {
    const key = subjectOf(frame)
    const at = queue.findIndex((waiting) => subjectOf(waiting) === key)
    if (at < 0) return null
    return { at, merged: inPlaceOf(frame) }
  },
  whenFull: 'end',
}

/** Bytes a frame takes, near enough for a bound: its strings, and a little for each value. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 8
  let size = 16
  for (const inner of Object.values(value)) size += sizeOf(inner)
  return size
}
