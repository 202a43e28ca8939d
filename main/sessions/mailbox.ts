/** What waits to be decided in a session, in the order it came; its deltas grow together for a while before they are due. */
import { deltaIntervalMs, heldDeltaBytesMax } from '../../preload/contract/limits.ts'
import type { Report } from '../agent/reports.ts'
import type { ReportWhen } from '../agent/turn-port.ts'
import type { Input } from '../turns/inputs.ts'
import type { Rights } from '../turns/requests.ts'

export type StreamReport = Extract<Report, { type: 'stream' | 'toolOutput' }>
/** `at` is when it was received: what is measured does not depend on how long a disk took (T-40). */
export type Letter = {
  input: Input
  at: number
  /** Of the client that sent it, read as it is applied. */
  rights: Rights | undefined
  resolve(reply: unknown): void
  reject(error: unknown): void
}

/** Commands that may wait while a transaction is under way. */
const lettersMax = 1_000
/** A delta that has grown to this is an event of its own. */
const deltaCharsMax = 32_768

export class Mailbox {
  private letters: Letter[] = []
  /** Deltas that may still grow, by what they are part of. */
  private growing = new Map<string, StreamReport>()
  private heldChars = 0
  /** Something waits for more than the next flush of deltas. */
  private due = false
  private flushTimer: NodeJS.Timeout | null = null
  private readonly now: () => number
  private readonly onDue: () => void

  /** `onDue` is called when a batch is to be taken, never from within `post` or `stream`. */
  constructor(now: () => number, onDue: () => void) {
    this.now = now
    this.onDue = onDue
  }

  get isEmpty(): boolean {
    return this.letters.length === 0
  }

  get isFull(): boolean {
    return this.letters.length >= lettersMax
  }

  get isDue(): boolean {
    return this.due && !this.isEmpty
  }

  /** More text streams in than can be kept until it is saved (T-58). */
  get isOverrun(): boolean {
    return this.heldChars * 2 > heldDeltaBytesMax
  }

  /** Resolves with the reply once durable, rejects with the refusal. */
  post(input: Input, when: ReportWhen = 'now', rights?: Rights): Promise<unknown> {
    const promise = new Promise((resolve, reject) =>
      this.letters.push({ input, at: this.now(), rights, resolve, reject }),
    )
    // What streams from here on comes after it.
    this.growing.clear()
    if (when === 'soon') this.flushSoon()
    else {
      this.due = true
      // What is posted in one go, as a step's end with the calls it asked for, is one batch.
      queueMicrotask(this.onDue)
    }
    return promise
  }

  /** A report that nobody waits for; it is taken with the next batch. */
  add(input: Input): void {
    this.letters.push(this.unanswered(input))
    this.growing.clear()
    this.due = true
  }

  /** A delta: joined with its like and due at most once in 16 ms, unless something else comes after it (T-50). */
  stream(turnId: string, report: StreamReport): void {
    const part = report.type === 'stream' ? `${turnId} text` : `${turnId} ${report.itemId}`
    const open = this.growing.get(part)
    if (open && joins(open, report)) open.add += report.add
    else {
      const delta = { ...report }
      this.growing.set(part, delta)
      this.letters.push(this.unanswered({ kind: 'report', turnId, report: delta }))
    }
    this.heldChars += report.add.length
    this.flushSoon()
  }

  /** Makes all that waits due now. */
  flush(): void {
    this.due = true
    this.onDue()
  }

  take(): Letter[] {
    const batch = this.letters
    this.letters = []
    this.growing.clear()
    this.heldChars = 0
    this.due = false
    // The next delta has its own 16 ms from when it comes.
    if (this.flushTimer) clearTimeout(this.flushTimer)
    this.flushTimer = null
    return batch
  }

  /** Letters of a batch that came to nothing: they come first in the next one. */
  putBack(letters: readonly Letter[]): void {
    this.letters.unshift(...letters)
    this.due = true
  }

  private flushSoon(): void {
    this.flushTimer ??= setTimeout(() => {
      this.flushTimer = null
      this.flush()
    }, deltaIntervalMs)
  }

  private unanswered(input: Input): Letter {
    return { input, at: this.now(), rights: undefined, resolve: () => {}, reject: () => {} }
  }
}

function joins(open: StreamReport, next: StreamReport): boolean {
  if (open.type === 'stream' && next.type === 'stream' && open.channel !== next.channel) return false
  return open.add.length + next.add.length <= deltaCharsMax
}
