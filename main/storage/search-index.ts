/** The search index inside the worker (S-95 to S-99): following what settles, forgetting what goes, answering queries. */
import { hitsPerSessionMax } from '../../preload/contract/limits.ts'
import type { Database } from 'better-sqlite3'
import type { Item } from '../../preload/contract/items.ts'
import type { SearchHit } from '../../preload/contract/session-list-routes.ts'
import { searchTables } from './migrations/0002-search.ts'
import { isSearchable, searchKinds, searchWeights } from './search-kinds.ts'
import type { SearchKind } from './search-kinds.ts'
import { isEmpty, parseQuery, spaced, trigramExpression, withoutExpression, wordExpression } from './search-query.ts'
import type { SearchQuery } from './search-query.ts'
import { makeSnippet } from './snippet.ts'
import { keepStatements } from './statements.ts'

const textCharsMax = 256 * 1024
const toolCharsMax = 16 * 1024
/** One round of indexing: some milliseconds between which commits go on. */
const usualRound = { docs: 64, chars: 256 * 1024 }
/** The newest matches that are ranked; older ones of a word that is everywhere are not looked at. */
const candidatesMax = 2_000
const halfLifeDays = 30
const dayMs = 24 * 60 * 60_000

/** What is searched unless the query names kinds (S-95). */
const usualColumns: readonly SearchKind[] = ['title', 'user', 'text']

type Candidate = {
  n: number
  session_id: string
  item_id: string
  kind: SearchKind
  at: number
  updated_at: number
  score: number
}

/** What marks the index's work inside a commit; a damaged index is begun anew and fails no commit. */
export function openSearchMarks(db: Database) {
  const sql = keepStatements(db)

  function forget(where: string, ...values: string[]): void {
    try {
      sql(`DELETE FROM search_words WHERE rowid IN (SELECT n FROM search_docs WHERE ${where})`).run(...values)
      sql(`DELETE FROM search_trigrams WHERE rowid IN (SELECT n FROM search_docs WHERE ${where})`).run(...values)
      sql(`DELETE FROM search_docs WHERE ${where}`).run(...values)
    } catch (error) {
      if (!isIndexDamage(error)) throw error
      rebuildIndex(db)
    }
    sql(`DELETE FROM search_pending WHERE ${where}`).run(...values)
  }

  return {
    add(sessionId: string, itemId: string): void {
      sql('INSERT OR IGNORE INTO search_pending (session_id, item_id) VALUES (?, ?)').run(sessionId, itemId)
    },
    addSession(sessionId: string): void {
      sql("INSERT OR IGNORE INTO search_pending (session_id, item_id) VALUES (?, '')").run(sessionId)
      sql(`
        INSERT OR IGNORE INTO search_pending (session_id, item_id)
        SELECT session_id, id FROM items WHERE session_id = ? AND visible = 1 AND kind IN ('user', 'text', 'tool', 'reasoning')
      `).run(sessionId)
    },
    /** What a rewind takes out, and what its restoring brings back: to be called while it is marked so. */
    forgetRewound: (sessionId: string, mark: string) =>
      forget(
        'session_id = ? AND item_id IN (SELECT id FROM items WHERE session_id = ? AND rewound = ?)',
        sessionId,
        sessionId,
        mark,
      ),
    addRewound(sessionId: string, mark: string): void {
      sql(`
        INSERT OR IGNORE INTO search_pending (session_id, item_id)
        SELECT session_id, id FROM items WHERE session_id = ? AND rewound = ? AND body ->> '$.visible' = 1
          AND kind IN ('user', 'text', 'tool', 'reasoning')
      `).run(sessionId, mark)
    },
    forgetItem: (sessionId: string, itemId: string) => forget('session_id = ? AND item_id = ?', sessionId, itemId),
    forgetSession: (sessionId: string) => forget('session_id = ?', sessionId),
  }
}

/** Indexes some of what is pending, in one transaction of its own; false once nothing is. */
export function openIndexing(db: Database, most = usualRound): () => boolean {
  const sql = keepStatements(db)
  let rebuilt = false

  function indexTitle(sessionId: string): number {
    const row = sql<{ title: string | null; updated_at: number }>(
      "SELECT header ->> '$.title' AS title, updated_at FROM sessions WHERE id = ? AND deleted_at IS NULL",
    ).get(sessionId)
    return put(sessionId, '', 'title', row?.title ?? '', row?.updated_at ?? 0)
  }

  function indexItem(sessionId: string, itemId: string): number {
    const row = sql<{ body: string; created_at: number }>(
      'SELECT body, created_at FROM items WHERE session_id = ? AND id = ? AND visible = 1',
    ).get(sessionId, itemId)
    const item = row && parsedItem(row.body)
    return item && isSearchable(item.kind)
      ? put(sessionId, itemId, item.kind as SearchKind, textOf(item), row.created_at)
      : 0
  }

  function put(sessionId: string, itemId: string, kind: SearchKind, text: string, at: number): number {
    const known = sql<{ n: number }>('SELECT n FROM search_docs WHERE session_id = ? AND item_id = ?').get(
      sessionId,
      itemId,
    )
    if (known) {
      sql('DELETE FROM search_words WHERE rowid = ?').run(known.n)
      sql('DELETE FROM search_trigrams WHERE rowid = ?').run(known.n)
      sql('DELETE FROM search_docs WHERE n = ?').run(known.n)
    }
    if (text === '') return 0
    const { lastInsertRowid: n } = sql(
      'INSERT INTO search_docs (session_id, item_id, kind, at) VALUES (?, ?, ?, ?)',
    ).run(sessionId, itemId, kind, at)
    sql(`INSERT INTO search_words (rowid, ${kind}) VALUES (?, ?)`).run(n, spaced(text))
    if (usualColumns.includes(kind)) sql(`INSERT INTO search_trigrams (rowid, ${kind}) VALUES (?, ?)`).run(n, text)
    return text.length
  }

  const round = db.transaction(() => {
    const pending = sql<{ session_id: string; item_id: string }>(
      'SELECT session_id, item_id FROM search_pending LIMIT ?',
    ).all(most.docs)
    let chars = 0
    for (const { session_id: sessionId, item_id: itemId } of pending) {
      if (chars > most.chars) return true
      chars += itemId === '' ? indexTitle(sessionId) : indexItem(sessionId, itemId)
      sql('DELETE FROM search_pending WHERE session_id = ? AND item_id = ?').run(sessionId, itemId)
    }
    return pending.length === most.docs
  })

  return () => {
    try {
      return round.immediate()
    } catch (error) {
      // Once is enough: what fails on a new index too is no damage.
      if (!isIndexDamage(error) || rebuilt) throw error
      rebuilt = true
      db.transaction(() => rebuildIndex(db)).immediate()
      return true
    }
  }
}

export function openSearchIndex(db: Database) {
  const sql = keepStatements(db)

  function candidates(table: 'search_words' | 'search_trigrams', expression: string, query: SearchQuery): Candidate[] {
    const { where, values } = conditions(query)
    const columns = table === 'search_words' ? searchKinds : usualColumns
    return sql<Candidate>(`
      SELECT docs.n, docs.session_id, docs.item_id, docs.kind, docs.at, sessions.updated_at,
        -bm25(${table}, ${columns.map((column) => searchWeights[column]).join(', ')}) AS score
      FROM ${table} JOIN search_docs AS docs ON docs.n = ${table}.rowid JOIN sessions ON sessions.id = docs.session_id
      WHERE ${table} MATCH :expression AND ${where.join(' AND ')}
      ORDER BY ${table}.rowid DESC LIMIT ${candidatesMax}
    `).all({ expression, ...values })
  }

  /** Sessions that fit a query without words, as hits on their titles. */
  function sessionsThatFit(query: SearchQuery): Candidate[] {
    const { where, values } = conditions(query)
    if (query.without.length > 0) {
      where.push('docs.n NOT IN (SELECT rowid FROM search_words WHERE search_words MATCH :without)')
      values['without'] = withoutExpression(query)
    }
    return sql<Candidate>(`
      SELECT docs.n, docs.session_id, docs.item_id, docs.kind, docs.at, sessions.updated_at, 1 AS score
      FROM sessions JOIN search_docs AS docs ON docs.session_id = sessions.id AND docs.item_id = ''
      WHERE ${where.join(' AND ')} ORDER BY sessions.updated_at DESC, sessions.id DESC LIMIT ${candidatesMax}
    `).all(values)
  }

  function hit(found: Candidate, query: SearchQuery): SearchHit {
    const title =
      sql<{ title: string | null }>("SELECT header ->> '$.title' AS title FROM sessions WHERE id = ?").get(
        found.session_id,
      )?.title ?? ''
    const isTitle = found.item_id === ''
    return {
      sessionId: found.session_id,
      sessionTitle: title,
      itemId: isTitle ? null : found.item_id,
      kind: found.kind,
      at: timeOf(found),
      ...makeSnippet(isTitle ? title : itemText(found), query.terms),
    }
  }

  function itemText({ session_id, item_id }: Candidate): string {
    const body = sql<{ body: string }>('SELECT body FROM items WHERE session_id = ? AND id = ?').get(
      session_id,
      item_id,
    )?.body
    const item = body && parsedItem(body)
    return item ? textOf(item) : ''
  }

  return {
    search(text: string, limit: number, now: number): { hits: SearchHit[]; partial: boolean } {
      const query = parseQuery(text)
      const partial = sql('SELECT 1 FROM search_pending LIMIT 1').get() !== undefined
      if (isEmpty(query)) return { hits: [], partial }
      const columns = query.kinds.length > 0 ? query.kinds : usualColumns
      const words = wordExpression(query, columns)
      const found =
        words === null ? ranked(sessionsThatFit(query), now) : ranked(candidates('search_words', words, query), now)
      const parts = trigramExpression(
        query,
        columns.filter((column) => usualColumns.includes(column)),
      )
      if (parts !== null && found.length < limit) {
        const known = new Set(found.map(({ n }) => n))
        found.push(
          ...ranked(
            candidates('search_trigrams', parts, query).filter(({ n }) => !known.has(n)),
            now,
          ),
        )
      }
      return { hits: best(found, limit).map((each) => hit(each, query)), partial }
    },
  }
}

/** Best first: bm25 by weight, an old match worth half of a new one; ties by time, then id (S-97). */
function ranked(found: Candidate[], now: number): Candidate[] {
  const worth = new Map(
    found.map((each) => [
      each,
      each.score * (0.5 + 0.5 * 2 ** (-Math.max(0, now - timeOf(each)) / dayMs / halfLifeDays)),
    ]),
  )
  return found.sort(
    (a, b) => worth.get(b)! - worth.get(a)! || timeOf(b) - timeOf(a) || (a.item_id < b.item_id ? 1 : -1),
  )
}

function best(found: Candidate[], limit: number): Candidate[] {
  const perSession = new Map<string, number>()
  return found
    .filter(({ session_id }) => {
      const count = (perSession.get(session_id) ?? 0) + 1
      perSession.set(session_id, count)
      return count <= hitsPerSessionMax
    })
    .slice(0, limit)
}

/** A title is as new as its session. */
function timeOf({ item_id, at, updated_at }: Candidate): number {
  return item_id === '' ? updated_at : at
}

function conditions(query: SearchQuery): { where: string[]; values: Record<string, string | number> } {
  const where = [
    'sessions.deleted_at IS NULL',
    query.is.includes('archived') ? 'sessions.archived_at IS NOT NULL' : 'sessions.archived_at IS NULL',
  ]
  const values: Record<string, string | number> = {}
  const contains = (column: string, name: string, texts: string[]): void => {
    if (texts.length === 0) return
    where.push(`(${texts.map((_, at) => `instr(lower(${column}), :${name}${at}) > 0`).join(' OR ')})`)
    for (const [at, text] of texts.entries()) values[`${name}${at}`] = text.toLowerCase()
  }
  contains('sessions.workspace', 'workspace', query.workspaces)
  contains("coalesce(sessions.header ->> '$.model', '')", 'model', query.models)
  const at = "CASE docs.item_id WHEN '' THEN sessions.updated_at ELSE docs.at END"
  if (query.before !== null) where.push(`${at} < ${query.before}`)
  if (query.after !== null) where.push(`${at} >= ${query.after}`)
  if (query.is.includes('pinned')) where.push("sessions.header ->> '$.pinnedAt' IS NOT NULL")
  if (query.is.includes('failed')) where.push("sessions.header ->> '$.lastOutcome' = 'failed'")
  if (query.is.includes('running'))
    where.push('EXISTS (SELECT 1 FROM turns WHERE turns.session_id = sessions.id AND settled_at IS NULL)')
  const inSession = (item: string): string =>
    `EXISTS (SELECT 1 FROM items WHERE items.session_id = sessions.id AND items.rewound IS NULL AND ${item})`
  if (query.has.includes('attachment'))
    where.push(inSession("items.kind = 'user' AND json_array_length(items.body, '$.attachments') > 0"))
  if (query.has.includes('error')) where.push(inSession("items.kind = 'error'"))
  if (query.has.includes('changes')) where.push('EXISTS (SELECT 1 FROM changes WHERE changes.session_id = sessions.id)')
  return { where, values }
}

/** Null where the stored text is damaged. */
function parsedItem(body: string): Item | null {
  try {
    return JSON.parse(body) as Item
  } catch {
    return null
  }
}

/** What of an item is searched, and what its snippets are cut from. */
function textOf(item: Item): string {
  switch (item.kind) {
    case 'user':
      return [item.text.slice(0, textCharsMax), ...item.attachments.map(({ name }) => name)].join('\n').trim()
    case 'text':
      return item.text.slice(0, textCharsMax).trim()
    case 'reasoning':
      return item.text.slice(0, toolCharsMax).trim()
    case 'tool':
      return [item.title, ...strings(item.args), item.summary].join('\n').slice(0, toolCharsMax).trim()
    default:
      return ''
  }
}

function strings(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(strings) : []
}

/** Damage shows as whatever the index stumbles over, but never as a failing disk or a lock. */
function isIndexDamage(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return code === 'SQLITE_CORRUPT_VTAB' || code === 'SQLITE_ERROR' || code.startsWith('SQLITE_CONSTRAINT')
}

/** Begins the index anew and marks everything as pending (S-99). */
export function rebuildIndex(db: Database): void {
  db.exec(`
    DROP TABLE search_words;
    DROP TABLE search_trigrams;
    ${searchTables}
    DELETE FROM search_docs;
    INSERT OR IGNORE INTO search_pending SELECT id, '' FROM sessions WHERE deleted_at IS NULL AND parent IS NULL;
    INSERT OR IGNORE INTO search_pending SELECT items.session_id, items.id
      FROM items JOIN sessions ON sessions.id = items.session_id
      WHERE items.visible = 1 AND items.ended_at IS NOT NULL AND sessions.deleted_at IS NULL AND sessions.parent IS NULL
        AND items.kind IN ('user', 'text', 'tool', 'reasoning');
  `)
}
