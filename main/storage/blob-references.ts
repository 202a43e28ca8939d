import type { Database } from 'better-sqlite3'
import { keepStatements } from './statements.ts'

/** The elements of a list in a body; of a damaged body none. */
const eachIn = (body: string, path: string) =>
  `json_each(CASE WHEN json_valid(${body}) THEN ${body} ELSE '{}' END, '${path}')`
const hashOfFile = `CASE WHEN file.type = 'object' THEN file.value ->> '$.hash' END`
/** A body's hash, wherever it stands in a text. */
const hashForm = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g

/** What a stored body is for: a file a message brought, a version of a changed file, something a tool wrote or was given. */
export type BlobUse = 'attachments' | 'versions' | 'outputs'

export function openBlobReferences(db: Database) {
  const sql = keepStatements(db)

  return {
    /**
     * Hashes of the bodies that anything kept refers to, rewound and queued things included. A damaged row may refer to
     * whatever in it looks like a hash: what it kept is not swept because it cannot be read.
     */
    blobReferences(): { referenced: { hash: string; by: BlobUse }[]; possible: string[] } {
      const referenced = sql<{ hash: unknown; by: BlobUse }>(`
        WITH sound_changes AS (SELECT body FROM changes WHERE json_valid(body)),
          sound_tools AS (SELECT body FROM items WHERE kind = 'tool' AND json_valid(body)),
          queued AS (SELECT value FROM sessions, ${eachIn('header', '$.queue.followUps')} WHERE type = 'object'),
          steers AS (
            SELECT value FROM turns JOIN events ON events.session_id = turns.session_id AND events.seq >= turns.started_seq,
              ${eachIn('events.body', '$.steers')} AS steer
            WHERE turns.settled_at IS NULL AND events.type = 'steers.changed' AND steer.type = 'object')
        SELECT body ->> '$.before' AS hash, 'versions' AS by FROM sound_changes
        UNION SELECT body ->> '$.after', 'versions' FROM sound_changes
        UNION SELECT body ->> '$.undone.from', 'versions' FROM sound_changes
        UNION SELECT body ->> '$.view.image.hash', 'outputs' FROM sound_tools
        UNION SELECT body ->> '$.view.outputRef', 'outputs' FROM sound_tools
        UNION SELECT body ->> '$.resultRef', 'outputs' FROM sound_tools
        UNION SELECT body ->> '$.argsRef', 'outputs' FROM sound_tools
        UNION SELECT body ->> '$.outputRef', 'outputs' FROM items WHERE kind = 'notice' AND json_valid(body)
        UNION SELECT value ->> '$.outputRef', 'outputs' FROM sessions, ${eachIn('hidden', '$.notices')} WHERE type = 'object'
        UNION SELECT ${hashOfFile}, 'attachments' FROM items, ${eachIn('items.body', '$.attachments')} AS file WHERE items.kind = 'user'
        UNION SELECT ${hashOfFile}, 'attachments' FROM drafts, ${eachIn('drafts.body', '$.attachments')} AS file
        UNION SELECT ${hashOfFile}, 'attachments' FROM queued, ${eachIn('queued.value', '$.attachments')} AS file
        UNION SELECT ${hashOfFile}, 'attachments' FROM steers, ${eachIn('steers.value', '$.attachments')} AS file
      `).all()
      const possible = new Set<string>()
      for (const { text } of sql<{ text: string }>(`
        SELECT body AS text FROM changes WHERE NOT json_valid(body)
        UNION ALL SELECT body FROM items WHERE NOT json_valid(body)
        UNION ALL SELECT body FROM drafts WHERE NOT json_valid(body)
        UNION ALL SELECT header FROM sessions WHERE NOT json_valid(header)
        UNION ALL SELECT body FROM events WHERE type = 'steers.changed' AND NOT json_valid(body)
      `).iterate())
        for (const [hash] of text.matchAll(hashForm)) possible.add(hash)
      return {
        referenced: referenced.flatMap(({ hash, by }) =>
          typeof hash === 'string' && /^[0-9a-f]{64}$/.test(hash) ? { hash, by } : [],
        ),
        possible: [...possible],
      }
    },
  }
}
