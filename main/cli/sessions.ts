/** `lathe sessions`: list, show, export, import, delete, search, with the contract's shapes under `--json` (S-131). */
import { open, realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import { LatheError } from '../../preload/contract/errors.ts'
import { newId } from '../../preload/contract/ids.ts'
import type { Item } from '../../preload/contract/items.ts'
import { itemTextBytesMax, sliceItemsMax } from '../../preload/contract/limits.ts'
import type { SessionHeader, Turn } from '../../preload/contract/session.ts'
import { writePrivateFile } from '../platform/private-file.ts'
import { entryOf, outcomeLine } from '../sessions/export.ts'
import type { ClientContext, Handlers } from '../transport/handlers.ts'
import type { SessionsArguments } from './arguments.ts'
import type { OpenHost } from './command-host.ts'
import { exitCodes } from './exit-codes.ts'
import { type Output, printable } from './output.ts'
import { allEntries, findSession } from './session-id.ts'

/** Of a file on its way to the host. */
const partBytes = 1024 * 1024

type Asked = { handlers: Handlers; client: ClientContext; output: Output }
type Whole = { header: SessionHeader; items: Item[]; turns: Turn[] }

export async function sessions(args: SessionsArguments, openHost: OpenHost, output: Output): Promise<number> {
  try {
    const host = await openHost({ attendance: 'deny' })
    try {
      const asked: Asked = {
        handlers: host.handlers,
        client: { clientId: newId(), kind: 'cli', attendance: 'deny' },
        output,
      }
      await answer(args, asked)
      return exitCodes.completed
    } finally {
      await host.close()
    }
  } catch (error) {
    output.fail(error)
    return exitCodes.failed
  }
}

function answer(args: SessionsArguments, asked: Asked): Promise<void> {
  switch (args.command) {
    case 'list':
      return list(args, asked)
    case 'show':
      return show(args, asked)
    case 'export':
      return exportOne(args, asked)
    case 'import':
      return importOne(args, asked)
    case 'delete':
      return deleteAll(args, asked)
    case 'search':
      return search(args, asked)
  }
}

type Args<C extends SessionsArguments['command']> = Extract<SessionsArguments, { command: C }>

async function list({ workspace, archived, limit }: Args<'list'>, { handlers, client, output }: Asked): Promise<void> {
  const folder =
    workspace === undefined ? undefined : await realpath(resolve(workspace)).catch(() => resolve(workspace))
  let shown = 0
  for await (const entry of allEntries({ archived, workspace: folder }, handlers, client)) {
    if (output.json) output.line(entry)
    else
      output.print(
        [
          entry.id,
          time(entry.updatedAt),
          entry.indicator.padEnd(11),
          `${oneLine(entry.title)}  (${entry.workspace})`,
        ].join('  '),
      )
    if (++shown >= limit) return
  }
  if (shown === 0 && !output.json) output.note('There are no sessions.')
}

/** The transcript a window shows, as text. */
async function show({ id, items: most }: Args<'show'>, asked: Asked): Promise<void> {
  const { output } = asked
  const { header, items, turns } = await readWhole(id, asked)
  const shown = most === undefined ? items : items.slice(-most)
  if (output.json) {
    output.line(header)
    for (const item of shown) output.line(item)
    return
  }
  output.print(`${oneLine(header.title)}\n${header.workspace}${header.model === null ? '' : `, ${header.model}`}`)
  for (const item of shown) {
    const { heading, text, code, names } = entryOf(item)
    output.print(
      ['', `--- ${oneLine(heading)}`, text, ...code, ...names.map((name) => `attached: ${name}`)]
        .filter((part, index) => index === 0 || part !== '')
        .join('\n'),
    )
    const turn = turns.find((one) => one.id === item.turnId && one.outcome !== null)
    if (turn && items.findLast(({ turnId }) => turnId === turn.id) === item) output.print(`\n(${outcomeLine(turn)})`)
  }
}

/** The file goes to the host in parts, as from a window. */
async function importOne({ file: path, copy }: Args<'import'>, { handlers, client, output }: Asked): Promise<void> {
  const file = await open(resolve(path)).catch((error: NodeJS.ErrnoException) => {
    throw new LatheError(
      'request.invalid',
      `${path} cannot be imported: ${error.code === 'ENOENT' ? 'there is no such file' : `it could not be read (${error.code})`}.`,
    )
  })
  try {
    const uploadId = newId()
    const { size } = await file.stat()
    const parts = Math.max(1, Math.ceil(size / partBytes))
    const bytes = Buffer.alloc(partBytes)
    for (let part = 0; part < parts; part++) {
      const { bytesRead } = await file.read(bytes, 0, partBytes)
      const data = bytes.toString('base64', 0, bytesRead)
      const { sessionId } = await handlers.sessions.import(
        { uploadId, part, last: part === parts - 1, data, copy },
        client,
      )
      if (sessionId === null) continue
      if (output.json) output.line({ sessionId })
      else output.print(sessionId)
    }
  } finally {
    await file.close()
  }
}

/** Parts are written as they come, so a session of any length can be exported (S-91). */
async function exportOne(
  { id, format, out, exact }: Args<'export'>,
  { handlers, client, output }: Asked,
): Promise<void> {
  const sessionId = await findSession(id, handlers, client)
  const exportId = newId()
  const partAt = (part: number) => handlers.sessions.export({ sessionId, exportId, part, format, exact }, client)
  const first = await partAt(0)
  const { name, mediaType } = first
  if (exact) output.note('Exactly as stored: secrets that only their form gives away are not taken out.')
  if (out !== undefined) {
    const path = resolve(out)
    await writePrivateFile(path, texts()).catch((error: unknown) => {
      if (error instanceof LatheError) throw error
      throw new LatheError('storage.failed', `${out} could not be written (${(error as NodeJS.ErrnoException).code}).`)
    })
    if (output.json) output.line({ name, mediaType, path })
    else output.note(`Written to ${path}.`)
  } else if (output.json) {
    // One line, its string written in stretches.
    await output.write(`${JSON.stringify({ name, mediaType }).slice(0, -1)},"text":"`)
    for await (const text of texts()) await output.write(JSON.stringify(text).slice(1, -1))
    await output.write('"}\n')
  } else for await (const text of texts()) await output.write(printable(text))

  async function* texts(): AsyncGenerator<string> {
    for (let at = 0, part = first; ; part = await partAt(++at)) {
      yield part.text
      if (part.last) return
    }
  }
}

async function deleteAll({ ids, purge }: Args<'delete'>, { handlers, client, output }: Asked): Promise<void> {
  // All ids are found before the first session goes.
  const found: string[] = []
  for (const id of ids) found.push(await findSession(id, handlers, client))
  for (const sessionId of found) {
    const act = { requestId: newId(), sessionId }
    if (purge) await handlers.sessions.purge(act, client)
    else await handlers.sessions.delete(act, client)
    if (output.json) output.line({ ok: true, sessionId })
    else output.note(purge ? `Deleted ${sessionId} for good.` : `Deleted ${sessionId}. It can be restored for 7 days.`)
  }
}

async function search({ query, limit }: Args<'search'>, { handlers, client, output }: Asked): Promise<void> {
  const { hits, partial } = await handlers.sessions.search({ query, limit }, client)
  if (output.json) for (const hit of hits) output.line(hit)
  // A session is named once, above what was found in it.
  else
    for (const [sessionId, found] of Map.groupBy(hits, (hit) => hit.sessionId)) {
      const said = found.filter(({ kind }) => kind !== 'title')
      const lines = said.map(({ at, kind, snippet }) => `    ${time(at)}  ${kind.padEnd(5)}  ${oneLine(snippet)}`)
      output.print([`${sessionId}  ${oneLine(found[0]!.sessionTitle)}`, ...lines].join('\n'))
    }
  if (partial) output.note('The search index is still catching up; there may be more.')
  else if (hits.length === 0) output.note('Nothing was found.')
}

/** The whole session, read back from its end, every clipped text made whole. */
async function readWhole(given: string, { handlers, client }: Asked): Promise<Whole> {
  const sessionId = await findSession(given, handlers, client)
  const { header } = await handlers.session.open({ sessionId }, client)
  const turns = new Map<string, Turn>()
  const items: Item[] = []
  let before: string | undefined
  for (;;) {
    const page = await handlers.session.items(
      { sessionId, limit: sliceItemsMax, ...(before === undefined ? {} : { before }) },
      client,
    )
    items.unshift(...page.items)
    for (const turn of page.turns) turns.set(turn.id, turn)
    if (page.before === 0 || page.items.length === 0) break
    before = page.items[0]!.id
  }
  const whole: Item[] = []
  for (const item of items) {
    const isClipped = Buffer.byteLength(JSON.stringify(item)) >= itemTextBytesMax
    whole.push(isClipped ? await handlers.session.item({ sessionId, itemId: item.id }, client) : item)
  }
  return { header, items: whole, turns: [...turns.values()] }
}

/** To the minute, where the person is. */
function time(at: number): string {
  const date = new Date(at - new Date(at).getTimezoneOffset() * 60_000)
  return date.toISOString().slice(0, 16).replace('T', ' ')
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
