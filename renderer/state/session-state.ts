/** A session as this window has it. */
import type { ErrorBody } from '../../preload/contract/errors.ts'
import type { Attachment, Mention } from '../../preload/contract/items.ts'
import type { SessionView } from '../../preload/contract/session.ts'

/** A message on its way: shown at once, replaced by what the host made of it, kept with the reason if refused (T-3). */
export type Unsent = {
  requestId: string
  text: string
  attachments: Attachment[]
  mentions?: Mention[] | undefined
  /** What it asks for: a turn now, or a place beside the running one. */
  as: 'turn' | 'steer' | 'followUp'
  at: number
  refusal: ErrorBody | null
}

/** A slice that was asked for. */
export type Loading = 'idle' | 'loading' | 'failed'

export type SessionState = {
  sessionId: string
  phase: 'opening' | 'live' | 'refused'
  /** What stands at the end: the newest items, the running turn, what waits for the person. */
  view: SessionView | null
  /** Where the reader is, while that is not the end; else null (S-57). */
  apart: SessionView | null
  /** Why it cannot be opened. */
  refusal: ErrorBody | null
  /** Why nothing can be saved at the moment; it is tried again until it can (T-41). */
  unsaved: ErrorBody | null
  older: Loading
  newer: Loading
  unsent: Unsent[]
  /** The newest `draft.changed` of another window. */
  draftRevision: { revision: number; source: string } | null
}

/** What the transcript shows. */
export const shownView = ({ view, apart }: SessionState): SessionView | null => apart ?? view
