/** Everything of one session in order, for exports: read page by page, whole texts (S-91). */
import type { Item } from '../../preload/contract/items.ts'
import { sliceItemsMax } from '../../preload/contract/limits.ts'
import type { Storage } from '../storage/storage.ts'

export async function wholeItems(storage: Pick<Storage, 'items' | 'item'>, sessionId: string): Promise<Item[]> {
  const pages: Item[][] = []
  let before: string | undefined
  for (;;) {
    const page = await storage.items(sessionId, { ...(before === undefined ? {} : { before }), limit: sliceItemsMax })
    pages.unshift(page.items)
    before = page.items[0]?.id
    if (page.before === 0 || before === undefined) break
  }
  const whole = async (item: Item) =>
    item.omitted === undefined && !(item.kind === 'tool' && item.argsRef)
      ? item
      : ((await storage.item(sessionId, item.id)) ?? item)
  return Promise.all(pages.flat().map(whole))
}
