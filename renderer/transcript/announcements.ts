/** What a screen reader is told of a session (S-148): beginnings and ends, never what is being written. Pure. */
import type { SessionView } from '../../preload/contract/session.ts'
import { outcomeWords } from './outcome.ts'

export type Announcements = { polite: string[]; assertive: string[] }

const answerCharsMax = 500

/** What happened between two views of one session. */
export function announcementsOf(before: SessionView, now: SessionView): Announcements {
  const polite: string[] = []
  const assertive: string[] = []
  if (now.turn && now.turn.id !== before.turn?.id) polite.push('The agent started working.')

  const known = new Map(before.items.slice(-100).map((item) => [item.id, item.status]))
  const newest = before.items.at(-1)?.pos ?? -1
  for (const item of now.items.slice(-100)) {
    if (!item.visible) continue
    const fresh = known.get(item.id) === undefined && item.pos > newest
    if (item.kind === 'text' && item.status !== 'live' && (fresh || known.get(item.id) === 'live'))
      polite.push(item.text.slice(0, answerCharsMax))
    if (item.kind === 'error' && fresh) assertive.push(`Error: ${item.title}. ${item.hint}`.trim())
  }
  const approval = now.approvals.head
  if (approval && approval.id !== before.approvals.head?.id)
    assertive.push(`Approval needed: ${approval.request.title}`)
  const question = now.questions.head
  if (question && question.id !== before.questions.head?.id) assertive.push(`Question: ${question.text}`)
  if (before.turn && now.turn?.id !== before.turn.id) {
    const ended = now.turns.find((turn) => turn.id === before.turn!.id)
    if (ended?.outcome) polite.push(`Turn ${outcomeWords(ended).toLowerCase()}.`)
  }
  return { polite, assertive }
}
