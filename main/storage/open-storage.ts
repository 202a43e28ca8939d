import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { LatheError } from '../../preload/contract/errors.ts'
import { extended } from '../../preload/contract/fold.ts'
import type { Item, Mention } from '../../preload/contract/items.ts'
import { sliceItems } from '../../preload/contract/limits.ts'
import { askedMentions } from '../../preload/contract/mentions.ts'
import type { Prompt } from '../../preload/contract/session-routes.ts'
import type { Entry, ItemSlice, Turn } from '../../preload/contract/session.ts'
import { openBlobFolder } from './blob-folder.ts'
import type { Faults } from './faults.ts'
import { folded, packWrite } from './packed.ts'
import type { PackedSlice } from './slice-reads.ts'
import type { PackedItems, PackedTurns } from './snapshots.ts'
import type { Storage } from './storage.ts'
import { startWorker } from './storage-thread.ts'
import type { StorageThread } from './storage-thread.ts'

export type StorageOptions = {
  /** The data folder; made where it is missing. */
  home: string
  /** Changes nothing on disk; a mutation is refused `session.read_only`. */
  readOnly?: boolean
  /** Who owns the data folder; a later owner's id ends this one's writing. */
  owner?: string
  /** Told of what was read with defaults in place of damage (S-7). */
  onRepair?: (sessionId: string, fields: string[]) => void
  faults?: Faults
}

/** Characters of JSON parsed before the main loop gets its turn. */
const parsedAtOnce = 512 * 1024

/** Opens the database of `home` in its worker. Throws `storage.failed` where it cannot be used at all. */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  const { home, readOnly = false, owner = randomUUID(), onRepair } = options
  if (!readOnly) await makeHome(home)
  const start = { home, readOnly, owner, faults: options.faults?.shared ?? null }
  const thread = await startWorker(start)
  const { call } = thread
  const folder = openBlobFolder(home)
  let second: ReturnType<typeof startWorker> | null = null

  /** A thread of its own for what may take long, so that no commit waits behind a search. Started at the first need. */
  async function reader(): Promise<StorageThread> {
    if (readOnly) return thread
    second ??= startWorker({ ...start, readOnly: true }).catch((error: unknown) => {
      second = null
      throw error
    })
    return await second
  }

  async function close(): Promise<void> {
    await (await second?.catch(() => null))?.close()
    await thread.close()
  }

  /** Sessions whose damage was told; each is told once. */
  const told = new Set<string>()

  // Schemas are needed by the first session that is loaded, not by the start.
  const record = () => import('./record.ts')

  async function readItems(sessionId: string, bodies: string[]): Promise<Item[]> {
    const { readItem } = await record()
    return inPieces(bodies, (body) => readItem(body, sessionId))
  }

  async function readTurns(bodies: string[]): Promise<Turn[]> {
    const { readTurn } = await record()
    return inPieces(bodies, readTurn)
  }

  async function readSlice(
    sessionId: string,
    { items, before, after, turns, changes }: PackedSlice,
  ): Promise<ItemSlice> {
    return {
      items: await readItems(sessionId, items),
      before,
      after,
      turns: await readTurns(turns),
      changes: await inPieces(changes, JSON.parse),
    }
  }

  /** Arguments that lie in a body of their own, put back. */
  async function withArgs(item: Item): Promise<Item> {
    if (item.kind !== 'tool' || item.argsRef === undefined) return item
    const { argsRef, ...rest } = item
    const args = await folder.get(argsRef).catch(() => null)
    return args ? { ...rest, args: JSON.parse(new TextDecoder().decode(args)) as unknown } : item
  }

  return {
    condition: thread.condition,
    dataFolder: home,
    blobs: folder,

    commit: async (write) => call('commit', packWrite(write)),

    async loadSession(sessionId) {
      const packed = await call('loadSession', sessionId)
      if (!packed) return null
      const { readHeader, readHidden } = await record()
      const { header, repaired } = readHeader(packed.header, packed.columns)
      if (repaired.length > 0 && !told.has(sessionId)) {
        told.add(sessionId)
        onRepair?.(sessionId, repaired)
      }
      return {
        journalId: packed.journalId,
        header,
        hidden: readHidden(packed.hidden),
        items: await readItems(sessionId, packed.items),
        itemsBefore: packed.itemsBefore,
        turns: await readTurns(packed.turns),
        changes: await inPieces(packed.changes, JSON.parse),
        unsettled: await inPieces(packed.unsettled, JSON.parse),
        lastPos: packed.lastPos,
      }
    },

    unsettledSessions: () => call('unsettledSessions'),

    async events(sessionId, after, limit) {
      const { events, pruned } = await call('events', sessionId, after, limit)
      return { events: await inPieces(events, JSON.parse), pruned }
    },

    async items(sessionId, query) {
      return readSlice(sessionId, await call('items', sessionId, query))
    },

    async pointOf(sessionId, itemId) {
      const point = await call('pointOf', sessionId, itemId)
      return (
        point && {
          ...point,
          kind: point.kind as Item['kind'],
          lastTurn: valueOf(point.lastTurn),
          plan: valueOf(point.plan),
        }
      )
    },

    setAside: async (sessionId, markItemId, after, limit) =>
      readSlice(sessionId, await call('setAside', sessionId, markItemId, after, limit)),

    async restoring(sessionId, markItemId) {
      const found = await call('restoring', sessionId, markItemId, sliceItems)
      return found && { ...found, lastTurn: valueOf(found.lastTurn), slice: await readSlice(sessionId, found.slice) }
    },

    async forkPoint(sessionId, itemId, side) {
      const point = await call('forkPoint', sessionId, itemId, side)
      return (
        point && {
          ...point,
          lastTurn: valueOf(point.lastTurn),
          plan: valueOf(point.plan),
          slice: await readItems(sessionId, point.slice.items),
        }
      )
    },

    rewoundBefore: (time) => call('rewoundBefore', time),

    async item(sessionId, itemId) {
      const body = await call('item', sessionId, itemId)
      return body === null ? null : withArgs((await readItems(sessionId, [body]))[0]!)
    },

    async snapshot(sessionId) {
      const thread = await reader()
      const begun = await thread.call('beginSnapshot', sessionId)
      if (!begun) return null
      const { snapshotId } = begun
      const { readHeader } = await record()
      return {
        header: readHeader(begun.header, begun.columns).header,
        async *turns() {
          for (let after: number | null = -1; after !== null;) {
            const page: PackedTurns = await thread.call('snapshotTurns', snapshotId, after)
            yield* await readTurns(page.turns)
            after = page.last
          }
        },
        async *items() {
          for (let after: number | null = -1; after !== null;) {
            const page: PackedItems = await thread.call('snapshotItems', snapshotId, after)
            for (const { body, deltas, ends } of page.items) {
              const [stored] = await readItems(sessionId, [body])
              const item = extended(await withArgs(stored!), await inPieces(deltas, JSON.parse))
              yield { item, ends: ends === null ? null : (await readTurns([ends]))[0]! }
            }
            after = page.last
          }
        },
        close: () => thread.call('endSnapshot', snapshotId),
      }
    },

    turn: async (sessionId, turnId) => valueOf(await call('turn', sessionId, turnId)),

    async contextItems(sessionId) {
      const { items, turns } = await call('contextItems', sessionId)
      return { items: await readItems(sessionId, items), turns: await readTurns(turns) }
    },

    async sentItems(sessionId) {
      const { items, turns } = await call('sentItems', sessionId)
      return { items: await readItems(sessionId, items), turns: await inPieces(turns, JSON.parse) }
    },

    changedPaths: (sessionId, turnIds) => call('changedPaths', sessionId, JSON.stringify(turnIds)),

    change: async (sessionId, changeId) => valueOf(await call('change', sessionId, changeId)),

    async request(sessionId, requestId) {
      const row = await call('request', sessionId, requestId)
      return row && { requestId, fingerprint: row.fingerprint, reply: JSON.parse(row.reply) as unknown }
    },

    async entries({ before, limit, workspace, archived, text }) {
      const { entries, more } = await call('entries', {
        before: before ?? null,
        limit,
        workspace: workspace ?? null,
        archived: archived ?? false,
        text: folded(text ?? '').trim(),
      })
      return { entries: await inPieces(entries, entryFrom), more }
    },

    sessionIds: (after, limit) => call('sessionIds', after, limit),
    setEntry: (sessionId, entry, lastSeq) => call('setEntry', sessionId, JSON.stringify(entry), lastSeq),

    idsByPrefix: (prefix) => call('idsByPrefix', prefix),

    async pruneDeltas(settledBefore) {
      while (await call('pruneNext', settledBefore)) continue
    },

    erase: (sessionId, at) => call('erase', sessionId, at),
    deletedEntries: async (limit) =>
      (await call('deletedEntries', limit)).map(({ entry, deletedAt }) => ({ entry: entryFrom(entry), deletedAt })),
    deletedBefore: (time) => call('deletedBefore', time),

    draft: async (sessionId) => valueOf(await call('draft', sessionId)),
    setDraft: (sessionId, draft) => call('setDraft', sessionId, JSON.stringify(draft)),

    async prompts(sessionId, workspace) {
      const { own, others } = await call('prompts', sessionId, workspace)
      const prompts = [
        ...(await readItems(sessionId, own)).map((item) => promptOf(item, ({ ref }) => ref !== sessionId)),
        // A turn of another session cannot be meant here.
        ...(await readItems(sessionId, others)).map((item) =>
          promptOf(item, ({ kind, ref }) => kind !== 'changes' && ref !== sessionId),
        ),
      ]
      const seen = new Set([''])
      return prompts.filter(({ text }) => !seen.has(text) && seen.add(text))
    },

    rules: async () => (await call('rules')).map((body) => JSON.parse(body)),
    removeRule: (id) => call('removeRule', id),

    workspaces: async () => (await call('workspaces')).map((body) => JSON.parse(body)),
    putWorkspace: (workspace) => call('putWorkspace', workspace.path, workspace.openedAt, JSON.stringify(workspace)),
    removeWorkspace: (path) => call('removeWorkspace', path),
    moveWorkspace: (from, to) => call('moveWorkspace', from, to),

    value: async (name) => valueOf(await call('value', name)),
    setValue: (name, value) => call('setValue', name, JSON.stringify(value ?? null)),

    async search(query, limit) {
      const found = await (await reader()).call('search', query, limit)
      if (found) return found
      if (!readOnly) await call('rebuildSearch')
      return { hits: [], partial: true }
    },

    find: async (sessionId, text, limit) => (await reader()).call('find', sessionId, text, limit),

    searchState: async () => (await reader()).call('searchState'),

    async health() {
      const thread = await reader()
      const database = await thread.call('health')
      const stored = await folder.list()
      const hashes = new Set(stored.map(({ hash }) => hash))
      const { referenced, possible } = await thread.call('blobReferences')
      const kept = new Set([...referenced.map(({ hash }) => hash), ...possible])
      return {
        ...database,
        blobBytes: bytesOf(stored),
        blobsMissing: new Set(referenced.flatMap(({ hash }) => (hashes.has(hash) ? [] : hash))).size,
        unreferencedBytes: bytesOf(stored.filter(({ hash }) => !kept.has(hash))),
      }
    },

    async usage() {
      const thread = await reader()
      const stored = await folder.list()
      const { referenced, possible } = await thread.call('blobReferences')
      const uses = new Map(referenced.map(({ hash, by }) => [hash, by]))
      const kept = new Set(possible)
      const used = { attachments: 0, versions: 0, outputs: 0 }
      const unreferenced: { bytes: number; usedAt: number }[] = []
      for (const blob of stored) {
        const use = uses.get(blob.hash) ?? (kept.has(blob.hash) ? 'outputs' : null)
        if (use === null) unreferenced.push(blob)
        else used[use] += blob.bytes
      }
      const { databaseBytes } = await thread.call('health')
      const largest = await thread.call('largest', largestSessions)
      return { databaseBytes, freeBytes: await thread.call('freeBytes'), ...used, unreferenced, largest }
    },

    async sweepBlobs(before) {
      const thread = await reader()
      return await folder.sweep(before, async () => {
        const { referenced, possible } = await thread.call('blobReferences')
        return new Set([...referenced.map(({ hash }) => hash), ...possible])
      })
    },

    vacuum: () => call('vacuum'),

    close,
  }
}

const largestSessions = 20

function bytesOf(stored: readonly { bytes: number }[]): number {
  return stored.reduce((sum, { bytes }) => sum + bytes, 0)
}

async function makeHome(home: string): Promise<void> {
  try {
    await mkdir(home, { recursive: true, mode: 0o700 })
  } catch (cause) {
    throw new LatheError('storage.failed', `The data folder ${home} cannot be made.`, {
      reason: 'no_access',
      hint: 'Choose another with LATHE_HOME.',
      cause,
    })
  }
}

/** JSON is stored by this room alone, so what it reads has the shape it wrote. */
function valueOf(body: string | null): never {
  return (body === null ? null : JSON.parse(body)) as never
}

const damagedEntry = {
  title: 'Damaged session',
  titleSource: 'default',
  model: null,
  indicator: 'none',
  runningSince: null,
  execRunning: 0,
  pinnedAt: null,
  archivedAt: null,
  preview: '',
  itemCount: 0,
} as const

/** A line of the list; of a damaged one what its columns say, shown as such (S-51). */
function entryFrom(text: string): Entry {
  const stored = JSON.parse(text) as Entry
  if (typeof stored.title === 'string') return stored
  return { ...damagedEntry, ...stored }
}

/** Reads each text, giving the main loop its turn between stretches of bounded length. */
async function inPieces<T>(texts: string[], read: (text: string) => T): Promise<T[]> {
  const values: T[] = []
  let since = 0
  for (const text of texts) {
    if (since > parsedAtOnce) {
      await setImmediate()
      since = 0
    }
    since += text.length
    values.push(read(text))
  }
  return values
}

/** What the person typed: a message as it is, a command with its `!` (S-171). */
function promptOf(item: Item, canBeMeant: (mention: Mention) => boolean): Prompt {
  if (item.kind === 'user') {
    const mentions = askedMentions(item.mentions)?.filter(canBeMeant) ?? []
    return { text: item.text, ...(mentions.length > 0 ? { mentions } : {}) }
  }
  if (item.kind !== 'tool') return { text: '' }
  const { command } = item.args as { command?: unknown }
  return { text: typeof command === 'string' ? `!${command}` : '' }
}
