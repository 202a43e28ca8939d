/** The worker's side of a session: it reports, it waits for tickets, and it knows its own signal by reference (T-39). */
import type { Release, Report, ReportAnswer } from './reports.ts'

/** `soon`: in one transaction with what is reported next, or after 16 ms; for what something else follows at once. */
export type ReportWhen = 'now' | 'soon'

export interface TurnPort {
  readonly turnId: string
  readonly sessionId: string
  readonly signal: AbortSignal
  /** Resolves once durable, with what the session answers. Never rejects: a dropped report answers `ended`. */
  report(report: Report, when?: ReportWhen): Promise<ReportAnswer>
  /** Deltas; joined and journaled at most once in 16 ms. */
  stream(report: Extract<Report, { type: 'stream' | 'toolOutput' }>): void
  /** What `ticket` is answered with. Ask before reporting what it waits for. */
  ticket(ticket: string): Promise<Release>
  /** A signal for one model request: the turn's own, or "send now" (T-120). */
  requestSignal(): AbortSignal
  newId(): string
  now(): number
}
