/** The sessions of a data folder: listed, found, made, moved about, taken out and in. */
import { z } from 'zod'
import { Id } from './ids.ts'
import { listPageMax, queryCharsMax, titleCharsMax } from './limits.ts'
import { act, done, inSession, Path, route } from './route.ts'
import { AgentName, ApprovalMode, Entry, SessionHeader } from './session.ts'

/** A stretch of an exported file; the file is `name`. */
export const ExportPart = z.object({ name: z.string(), mediaType: z.string(), text: z.string(), last: z.boolean() })
export type ExportPart = z.infer<typeof ExportPart>

export const SearchHit = z.object({
  sessionId: Id,
  sessionTitle: z.string(),
  itemId: Id.nullable(),
  kind: z.string(),
  at: z.number(),
  snippet: z.string(),
  ranges: z.array(z.tuple([z.number(), z.number()])),
})
export type SearchHit = z.infer<typeof SearchHit>

export const sessionListRoutes = {
  sessions: {
    list: route
      .input(
        z.object({
          before: z.object({ updatedAt: z.number(), id: Id }).optional(),
          limit: z.number().int().min(1).max(listPageMax).optional(),
          workspace: Path.optional(),
          archived: z.boolean().optional(),
          text: z.string().max(queryCharsMax).optional(),
        }),
      )
      .output(z.object({ entries: z.array(Entry), more: z.boolean() })),
    /** An unsent session: stored with its first admitted message (S-3). */
    create: route
      .input(
        z.object({
          ...act,
          workspace: Path,
          model: z.string().max(300).optional(),
          agent: AgentName.optional(),
          approvalMode: ApprovalMode.optional(),
        }),
      )
      .output(z.object({ ...inSession })),
    rename: route
      .input(
        z.object({
          ...act,
          ...inSession,
          title: z.string().max(titleCharsMax * 4),
          ifRev: z.number().int().optional(),
        }),
      )
      .output(SessionHeader),
    pin: route.input(z.object({ ...act, ...inSession, pinned: z.boolean() })).output(SessionHeader),
    archive: route.input(z.object({ ...act, ...inSession, archived: z.boolean() })).output(SessionHeader),
    delete: route.input(z.object({ ...act, ...inSession })).output(done),
    /** "Recently deleted", newest first: each can come back for 7 days (S-21). */
    deleted: route.output(z.array(z.object({ entry: Entry, deletedAt: z.number().int() }))),
    /** "Delete permanently": nothing of it comes back. */
    purge: route.input(z.object({ ...act, ...inSession })).output(done),
    restore: route.input(z.object({ ...act, ...inSession })).output(SessionHeader),
    /** A new session with what led to an entry, by default the newest settled answer (S-73). */
    fork: route
      .input(
        z.object({
          ...act,
          ...inSession,
          at: Id.optional(),
          side: z.enum(['before', 'after']).optional(),
          title: z
            .string()
            .max(titleCharsMax * 4)
            .optional(),
        }),
      )
      .output(SessionHeader),
    markRead: route
      .input(z.object({ ...act, ...inSession, seq: z.number().int(), unread: z.boolean().optional() }))
      .output(done),
    search: route
      .input(z.object({ query: z.string().max(queryCharsMax), limit: z.number().int().min(1).max(100).optional() }))
      .output(z.object({ hits: z.array(SearchHit), partial: z.boolean() })),
    /** A Lathe JSON in base64 parts of at most 1 MiB; the last one answers the new session, idle (S-92). */
    import: route
      .input(
        z.object({
          uploadId: Id,
          part: z.number().int().nonnegative(),
          last: z.boolean(),
          data: z.string().max(1_500_000),
          /** The same file once more, as a session of its own. */
          copy: z.boolean().optional(),
        }),
      )
      .output(z.object({ sessionId: Id.nullable() })),
    /** A file in parts, asked for in order under an id of the client's; all are of the session as it was at part 0 (S-91). */
    export: route
      .input(
        z.object({
          ...inSession,
          exportId: Id,
          part: z.number().int().nonnegative(),
          format: z.enum(['md', 'json', 'html']),
          /** JSON only: without the pattern pass (S-89). */
          exact: z.boolean().optional(),
        }),
      )
      .output(ExportPart),
  },
}
