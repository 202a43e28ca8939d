/** Notices of a session (T-84): short facts above the message that go away by themselves. */
import { noticeCharsMax, noticesMax } from '../../preload/contract/limits.ts'
import type { Notice } from '../../preload/contract/session.ts'
import type { Decision } from './decision.ts'

/** The same key replaces; of too many the oldest go. */
export function setNotice(decision: Decision, notice: Notice): void {
  const others = decision.header.notices.filter((one) => one.key !== notice.key)
  change(decision, [...others, { ...notice, text: notice.text.slice(0, noticeCharsMax) }].slice(-noticesMax))
}

export function clearNotice(decision: Decision, key: string): void {
  change(
    decision,
    decision.header.notices.filter((one) => one.key !== key),
  )
}

/** Those whose time is over go; a timer that fired too early only waits on (T-85). */
export function expireNotices(decision: Decision): { ok: true } {
  change(
    decision,
    decision.header.notices.filter((one) => one.expiresAt === undefined || one.expiresAt > decision.now),
  )
  const next = nextExpiry(decision.header.notices)
  if (next !== null) decision.effect({ do: 'noticesExpire', at: next })
  return { ok: true }
}

/** When the next of them is over; null where none ends by itself. */
export function nextExpiry(notices: readonly Notice[]): number | null {
  const ends = notices.flatMap((one) => one.expiresAt ?? [])
  return ends.length === 0 ? null : Math.min(...ends)
}

function change(decision: Decision, notices: Notice[]): void {
  if (!decision.emit({ type: 'notices.changed', notices })) return
  const next = nextExpiry(notices)
  if (next !== null) decision.effect({ do: 'noticesExpire', at: next })
}
