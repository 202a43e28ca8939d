/** A workspace on the real disk with all of the files room around it, for tests. */
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { LatheError } from '../../preload/contract/errors.ts'
import type { Blobs } from '../storage/blobs.ts'
import type { FileChange } from './change.ts'
import { CommitGate, type GateOptions } from './gate.ts'
import type { Intent, IntentRecords } from './intents.ts'
import { Paths, type PathsOptions, type Place } from './paths.ts'
import { FileStates, type FileState } from './read-state.ts'
import { FileWorkers } from './worker-pool.ts'

class TestIntents implements IntentRecords {
  readonly pending = new Map<string, Intent>()
  readonly changes: FileChange[] = []
  readonly states: FileState[] = []

  async begin(intent: Intent): Promise<void> {
    this.pending.set(intent.id, intent)
  }

  async record(intent: Intent, changes: FileChange[], states: FileState[]): Promise<void> {
    this.pending.delete(intent.id)
    this.changes.push(...changes)
    this.states.push(...states)
  }

  async drop(intent: Intent): Promise<void> {
    this.pending.delete(intent.id)
  }

  async open(): Promise<Intent[]> {
    return [...this.pending.values()]
  }
}

export class TestBlobs implements Blobs {
  readonly bodies = new Map<string, Uint8Array>()

  async put(body: Parameters<Blobs['put']>[0]): Promise<string> {
    const bytes = typeof body === 'string' || body instanceof Uint8Array ? body : await buffer(body)
    const hash = createHash('sha256').update(bytes).digest('hex')
    this.bodies.set(hash, Buffer.from(bytes))
    return hash
  }

  async get(hash: string): Promise<Uint8Array> {
    const body = this.bodies.get(hash)
    if (!body) throw new LatheError('file.not_found', 'No such blob.')
    return body
  }
}

export class TestWorkspace implements AsyncDisposable {
  readonly folder: string
  readonly home: string
  readonly dataFolder: string
  readonly place: Place
  readonly paths: Paths
  readonly blobs = new TestBlobs()
  readonly states = new FileStates()
  readonly intents = new TestIntents()
  readonly workers = new FileWorkers()
  readonly gate: CommitGate
  reached: NonNullable<GateOptions['reached']> = () => {}

  constructor(root: string, options: Partial<PathsOptions>) {
    this.folder = join(root, 'app')
    this.home = join(root, 'home')
    this.dataFolder = join(root, 'data')
    this.place = { sessionId: 's1', workspace: this.folder, extraFolders: [] }
    this.paths = new Paths({ dataFolder: this.dataFolder, home: this.home, ...options })
    this.gate = new CommitGate({
      paths: this.paths,
      blobs: this.blobs,
      states: this.states,
      intents: this.intents,
      reached: (point, file) => this.reached(point, file),
    })
  }

  /** Puts a file into the workspace, or outside with `../name`. */
  async put(path: string, content: string | Uint8Array): Promise<string> {
    const file = join(this.folder, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, content)
    return file
  }

  read(path: string): Promise<string> {
    return readFile(join(this.folder, path), 'utf8')
  }

  names(path = '.'): Promise<string[]> {
    return readdir(join(this.folder, path)).then((names) => names.sort())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.workers.dispose()
    await rm(dirname(this.folder), { recursive: true, force: true })
  }
}

export async function makeWorkspace(options: Partial<PathsOptions> = {}): Promise<TestWorkspace> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'lathe-files-')))
  for (const name of ['app', 'home', 'data']) await mkdir(join(root, name))
  return new TestWorkspace(root, options)
}

/** The code a promise is refused with. */
export async function codeOf(work: Promise<unknown> | (() => Promise<unknown>)): Promise<string> {
  return (await failureOf(work)).code
}

export async function failureOf(work: Promise<unknown> | (() => Promise<unknown>)): Promise<LatheError> {
  try {
    await (typeof work === 'function' ? work() : work)
  } catch (error) {
    if (error instanceof LatheError) return error
    throw error
  }
  throw new Error('expected a LatheError')
}
