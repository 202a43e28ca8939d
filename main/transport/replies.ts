/** Stored replies: a mutation sent twice happens once (S-27, S-28). `session.submit` keeps its own, for ever (T-13). */
import { LatheError } from '../../preload/contract/errors.ts'
import { repliesKeptMax, repliesKeptMs } from '../../preload/contract/limits.ts'

type Kept = {
  action: string
  /** Hashed off the loop, and only looked at by a repeat: the first of an id never waits for it. */
  fingerprint: Promise<string>
  reply: Promise<unknown>
  /** Milliseconds; null while the operation runs. */
  completedAt: number | null
}

export type Replies = {
  /**
   * Runs `operation` once for this `requestId`. A repeat joins the running one or gets the kept reply or failure; the
   * same id with another action or input is `request.conflict`.
   */
  once<T>(action: string, requestId: string, input: unknown, operation: () => Promise<T>): Promise<T>
  readonly size: number
}

export function createReplies(now: () => number = () => performance.now()): Replies {
  const kept = new Map<string, Kept>()

  /** Pending ones are never dropped; a completed one moves to the end, so the map is in order of completion. */
  function prune(): void {
    const completed = [...kept].filter(([, one]) => one.completedAt !== null)
    const surplus = completed.length - repliesKeptMax
    completed.forEach(([id, one], index) => {
      if (index < surplus || now() - one.completedAt! > repliesKeptMs) kept.delete(id)
    })
  }

  function complete(requestId: string, one: Kept): void {
    one.completedAt = now()
    kept.delete(requestId)
    kept.set(requestId, one)
    prune()
  }

  return {
    async once<T>(action: string, requestId: string, input: unknown, operation: () => Promise<T>): Promise<T> {
      prune()
      const known = kept.get(requestId)
      if (known) {
        const same = known.action === action && (await known.fingerprint) === (await fingerprintOf(input))
        if (same) return known.reply as Promise<T>
        throw new LatheError('request.conflict', 'This request id was already used for something else.', {
          hint: 'Send it again with a new request id.',
        })
      }
      const reply = operation()
      const one: Kept = { action, fingerprint: fingerprintOf(input), reply, completedAt: null }
      kept.set(requestId, one)
      reply.then(
        () => complete(requestId, one),
        () => complete(requestId, one),
      )
      return reply
    },
    get size() {
      return kept.size
    },
  }
}

async function fingerprintOf(input: unknown): Promise<string> {
  const bytes = new TextEncoder().encode(canonicalJson(input))
  return Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex')
}

/** JSON with the keys of every object in order, so that equal inputs have equal text. */
export function canonicalJson(value: unknown): string {
  return (
    JSON.stringify(value, (_key, inner: unknown) => {
      if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner
      return Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    }) ?? 'null'
  )
}
