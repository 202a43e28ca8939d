/**
 * What the commit gate writes down before it touches a file, and settles after (F-601 steps 4 and 6, F-604). An open
 * intent found at the start tells of a change the host did not live to record.
 */
import type { FileChange } from './change.ts'
import type { FileState } from './read-state.ts'

/** Who changes files: a call of a turn, or the person. */
export type Author = { sessionId: string; turnId: string; callId?: string | undefined; by: FileChange['by'] }

export type IntentFile = {
  change: FileChange
  key: string
  real: string
  /** Temporary file beside the file. */
  temporary: string
}

export type Intent = {
  id: string
  author: Author
  files: IntentFile[]
  /** Everything was written; only the session's journal may lack it. */
  written?: boolean
}

export interface IntentRecords {
  /** Durable before it resolves. */
  begin(intent: Intent): Promise<void>
  /** All was written. The intent is kept until the session says that the changes are in its journal (F-601 step 6). */
  record(intent: Intent, changes: FileChange[], states: FileState[]): Promise<void>
  /** Nothing happened. */
  drop(intent: Intent): Promise<void>
  /** Intents the last run of the host left open. */
  open(): Promise<Intent[]>
}
