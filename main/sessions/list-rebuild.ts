/** The list's columns made anew from the sessions themselves (S-51), where an older or newer Lathe wrote them otherwise. */
import { setImmediate } from 'node:timers/promises'
import type { SessionView } from '../../preload/contract/session.ts'
import type { Storage, StoredSession } from '../storage/storage.ts'
import { entryOf } from './entry.ts'

/** Rises with every change of what an entry holds or how it is derived. */
export const listVersion = 3

const pageOfIds = 500

export type ListRebuildPorts = {
  storage: Pick<Storage, 'value' | 'setValue' | 'sessionIds' | 'loadSession' | 'setEntry'>
  log(message: string, fields: Record<string, unknown>): void
}

/** Runs beside all else: old entries are served meanwhile, and one that changed meanwhile is left as it is. */
export async function rebuildList({ storage, log }: ListRebuildPorts): Promise<void> {
  if ((await storage.value('list.version')) === listVersion) return
  for (let after = ''; ;) {
    const ids = await storage.sessionIds(after, pageOfIds)
    for (const id of ids) {
      try {
        const stored = await storage.loadSession(id)
        if (stored) await storage.setEntry(id, entryOf(viewOf(stored)), stored.header.lastSeq)
      } catch (error) {
        log('A session of the list could not be read', { sessionId: id, error: String(error) })
      }
      await setImmediate()
    }
    if (ids.length < pageOfIds) break
    after = ids.at(-1)!
  }
  await storage.setValue('list.version', listVersion)
}

function viewOf({ header, items, itemsBefore, turns, changes, journalId }: StoredSession): SessionView {
  const closed = { head: null, depth: 0 }
  const itemCount = itemsBefore + items.filter((item) => item.visible).length
  return {
    journalId,
    header: { ...header, itemCount },
    items,
    itemsBefore,
    itemsAfter: 0,
    turns,
    turn: null,
    approvals: closed,
    questions: closed,
    changes,
    execSessions: [],
  }
}
