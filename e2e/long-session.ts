/** Sessions of any length, stored as if they had been talked: for tests and benchmarks of long transcripts. */
import { basename } from 'node:path'
import type { Storage } from '../main/storage/storage.ts'
import { sampleHeader, sampleWrite, textItem, toolItem, turnRow, userItem } from '../main/storage/write-samples.ts'
import { newId } from '../preload/contract/ids.ts'
import type { Item } from '../preload/contract/items.ts'

const itemsPerTurn = 20
const words =
  'cart total price order ship queue retry token stream window commit journal branch merge test build'.split(' ')

/** A paragraph of this length, different at every place: `Entry 12. cart12 ...`. */
function paragraph(at: number, length: number): string {
  let text = `Entry ${at}.`
  for (let word = at; text.length < length; word += 7) text += ` ${words[word % words.length]}${word % 97}`
  return text
}

/** Turns of a question, calls and texts, `count` entries in all; the last of each turn is a call. */
function transcript(count: number, length: number): { items: Item[]; turnIds: string[] } {
  const turnIds: string[] = []
  const items = Array.from({ length: count }, (_, at): Item => {
    if (at % itemsPerTurn === 0) turnIds.push(newId())
    const own = { id: newId(), turnId: turnIds.at(-1)! }
    const place = at % itemsPerTurn
    if (place === 0) return userItem(at + 1, paragraph(at, length / 4), own)
    if (place % 3 === 1) return toolItem(at + 1, { ...own, title: `Run step ${at}`, summary: paragraph(at, length) })
    return textItem(at + 1, paragraph(at, length), own)
  })
  return { items, turnIds }
}

/** Makes a folder one of the workspaces, as opening it would. */
export async function storeWorkspace(storage: Storage, path: string): Promise<void> {
  await storage.putWorkspace({
    path,
    name: basename(path),
    state: 'present',
    branch: null,
    trusted: true,
    openedAt: 1,
    demo: false,
  })
}

/** Stores a settled session of `count` entries, each of about `length` characters. */
export async function storeSession(
  storage: Storage,
  { workspace, title, count, length }: { workspace: string; title: string; count: number; length: number },
): Promise<{ sessionId: string; items: Item[] }> {
  const { items, turnIds } = transcript(count, length)
  const header = sampleHeader({
    workspace,
    title,
    titleSource: 'manual',
    itemCount: count,
    updatedAt: Date.now(),
    model: 'lab/scripted',
    lastTurnId: turnIds.at(-1)!,
    lastOutcome: 'completed',
  })
  const turns = turnIds.map((id, at) =>
    turnRow(id, { userItemId: items[at * itemsPerTurn]!.id, settledAt: 2_000, outcome: 'completed', durationMs: 900 }),
  )
  const step = 500
  for (let at = 0; at < count; at += step) {
    const last = at + step >= count
    await storage.commit(sampleWrite(header, { items: items.slice(at, at + step), ...(last ? { turns } : {}) }))
  }
  return { sessionId: header.id, items }
}
