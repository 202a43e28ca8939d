/**
 * Import of a Lathe JSON (S-92): the file is looked at whole before anything is stored, then becomes a session of its own
 * in one transaction. Ids are new; times, order, outcomes and title stay; grants and provider state are in no such file.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, realpath, rm, stat, type FileHandle } from 'node:fs/promises'
import { homedir } from 'node:os'
import { isAbsolute, join, resolve, win32 } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import { LatheError } from '../../preload/contract/errors.ts'
import { newId } from '../../preload/contract/ids.ts'
import { Item } from '../../preload/contract/items.ts'
import {
  importBytesMax,
  importValueCharsMax,
  sessionFileVersion,
  titleCharsMax,
} from '../../preload/contract/limits.ts'
import { type Entry, SessionHeader, Turn } from '../../preload/contract/session.ts'
import { type JsonPart, JsonParts } from '../storage/json-parts.ts'
import { withoutHidden } from '../storage/hidden-text.ts'
import type { Storage } from '../storage/storage.ts'
import { Decision } from '../turns/decision.ts'
import { newSession } from '../turns/state.ts'
import { entryOf } from './entry.ts'
import { writeOf } from './write.ts'

export type ImportPorts = {
  storage: Pick<Storage, 'commit' | 'value' | 'loadSession'>
  /** Where files lie while they come in; nothing else does. */
  folder: string
  entryChanged(entry: Entry): void
  environment(): Decision['environment']
}

type Part = { uploadId: string; part: number; last: boolean; data: string; copy?: boolean | undefined }
type Upload = { path: string; file: FileHandle; parts: number; bytes: number; at: number }

const uploadsMax = 4
const staleMs = 5 * 60_000
const shortMax = 300
/** A turn holds no text but why it ended. */
const turnCharsMax = 256 * 1024
/** So that many more entries find a place behind the last. */
const posMax = Number.MAX_SAFE_INTEGER / 2

const { createdAt, updatedAt, workspace, title, titleSource, model, effort, usage, plan } = SessionHeader.shape
const Session = z.object({
  createdAt,
  updatedAt,
  // A folder of another system is kept, and is not there.
  workspace: workspace.max(4_096).refine(isFolderName, 'it is no folder'),
  title: title.max(titleCharsMax * 4),
  titleSource,
  model: model.unwrap().max(shortMax).nullable(),
  effort: effort.unwrap().max(shortMax).nullable(),
  usage,
  plan,
})

/** What a file was found to hold, but for the items and turns themselves. */
type Found = {
  session: z.infer<typeof Session>
  hash: string
  visible: number
  lastTurn: Turn | null
  /** The newest the list shows something of. */
  lastItem: Item | null
  lastPos: number
  /** Entries with something that a model would have been sent and no person seen. */
  hiding: number
}

export class Imports {
  private readonly open = new Map<string, Upload>()
  private readonly ports: ImportPorts

  constructor(ports: ImportPorts) {
    this.ports = ports
  }

  /**
   * Resolves with the new session at the last part. Throws `import.invalid` with the first bad path, `import.unsupported`,
   * `import.duplicate` with the session the same file became, `request.invalid` for parts out of order.
   */
  async add({ uploadId, part, last, data, copy = false }: Part): Promise<{ sessionId: string | null }> {
    const upload = await this.upload(uploadId, part)
    const bytes = Buffer.from(data, 'base64')
    upload.bytes += bytes.length
    upload.at = Date.now()
    upload.parts++
    let goesOn = false
    try {
      if (upload.bytes > importBytesMax)
        throw new LatheError('import.invalid', `The file is larger than ${importBytesMax / 1024 / 1024} MiB.`)
      await upload.file.appendFile(bytes)
      goesOn = !last
      if (goesOn) return { sessionId: null }
      await upload.file.close()
      return { sessionId: await this.store(upload.path, copy) }
    } finally {
      if (!goesOn) await this.drop(uploadId)
    }
  }

  /** Removes what a crash left of an import. Called before the first one. */
  async sweep(): Promise<void> {
    await rm(this.ports.folder, { recursive: true, force: true })
  }

  /** Drops what is still on its way. */
  async close(): Promise<void> {
    await Promise.all([...this.open.keys()].map((id) => this.drop(id)))
  }

  private async upload(uploadId: string, part: number): Promise<Upload> {
    const known = this.open.get(uploadId)
    if (known && known.parts === part) return known
    if (known || part !== 0) throw new LatheError('request.invalid', 'The parts of this file came out of order.')
    for (const [id, upload] of this.open) if (Date.now() - upload.at > staleMs) await this.drop(id)
    if (this.open.size >= uploadsMax)
      throw new LatheError('request.invalid', 'Too many files are being imported at once.', {
        hint: 'Wait for the others.',
      })
    await mkdir(this.ports.folder, { recursive: true, mode: 0o700 })
    const path = join(this.ports.folder, `import-${newId()}.json`)
    const upload = { path, file: await open(path, 'wx', 0o600), parts: 0, bytes: 0, at: Date.now() }
    this.open.set(uploadId, upload)
    return upload
  }

  private async drop(uploadId: string): Promise<void> {
    const upload = this.open.get(uploadId)
    this.open.delete(uploadId)
    if (!upload) return
    await upload.file.close().catch(() => {})
    await rm(upload.path, { force: true })
  }

  private async store(path: string, copy: boolean): Promise<string> {
    const { storage } = this.ports
    const { session, hash, visible, lastTurn, lastItem, lastPos, hiding } = await readFound(path)
    const name = `import:${hash}`
    const earlier = copy ? null : await storage.value(name)
    if (typeof earlier === 'string' && (await isThere(storage, earlier)))
      throw new LatheError('import.duplicate', 'This file was imported before.', {
        hint: 'Open that session, or import a copy.',
        data: { sessionId: earlier },
      })
    const environment = this.ports.environment()
    const made = newSession({
      id: newId(),
      journalId: newId(),
      workspace: await folderHere(session.workspace),
      model: session.model,
      effort: session.effort,
      approvalMode: environment.settings.approvalMode,
      now: environment.now,
    })
    const lastTurnId = lastTurn && newId()
    const header: SessionHeader = {
      ...made.view.header,
      createdAt: session.createdAt,
      updatedAt: session.updatedAt,
      title: session.title,
      titleSource: session.titleSource,
      usage: session.usage,
      plan: session.plan,
      lastTurnId,
      lastOutcome: lastTurn ? (lastTurn.outcome ?? 'interrupted') : null,
      itemCount: visible + (hiding > 0 ? 1 : 0),
    }
    const view = { ...made.view, header, items: lastItem ? [lastItem] : [] }
    const decision = new Decision({ ...made, stored: true, view }, environment)
    await storage.commit({
      ...writeOf(decision.state, [decision]),
      imported: {
        path,
        at: environment.now,
        ids: lastTurn && lastTurnId ? { [lastTurn.id]: lastTurnId } : {},
        name,
        last: hiding > 0 ? leftOut(hiding, lastPos + 1, environment.now) : null,
      },
    })
    this.ports.entryChanged(entryOf(view))
    return header.id
  }
}

/** What the person is told of the file, where it lies in the transcript. */
function leftOut(entries: number, pos: number, at: number): Item {
  const which = entries === 1 ? 'One entry of this file' : `${entries} entries of this file`
  return {
    kind: 'notice',
    id: newId(),
    turnId: null,
    stepId: null,
    pos,
    createdAt: at,
    endedAt: at,
    status: 'final',
    source: 'session',
    contextual: false,
    visible: true,
    level: 'warning',
    text: `${which} held text that a model would have been sent and that is not shown here. It was left out at import.`,
  }
}

/**
 * The folder a file names as it is called here: what is trusted and allowed is so by real path, and a file could spell
 * another folder as if it lay in a trusted one (Z-4). One that is not here stays as it was called.
 */
async function folderHere(named: string): Promise<string> {
  const spelled = named.replace(/^~(?=$|[/\\])/, homedir())
  const folder = isAbsolute(spelled) ? resolve(spelled) : win32.normalize(spelled)
  return realpath(folder).catch(() => folder)
}

async function isThere(storage: ImportPorts['storage'], sessionId: string): Promise<boolean> {
  const stored = await storage.loadSession(sessionId).catch(() => null)
  return stored !== null && stored.header.deletedAt === null
}

/** Looks at all of the file, a chunk at a time. Throws `import.invalid` with the first bad path, `import.unsupported`. */
async function readFound(path: string): Promise<Found> {
  const hash = createHash('sha256')
  const parts = new JsonParts(importValueCharsMax)
  const look = new Look()
  try {
    if ((await stat(path)).size === 0) throw new SyntaxError('The file is empty.')
    const stream = createReadStream(path, { highWaterMark: 64 * 1024 })
    const decoder = new TextDecoder('utf-8', { fatal: true })
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      hash.update(chunk)
      for (const part of parts.feed(decoder.decode(chunk, { stream: true }))) look.take(part)
      await setImmediate()
    }
    parts.end()
  } catch (error) {
    if (error instanceof LatheError) throw error
    throw invalid('', error instanceof Error ? error.message : String(error))
  }
  return { ...look.end(), hash: hash.digest('hex') }
}

class Look {
  private readonly known = new Set<string>()
  private readonly ids = new Set<string>()
  private lastPos = -1
  private session: Found['session'] | null = null
  private visible = 0
  private lastTurn: Turn | null = null
  private lastItem: Item | null = null
  private hiding = 0

  take({ key, index, text }: JsonPart): void {
    const value = JSON.parse(text) as unknown
    const path = index === null ? key : `${key}[${index}]`
    if (key === 'session' && index === null) this.session = checked(Session, value, path)
    else if (key === 'turns' && index !== null && text.length > turnCharsMax) throw invalid(path, 'it is too long')
    else if (key === 'turns' && index !== null) this.takeTurn(checked(Turn, value, path), path)
    else if (key === 'items' && index !== null) this.takeItem(checked(Item, value, path), path)
    else if (key === 'format' && value !== 'lathe.session') throw invalid(path, 'this is no session of Lathe')
    else if (key === 'version' && value !== sessionFileVersion) {
      if (typeof value !== 'number' || value < sessionFileVersion) throw invalid(path, 'it is no known version')
      throw new LatheError('import.unsupported', `The file was written by a newer Lathe (version ${value}).`, {
        hint: 'Update Lathe.',
      })
    }
    this.known.add(key)
  }

  end(): Omit<Found, 'hash'> {
    for (const key of ['format', 'version']) if (!this.known.has(key)) throw invalid(key, 'it is missing')
    if (!this.session) throw invalid('session', 'it is missing')
    const { session, visible, lastTurn, lastItem, lastPos, hiding } = this
    return { session, visible, lastTurn, lastItem, lastPos, hiding }
  }

  private takeTurn(turn: Turn, path: string): void {
    this.once(turn.id, path)
    this.lastTurn = turn
  }

  private takeItem(item: Item, path: string): void {
    this.once(item.id, path)
    if (item.pos <= this.lastPos || item.pos > posMax) throw invalid(`${path}.pos`, 'it is out of order')
    if (item.omitted !== undefined) throw invalid(`${path}.omitted`, 'its text is not whole')
    this.lastPos = item.pos
    if (withoutHidden(item) !== item) this.hiding++
    if (!item.visible) return
    this.visible++
    if (item.kind === 'user' || item.kind === 'text') this.lastItem = item
  }

  private once(id: string, path: string): void {
    if (this.ids.has(id)) throw invalid(`${path}.id`, 'it stands there twice')
    this.ids.add(id)
  }
}

function isFolderName(folder: string): boolean {
  if (folder.includes('\0')) return false
  return /^~(?=$|[/\\])/.test(folder) || isAbsolute(folder) || win32.isAbsolute(folder)
}

function checked<T>(schema: z.ZodType<T>, value: unknown, path: string): T {
  const read = schema.safeParse(value)
  if (read.success) return read.data
  const [issue] = read.error.issues
  const inner = (issue?.path ?? [])
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
  throw invalid(`${path}${inner}`, issue?.message ?? 'it is not what it should be')
}

function invalid(path: string, why: string): LatheError {
  return new LatheError('import.invalid', path === '' ? `This is no exported session: ${why}` : `${path}: ${why}`, {
    hint: 'Export the session anew as JSON.',
    data: { path },
  })
}
