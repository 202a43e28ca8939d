/** The list's columns made anew from the sessions themselves (S-51), where an older or newer Lathe wrote them otherwise. */
import { setTimeout } from 'node:timers/promises'
import type { SessionView } from '../../preload/contract/session.ts'
import type { Storage, StoredSession } from '../storage/storage.ts'
import { entryOf } from './entry.ts'

/** Rises with every change of what an entry holds or how it is derived. */
export const listVersion = 3

const pageOfIds = 500
const restFactor = 3

export type ListRebuildPorts = {
  storage: Pick<Storage, 'value' | 'setValue' | 'sessionIds' | 'loadSession' | 'setEntry'>
  log(message: string, fields: Record<string, unknown>): void
  /** It works beside people, a quarter of the time at most, until this fires. */
  beside?: AbortSignal
}

/** Runs beside all else: old entries are served meanwhile, and one that changed meanwhile is left as it is. */
export async function rebuildList({ storage, log, beside }: ListRebuildPorts): Promise<void> {
  if ((await storage.value('list.version')) === listVersion) return
  for (let after = ''; ;) {
    const ids = await storage.sessionIds(after, pageOfIds)
    for (const id of ids) {
      beside?.throwIfAborted()
      const began = performance.now()
      try {
        const stored = await storage.loadSession(id)
        if (stored) await storage.setEntry(id, entryOf(viewOf(stored)), stored.header.lastSeq)
      } catch (error) {
        log('A session of the list could not be read', { sessionId: id, error: String(error) })
      }
      const rest = beside ? restFactor * (performance.now() - began) : 0
      await setTimeout(rest, undefined, beside ? { signal: beside, ref: false } : {})
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
