/** Finding a text in all of one session (S-69): every entry that shows it, in order, however long the session is. */
import type { Database } from 'better-sqlite3'
import type { Item } from '../../preload/contract/items.ts'
import { keepStatements } from './statements.ts'

export type FoundItem = { itemId: string; pos: number }

export function openSessionFind(db: Database) {
  const sql = keepStatements(db)
  return {
    /** Visible entries whose text holds `text`, without regard to case; `more` where there are more than `limit`. */
    find(sessionId: string, text: string, limit: number): { matches: FoundItem[]; more: boolean } {
      const wanted = text.toLowerCase()
      // As it would stand in the stored JSON: what does not hold that needs no parsing.
      const written = JSON.stringify(wanted).slice(1, -1)
      const matches: FoundItem[] = []
      const rows = sql<{ pos: number; body: string }>(
        'SELECT pos, body FROM items WHERE session_id = ? AND visible = 1 AND json_valid(body) ORDER BY pos',
      )
      for (const { pos, body } of rows.iterate(sessionId)) {
        if (!body.toLowerCase().includes(written)) continue
        const item = JSON.parse(body) as Item
        if (!shows(item, wanted)) continue
        if (matches.length === limit) return { matches, more: true }
        matches.push({ itemId: item.id, pos })
      }
      return { matches, more: false }
    },
  }
}

/** Whether an entry shows `wanted`, which is in lower case. */
export function shows(item: Item, wanted: string): boolean {
  return shownTexts(item).some((text) => text.toLowerCase().includes(wanted))
}

function shownTexts(item: Item): string[] {
  switch (item.kind) {
    case 'user':
      return [item.text, ...item.attachments.map(({ name }) => name)]
    case 'text':
    case 'notice':
      return [item.text]
    case 'reasoning':
      return [item.title ?? '', item.text]
    case 'tool':
      return [
        item.title,
        item.summary,
        item.output,
        item.view?.stdout ?? '',
        item.view?.stderr ?? '',
        ...strings(item.args),
      ]
    case 'approval':
      return [item.request.title, item.request.detail, item.feedback ?? '']
    case 'question':
      return [item.text, item.answer ?? '']
    case 'error':
      return [item.title, item.message, item.hint, item.details ?? '']
    default:
      return []
  }
}

function strings(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(strings) : []
}
