/** Where the files room keeps what must outlive the host: open intents of the commit gate, and what sessions have read. */
import { LatheError } from '../../preload/contract/errors.ts'
import type { ChangedFile } from '../../preload/contract/session.ts'
import type { FileChange } from '../files/change.ts'
import type { SettledIntent } from '../files/gate.ts'
import type { Intent, IntentRecords } from '../files/intents.ts'
import type { FileState, FileStateStore } from '../files/read-state.ts'
import type { Storage } from '../storage/storage.ts'
import type { Command } from '../turns/inputs.ts'

type Values = Pick<Storage, 'value' | 'setValue'>

const intentsName = 'files.intents'

/** Open intents, as one small value; there are as many as files being written this instant. */
export class StoredIntents implements IntentRecords {
  private intents: Map<string, Intent> | null = null
  private readonly values: Values
  private readonly states: FileStateStore

  constructor(values: Values, states: FileStateStore) {
    this.values = values
    this.states = states
  }

  async begin(intent: Intent): Promise<void> {
    const intents = await this.loaded()
    intents.set(intent.id, intent)
    await this.save(intents)
  }

  /** Kept as written until `recorded` hears of its changes: a host that dies in between finds it at its next start. */
  async record(intent: Intent, _changes: FileChange[], states: FileState[]): Promise<void> {
    this.states.save(intent.author.sessionId, states)
    const intents = await this.loaded()
    intents.set(intent.id, { ...intent, written: true })
    // Not waited for: until it is durable, the hash of the file tells the same.
    void this.save(intents).catch(() => {})
  }

  /** These changes are in the journal of their session. */
  async recorded(changeIds: readonly string[]): Promise<void> {
    const intents = await this.loaded()
    const ids = new Set(changeIds)
    const done = [...intents.values()].filter(({ files }) => files.some(({ change }) => ids.has(change.id)))
    if (done.length === 0) return
    for (const { id } of done) intents.delete(id)
    await this.save(intents)
  }

  async drop(intent: Intent): Promise<void> {
    const intents = await this.loaded()
    if (intents.delete(intent.id)) await this.save(intents)
  }

  async open(): Promise<Intent[]> {
    return [...(await this.loaded()).values()]
  }

  private async loaded(): Promise<Map<string, Intent>> {
    if (!this.intents) {
      const stored = (await this.values.value(intentsName)) as [string, Intent][] | null
      this.intents ??= new Map(Array.isArray(stored) ? stored : [])
    }
    return this.intents
  }

  private save(intents: Map<string, Intent>): Promise<void> {
    return this.values.setValue(intentsName, [...intents])
  }
}

/**
 * Brings what a crash kept from the journals into them (F-604). What belongs to no session any more is let go; what cannot
 * be saved now stays open for the next start.
 */
export async function recordFound(
  found: readonly SettledIntent[],
  sessions: { command(id: string, command: Command): Promise<unknown> },
  intents: StoredIntents,
  log: (level: 'warn', message: string, fields: Record<string, unknown>) => void,
): Promise<void> {
  for (const settled of found) {
    const ids = [...settled.changes, ...settled.unclear].map(({ id }) => id)
    await sessions.command(settled.author.sessionId, asCommand(settled)).catch(async (error: unknown) => {
      if (isGone(error)) await intents.recorded(ids)
      else log('warn', 'Changes found after a crash could not be recorded yet', { error: String(error) })
    })
  }
}

/** The session was removed for good, so there is nowhere to record anything. */
export function isGone(error: unknown): boolean {
  return error instanceof LatheError && (error.code === 'session.not_found' || error.code === 'session.deleted')
}

function asCommand({ author, changes, unclear }: SettledIntent): Command {
  const all = [...changes, ...unclear].map((change) => ({
    ...changedFile(change, author.turnId),
    callId: author.callId,
  }))
  const paths = unclear.map(({ path }) => path).join(', ')
  const notice = `Lathe ended while it wrote ${paths}, and what is there now is neither the old nor the new content. Both versions are in Changes.`
  return { type: 'changes.record', turnId: author.turnId, changes: all, ...(unclear.length > 0 ? { notice } : {}) }
}

export function changedFile(change: FileChange, turnId: string): ChangedFile {
  const { callId: _, ...file } = change
  return { ...file, turnId }
}

const saveQuietMs = 250

/** Versions of the files each session has seen; written when it has been quiet. What is lost with the host is read again. */
export class StoredFileStates implements FileStateStore {
  private readonly values: Values
  private readonly sessions = new Map<string, Map<string, FileState>>()
  private readonly unsaved = new Map<string, NodeJS.Timeout>()

  constructor(values: Values) {
    this.values = values
  }

  async load(sessionId: string): Promise<FileState[]> {
    const stored = await this.values.value(`files.states.${sessionId}`)
    const states = Array.isArray(stored) ? (stored as FileState[]) : []
    this.sessions.set(
      sessionId,
      new Map([...states.map((state) => [state.key, state] as const), ...(this.sessions.get(sessionId) ?? [])]),
    )
    return states
  }

  save(sessionId: string, states: FileState[]): void {
    const known = this.sessions.get(sessionId) ?? new Map<string, FileState>()
    for (const state of states) known.set(state.key, state)
    this.sessions.set(sessionId, known)
    if (this.unsaved.has(sessionId)) return
    this.unsaved.set(sessionId, setTimeout(() => void this.write(sessionId), saveQuietMs).unref())
  }

  /** Writes what waits; call before storage closes. */
  async flush(): Promise<void> {
    await Promise.all([...this.unsaved.keys()].map((sessionId) => this.write(sessionId)))
  }

  private async write(sessionId: string): Promise<void> {
    clearTimeout(this.unsaved.get(sessionId))
    this.unsaved.delete(sessionId)
    await this.values
      .setValue(`files.states.${sessionId}`, [...(this.sessions.get(sessionId)?.values() ?? [])])
      .catch(() => {})
  }
}
