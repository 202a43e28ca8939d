/** A line of the session list for tests of whatever reads one. */
import type { Entry } from './session.ts'

/** Nothing runs in it and nothing is unread; titled by its id. */
export function sampleEntry(id: string, set: Partial<Entry> = {}): Entry {
  return {
    id,
    workspace: '/w',
    title: id,
    titleSource: 'manual',
    updatedAt: 1,
    createdAt: 1,
    model: null,
    indicator: 'none',
    runningSince: null,
    execRunning: 0,
    pinnedAt: null,
    archivedAt: null,
    preview: '',
    itemCount: 1,
    ...set,
  }
}
