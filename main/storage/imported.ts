/** Storing what an exported file holds, inside the transaction that makes its session (S-92). The file was found sound. */
import type { Database } from 'better-sqlite3'
import { closeSync, openSync, readSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import { newId } from '../../preload/contract/ids.ts'
import { Item } from '../../preload/contract/items.ts'
import { importValueCharsMax } from '../../preload/contract/limits.ts'
import { Turn } from '../../preload/contract/session.ts'
import { copiedTurn, putTurn } from './copied.ts'
import { copiedItem } from './copied-item.ts'
import { type JsonPart, JsonParts } from './json-parts.ts'
import { packItem } from './packed.ts'
import { withoutHidden } from './hidden-text.ts'
import type { openSearchMarks } from './search-index.ts'
import { keepStatements } from './statements.ts'
import type { SessionImport } from './storage.ts'

const chunkBytes = 1024 * 1024

export function openImportWrites(db: Database, marks: ReturnType<typeof openSearchMarks>) {
  const sql = keepStatements(db)

  return (to: string, { path, at, ids: given, name, last }: SessionImport): void => {
    const ids = new Map(Object.entries(given))
    const renewed = (id: string): string => {
      const known = ids.get(id) ?? newId()
      ids.set(id, known)
      return known
    }
    for (const { key, index, text } of partsOf(path)) {
      if (index === null) continue
      // Read as it was looked at: what it holds beside is left out.
      if (key === 'items') putItem(to, renewedItem(withoutHidden(Item.parse(JSON.parse(text))), renewed, at))
      else if (key === 'turns') putTurn(sql, to, renewedTurn(Turn.parse(JSON.parse(text)), renewed, at))
    }
    if (last) putItem(to, last)
    marks.addSession(to)
    sql('INSERT OR REPLACE INTO named_values (name, body) VALUES (?, ?)').run(name, JSON.stringify(to))
  }

  function putItem(to: string, item: Item): void {
    const row = packItem(item)
    sql(`
      INSERT INTO items (session_id, id, pos, turn_id, kind, visible, contextual, recalled, created_at, ended_at, body)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    `).run(
      to,
      row.id,
      row.pos,
      row.turnId,
      row.kind,
      row.visible,
      row.contextual,
      row.recalled,
      row.createdAt,
      row.endedAt,
      row.body,
    )
  }
}

/** It is nobody's copy here, and what it may do was another's to allow. */
function renewedItem(item: Item, renewed: (id: string) => string, at: number): Item {
  const { copiedFrom: _, ...moved } = copiedItem(item, renewed, at)
  return moved as Item
}

function renewedTurn(turn: Turn, renewed: (id: string) => string, at: number): Turn {
  return { ...copiedTurn(turn, renewed, at), usage: turn.usage, rate: turn.rate }
}

function* partsOf(path: string): Generator<JsonPart> {
  const parts = new JsonParts(importValueCharsMax)
  const decoder = new StringDecoder('utf8')
  const chunk = Buffer.alloc(chunkBytes)
  const file = openSync(path, 'r')
  try {
    for (let bytes = readSync(file, chunk); bytes > 0; bytes = readSync(file, chunk))
      yield* parts.feed(decoder.write(chunk.subarray(0, bytes)))
    parts.end()
  } finally {
    closeSync(file)
  }
}
