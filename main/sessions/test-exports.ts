/** For tests: the texts and entries an export is made of. */
import type { Item } from '../../preload/contract/items.ts'
import type { SessionHeader, Turn } from '../../preload/contract/session.ts'
import type { Snapshot, Storage } from '../storage/storage.ts'
import { type ExportFormat, type ExportOptions, exportSession } from './export.ts'

type Given = { header: SessionHeader; items: Item[]; turns: Turn[] }

/** A reading of what is given. */
export function readingOf({ header, items, turns }: Given): Pick<Snapshot, 'header' | 'turns' | 'items'> {
  const read = items.filter(({ visible, kind }) => visible && kind !== 'reasoning')
  return {
    header,
    async *turns() {
      yield* turns
    },
    async *items() {
      for (const item of items) {
        const isLast = read.findLast(({ turnId }) => turnId === item.turnId) === item
        yield { item, ends: (isLast && turns.find(({ id }) => id === item.turnId)) || null }
      }
    },
  }
}

export async function exportedText(
  source: Pick<Snapshot, 'header' | 'turns' | 'items'>,
  format: ExportFormat,
  options: ExportOptions = {},
): Promise<{ name: string; text: string }> {
  const { name, pieces } = exportSession(source, format, options)
  return { name, text: (await all(pieces)).join('') }
}

export async function wholeItems(storage: Storage, sessionId: string): Promise<Item[]> {
  const snapshot = (await storage.snapshot(sessionId))!
  try {
    return (await all(snapshot.items())).map(({ item }) => item)
  } finally {
    await snapshot.close()
  }
}

async function all<T>(values: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const value of values) found.push(value)
  return found
}
