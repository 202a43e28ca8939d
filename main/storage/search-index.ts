/** The search index inside the worker (S-95 to S-99): following what settles, forgetting what goes, answering queries. */
import { hitsPerSessionMax } from '../../preload/contract/limits.ts'
import type { Database } from 'better-sqlite3'
import type { Item } from '../../preload/contract/items.ts'
import type { SearchHit } from '../../preload/contract/session-list-routes.ts'
import { isSearchable, searchKinds, searchWeights } from './search-kinds.ts'
import type { SearchKind } from './search-kinds.ts'
import { docsBits, openSearchParts } from './search-parts.ts'
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
/** Parts of words come behind whole words, and cost more to look for. */
const partCandidatesMax = 200
/** So few sessions are looked for where they stand, instead of among all matches. */
const fewSessions = 50
const halfLifeDays = 30
const dayMs = 24 * 60 * 60_000

/** What is searched unless the query names kinds (S-95). */
const usualColumns: readonly SearchKind[] = ['title', 'user', 'text']

const wordWeights = searchKinds.map((kind) => searchWeights[kind]).join(', ')
const weightOfKind = `CASE docs.kind ${searchKinds.map((kind) => `WHEN '${kind}' THEN ${searchWeights[kind]}`).join(' ')} END`

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
  const parts = openSearchParts(db)

  function forget(where: string, ...values: string[]): void {
    try {
      for (const { n } of sql<{ n: number }>(`SELECT n FROM search_docs WHERE ${where}`).all(...values)) parts.remove(n)
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
  const parts = openSearchParts(db)
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
    if (known) parts.remove(known.n)
    if (text === '') return 0
    const { lastInsertRowid: n } = sql(
      'INSERT INTO search_docs (session_id, item_id, kind, at) VALUES (?, ?, ?, ?)',
    ).run(sessionId, itemId, kind, at)
    const { words, trigrams } = parts.forDoc(Number(n), kind === 'title' ? null : at)
    sql(`INSERT INTO ${words} (rowid, ${kind}) VALUES (?, ?)`).run(n, spaced(text))
    if (usualColumns.includes(kind)) sql(`INSERT INTO ${trigrams} (rowid, ${kind}) VALUES (?, ?)`).run(n, text)
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
  const parts = openSearchParts(db)

  /** The newest matches, part by part: a word that is everywhere fills them from the newest one alone. */
  function candidates(
    of: 'words' | 'trigrams',
    expressionFor: (columns: readonly SearchKind[]) => string | null,
    query: SearchQuery,
  ): Candidate[] {
    const { where, values } = conditions(query)
    const indexed = of === 'words' ? searchKinds : usualColumns
    const most = of === 'words' ? candidatesMax : partCandidatesMax
    const asked = (query.kinds.length > 0 ? query.kinds : usualColumns).filter((column) => indexed.includes(column))
    const stretches = stretchesThatFit(query)
    const found: Candidate[] = []
    for (const part of parts.list()) {
      const stretch = stretches?.get(part.part)
      if (stretches && !stretch) continue
      const expression = expressionFor(isOutside(part, query) ? asked.filter((column) => column === 'title') : asked)
      if (expression === null) continue
      const table = part[of]
      // Trigrams stand in nearly all there is: counting them would cost more than the search, and tells little.
      const score = of === 'words' ? `-bm25(${table}, ${wordWeights})` : weightOfKind
      found.push(
        ...sql<Candidate>(`
          SELECT docs.n, docs.session_id, docs.item_id, docs.kind, docs.at, sessions.updated_at, ${score} AS score
          FROM ${table} JOIN search_docs AS docs ON docs.n = ${table}.rowid JOIN sessions ON sessions.id = docs.session_id
          WHERE ${table} MATCH :expression AND ${where.join(' AND ')}
            ${stretch ? `AND ${table}.rowid BETWEEN :first AND :last` : ''}
          ORDER BY ${table}.rowid DESC LIMIT :left
        `).all({ expression, ...values, ...stretch, left: most - found.length }),
      )
      if (found.length >= most) break
    }
    return found
  }

  /** Where the documents of the sessions stand that the query's filters leave; null where it has none, or leaves many. */
  function stretchesThatFit(query: SearchQuery): Map<number, { first: number; last: number }> | null {
    const { is, has, workspaces, models } = query
    if ([is, has, workspaces, models].every((filters) => filters.length === 0)) return null
    const { where, values } = sessionConditions(query)
    const ids = sql<{ id: string }>(
      `SELECT sessions.id FROM sessions WHERE ${where.join(' AND ')} LIMIT ${fewSessions + 1}`,
    ).all(values)
    if (ids.length > fewSessions) return null
    const rows = sql<{ part: number; first: number; last: number }>(`
      SELECT n >> ${docsBits} AS part, min(n) AS first, max(n) AS last FROM search_docs
      WHERE session_id IN (SELECT value FROM json_each(?)) GROUP BY part
    `).all(JSON.stringify(ids.map(({ id }) => id)))
    return new Map(rows.map(({ part, ...stretch }) => [part, stretch]))
  }

  /** Sessions that fit a query without words, as hits on their titles. */
  function sessionsThatFit(query: SearchQuery): Candidate[] {
    const { where, values } = conditions(query)
    if (query.without.length > 0) {
      where.push('docs.n NOT IN (SELECT value FROM json_each(:without))')
      values['without'] = JSON.stringify(titlesWith(withoutExpression(query)))
    }
    return sql<Candidate>(`
      SELECT docs.n, docs.session_id, docs.item_id, docs.kind, docs.at, sessions.updated_at, 1 AS score
      FROM sessions JOIN search_docs AS docs ON docs.session_id = sessions.id AND docs.item_id = ''
      WHERE ${where.join(' AND ')} ORDER BY sessions.updated_at DESC, sessions.id DESC LIMIT ${candidatesMax}
    `).all(values)
  }

  function titlesWith(expression: string): number[] {
    return parts.list().flatMap(({ words }) =>
      sql<{ n: number }>(`SELECT rowid AS n FROM ${words} WHERE ${words} MATCH ?`)
        .all(`{title} : (${expression})`)
        .map(({ n }) => n),
    )
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
      const found = ranked(
        query.terms.length === 0
          ? sessionsThatFit(query)
          : candidates('words', (columns) => wordExpression(query, columns), query),
        now,
      )
      if (query.terms.length > 0 && found.length < limit) {
        const known = new Set(found.map(({ n }) => n))
        const more = candidates('trigrams', (columns) => trigramExpression(query, columns), query)
        found.push(
          ...ranked(
            more.filter(({ n }) => !known.has(n)),
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

type Conditions = { where: string[]; values: Record<string, string | number> }

function conditions(query: SearchQuery): Conditions {
  const { where, values } = sessionConditions(query)
  const at = "CASE docs.item_id WHEN '' THEN sessions.updated_at ELSE docs.at END"
  if (query.before !== null) {
    where.push(`${at} < :before`)
    values['before'] = query.before
  }
  if (query.after !== null) {
    where.push(`${at} >= :after`)
    values['after'] = query.after
  }
  return { where, values }
}

function sessionConditions(query: SearchQuery): Conditions {
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

/** Nothing in it but titles, which are as new as their session, can be of that time. */
function isOutside({ oldest, newest }: { oldest: number; newest: number }, { before, after }: SearchQuery): boolean {
  return (before !== null && oldest >= before) || (after !== null && newest < after)
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
  openSearchParts(db).clear()
  db.exec(`
    INSERT OR IGNORE INTO search_pending SELECT id, '' FROM sessions WHERE deleted_at IS NULL AND parent IS NULL;
    INSERT OR IGNORE INTO search_pending SELECT items.session_id, items.id
      FROM items JOIN sessions ON sessions.id = items.session_id
      WHERE items.visible = 1 AND items.ended_at IS NOT NULL AND sessions.deleted_at IS NULL AND sessions.parent IS NULL
        AND items.kind IN ('user', 'text', 'tool', 'reasoning');
  `)
}
