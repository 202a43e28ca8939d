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
function paragraph(at: number, length: number, text = `Entry ${at}.`): string {
  for (let word = at; text.length < length; word += 7) text += ` ${words[word % words.length]}${word % 97}`
  return text
}

const samples = [
  [
    'ts',
    'export function total(cart: Cart): number {\n  return cart.items.reduce((sum, { price }) => sum + price, 0)\n}',
  ],
  ['python', 'def total(cart):\n    # The price of all.\n    return sum(item.price for item in cart.items)'],
  ['sh', 'npm run build && npm test -- --filter cart | tee out.log'],
  ['json', '{ "cart": { "items": [1, 2, 3], "open": true } }'],
] as const

/** Markdown as models write it, with code of several languages; begins like a paragraph. */
function richText(at: number, length: number): string {
  let text = `Entry ${at}.`
  for (let part = at; text.length < length; part++) {
    const [language, lines] = samples[part % samples.length]!
    text += [
      `\n\n## Part ${part}\n\n${paragraph(part, 320, 'So:')}`,
      `\n\n- **First** \`src/cart.ts\` and [a link](https://example.com/${part})\n- Second with *words*\n  - nested ${part}\n`,
      `\n\n\`\`\`${language}\n${`${lines}\n`.repeat(3)}\`\`\`\n`,
      `\n\n| name | price |\n|---|---:|\n| cart | ${part} |\n| ship | ${part + 1} |\n`,
    ][part % 4]!
  }
  return text
}

/** Turns of a question, calls and texts, `count` entries in all; the last of each turn is a call. */
function transcript(count: number, length: number, rich: boolean): { items: Item[]; turnIds: string[] } {
  const turnIds: string[] = []
  const items = Array.from({ length: count }, (_, at): Item => {
    if (at % itemsPerTurn === 0) turnIds.push(newId())
    const own = { id: newId(), turnId: turnIds.at(-1)! }
    const place = at % itemsPerTurn
    if (place === 0) return userItem(at + 1, paragraph(at, length / 4), own)
    if (place % 3 === 1) return toolItem(at + 1, { ...own, title: `Run step ${at}`, summary: paragraph(at, length) })
    return textItem(at + 1, (rich ? richText : paragraph)(at, length), own)
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

/** Stores a settled session of `count` entries, each of about `length` characters; with `rich` they are Markdown and code. */
export async function storeSession(
  storage: Storage,
  {
    workspace,
    title,
    count,
    length,
    rich = false,
  }: { workspace: string; title: string; count: number; length: number; rich?: boolean },
): Promise<{ sessionId: string; items: Item[] }> {
  const { items, turnIds } = transcript(count, length, rich)
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
