import { LatheError } from '../../preload/contract/errors.ts'
import { listPageMax } from '../../preload/contract/limits.ts'
import type { Entry } from '../../preload/contract/session.ts'
import type { ClientContext, Handlers } from '../transport/handlers.ts'

const prefixCharsMin = 8

/** The id meant by a whole one or a unique prefix of 8 characters or more (S-131). Throws `session.not_found`. */
export async function findSession(given: string, handlers: Handlers, client: ClientContext): Promise<string> {
  const found = new Set<string>()
  for (const archived of [false, true]) {
    for await (const { id } of allEntries({ archived }, handlers, client)) {
      if (id === given) return id
      if (id.startsWith(given)) found.add(id)
    }
  }
  if (given.length >= prefixCharsMin && found.size === 1) return [...found][0]!
  if (found.size > 1)
    throw new LatheError('session.not_found', `"${given}" is the beginning of ${found.size} ids.`, {
      hint: 'Give more of it.',
    })
  if (found.size === 1)
    throw new LatheError('session.not_found', `"${given}" is too short.`, {
      hint: `Give at least ${prefixCharsMin} characters of the id.`,
    })
  throw new LatheError('session.not_found', `There is no session "${given}".`, { hint: 'See `lathe sessions list`.' })
}

/** Every entry in window order, read page by page. */
export async function* allEntries(
  query: { archived: boolean; workspace?: string | undefined },
  handlers: Handlers,
  client: ClientContext,
): AsyncGenerator<Entry> {
  const { archived, workspace } = query
  let before: { updatedAt: number; id: string } | undefined
  for (;;) {
    const page = await handlers.sessions.list(
      {
        archived,
        limit: listPageMax,
        ...(workspace === undefined ? {} : { workspace }),
        ...(before === undefined ? {} : { before }),
      },
      client,
    )
    yield* page.entries
    const last = page.entries.at(-1)
    if (!page.more || !last) return
    before = { updatedAt: last.updatedAt, id: last.id }
  }
}
