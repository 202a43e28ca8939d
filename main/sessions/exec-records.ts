/** What exec sessions leave in their session's record, and the ledger of processes that a next host would have to end. */
import type { ExecSessionsPorts } from '../exec/exec-sessions.ts'
import { endLeftover } from '../exec/process-tree.ts'
import type { ProcessIdentity, ProcessLedger } from '../exec/process.ts'
import type { Redaction } from '../platform/redaction.ts'
import type { Storage } from '../storage/storage.ts'
import type { Command } from '../turns/inputs.ts'
import type { Sessions } from './sessions.ts'

export type ExecRecordsPorts = {
  sessions(): Sessions
  storage: Pick<Storage, 'blobs'>
  ledger: StoredLedger
  spoolFolder: string
  redaction(): Redaction
  log(message: string, fields: Record<string, unknown>): void
}

/** The actor of the owning session applies each; what cannot be answered to anybody is logged. */
export function execRecords(ports: ExecRecordsPorts): ExecSessionsPorts {
  const tell = (owner: string, command: Command): void =>
    void ports
      .sessions()
      .command(owner, command)
      .catch((error: unknown) =>
        ports.log('An exec session could not be recorded', { sessionId: owner, error: String(error) }),
      )
  return {
    spoolFolder: ports.spoolFolder,
    redactor: () => ports.redaction().stream(),
    ledger: (owner, preview) => ports.ledger.of(owner, preview),
    started: async (owner, session) =>
      (await ports.sessions().command<{ id: string }>(owner, { type: 'exec.started', session })).id,
    changed: (owner, id, set) => tell(owner, { type: 'exec.changed', id, set }),
    asks: (owner, id, prompt) => tell(owner, { type: 'exec.asks', id, prompt }),
    answered: (owner, id) => tell(owner, { type: 'exec.answered', id }),
    ended: async (owner, id, end, notice) => {
      await ports.sessions().command(owner, { type: 'exec.ended', id, end, notice })
    },
    recorded: async (owner) => (await ports.sessions().actor(owner)).peek().hidden.exec.sessions,
    keep: (output) => ports.storage.blobs.put(output),
    log: ports.log,
  }
}

/** `unreaped`: pids that lived on when it was ended. */
type Row = ProcessIdentity & { owner: string; preview: string; unreaped?: number[] }

const ledgerName = 'exec.ledger'

/** Processes that run, by what tells each apart from any other: what is left here by a crash is ended at start. */
export class StoredLedger {
  readonly #storage: Pick<Storage, 'value' | 'setValue'>
  readonly #unreaped: (row: Row, pids: number[]) => void
  readonly #rows = new Map<number, Row>()
  #writing = false

  /** `unreaped` is told of processes that could not be ended; their rows stay, so that the next start tries again. */
  constructor(storage: Pick<Storage, 'value' | 'setValue'>, unreaped: (row: Row, pids: number[]) => void) {
    this.#storage = storage
    this.#unreaped = unreaped
  }

  of(owner: string, preview: string): ProcessLedger {
    return {
      started: (identity) => this.#change(() => this.#rows.set(identity.leader, { ...identity, owner, preview })),
      ended: (identity) => this.#change(() => this.#rows.delete(identity.leader)),
      unreaped: (identity, pids) => {
        const row = { ...identity, owner, preview, unreaped: pids }
        this.#change(() => this.#rows.set(identity.leader, row))
        this.#unreaped(row, pids)
      },
    }
  }

  #change(apply: () => void): void {
    apply()
    if (this.#writing) return
    this.#writing = true
    // What starts and ends in one turn of the loop is one row less to write.
    setImmediate(() => {
      this.#writing = false
      this.#storage.setValue(ledgerName, [...this.#rows.values()]).catch(() => {})
    })
  }

  /** Ends what an earlier host left running; answers whose it was. */
  async endLeftovers(): Promise<{ owner: string; preview: string }[]> {
    const stored = await this.#storage.value(ledgerName)
    const rows = Array.isArray(stored) ? (stored as Row[]).filter((row) => typeof row?.leader === 'number') : []
    if (rows.length === 0) return []
    const ended = await Promise.all(rows.map(async (row) => ((await endLeftover(row)) ? [row] : [])))
    await this.#storage.setValue(ledgerName, [...this.#rows.values()])
    return ended.flat().map(({ owner, preview }) => ({ owner, preview }))
  }
}
