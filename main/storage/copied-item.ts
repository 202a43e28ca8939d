/**
 * What becomes of an entry in a copy (S-74, S-76): it and all it names get new ids, and what had not ended ends. Said
 * once here, and done in two ways: by SQLite for a fork, whose entries it holds (S-157), and to a single one of a file.
 */
import type { Item, ItemOf } from '../../preload/contract/items.ts'

/** Names of other entries and of what they did, by kind. */
const named: { [K in Item['kind']]?: readonly (keyof ItemOf<K>)[] } = {
  tool: ['approvalId', 'questionId', 'changeIds'],
  approval: ['toolItemId'],
  question: ['toolItemId'],
  subagent: ['toolItemId'],
  compaction: ['coversThrough'],
}
const namedByEvery = ['id', 'turnId', 'stepId'] as const
const lists: ReadonlySet<string> = new Set(['changeIds'])

/** What stays with the session it came from: a subagent's transcript. */
const left: { [K in Item['kind']]?: Partial<ItemOf<K>> } = { subagent: { sessionId: null } }

/** How an entry ends that had not ended. No model is sent a call without result (S-76). */
const cutOff: { [K in Item['kind']]?: Partial<ItemOf<K>> } = {
  tool: { status: 'final', state: 'cancelled', contextual: false },
  approval: { status: 'final', state: 'cancelled' },
  question: { status: 'final', state: 'cancelled' },
  subagent: { status: 'final', phase: 'stopped' },
}
const cutOffElse = { status: 'partial' } as const

/**
 * The id of a copy: that of what was copied with another end, so that it still tells when that was made, is the same
 * wherever it is named, and SQLite can make it by itself.
 */
export function copiedId(id: string, end: string): string {
  return id.length === 36 ? id.slice(0, 24) + end : `${id.slice(0, 50)}-${end}`
}

/** `copiedId` of an SQL expression; null of null. */
export const copiedIdSql = (id: string) =>
  `CASE length(${id}) WHEN 36 THEN substr(${id}, 1, 24) || :end ELSE substr(${id}, 1, 50) || '-' || :end END`

/** The body of an item's row as that of its copy, but for how it ends; `:end` is the end of the new ids. */
export const copiedBodySql = `CASE kind ${Object.entries(named)
  .map(([kind, fields]) => `WHEN '${kind}' THEN ${withNames(kind as Item['kind'], fields)}`)
  .join(' ')} ELSE ${withNames(null, [])} END`

function withNames(kind: Item['kind'] | null, fields: readonly string[]): string {
  const every = namedByEvery.map((field) => `'$.${field}', ${copiedIdSql(`body ->> '$.${field}'`)}`)
  const body = `json_set(body, ${[...every, `'$.copiedFrom', id`, ...values((kind && left[kind]) ?? {})].join(', ')})`
  if (fields.length === 0) return body
  // Only what is there: most calls have no approval.
  return `json_replace(${body}, ${fields.map((field) => `'$.${field}', ${renamed(field)}`).join(', ')})`
}

function renamed(field: string): string {
  return lists.has(field)
    ? `json((SELECT json_group_array(${copiedIdSql('value')}) FROM json_each(body, '$.${field}')))`
    : copiedIdSql(`body ->> '$.${field}'`)
}

/** The body of a copy that had not ended, ended at `:at`. */
export const cutOffBodySql = `json_set(CASE kind ${Object.entries(cutOff)
  .map(([kind, end]) => `WHEN '${kind}' THEN json_set(body, ${values(end).join(', ')})`)
  .join(' ')} ELSE json_set(body, ${values(cutOffElse).join(', ')}) END, '$.endedAt', :at)`

function values(fields: object): string[] {
  return Object.entries(fields).map(([field, value]) => `'$.${field}', json('${JSON.stringify(value)}')`)
}

const unended: ReadonlySet<string> = new Set(['proposed', 'waiting', 'running', 'open'])

/** The copy of an item, whose new ids `copied` gives; what had not ended ended at `at`. */
export function copiedItem(item: Item, copied: (id: string) => string, at: number): Item {
  const copy: Record<string, unknown> = { ...item, ...left[item.kind], copiedFrom: item.id }
  for (const field of [...namedByEvery, ...(named[item.kind] ?? [])]) {
    const value = copy[field]
    if (typeof value === 'string') copy[field] = copied(value)
    else if (Array.isArray(value)) copy[field] = (value as string[]).map(copied)
  }
  const isLive = item.endedAt === null || item.status === 'live' || ('state' in item && unended.has(item.state))
  return { ...copy, ...(isLive ? { ...(cutOff[item.kind] ?? cutOffElse), endedAt: at } : {}) } as Item
}
