/** Exec sessions over real processes, with their records in memory; for tests. */
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecEnd, ExecSession as ExecRow } from '../../preload/contract/session.ts'
import type { ExecSession } from './exec-session.ts'
import { ExecSessions } from './exec-sessions.ts'

export type TestExec = {
  sessions: ExecSessions
  folder: string
  rows: Map<string, ExecRow[]>
  /** What was told of ends, by owner. */
  notices: { owner: string; id: string; end: ExecEnd; prompt: string | null }[]
  prompts: string[]
  /** Bytes of each output that was stored. */
  kept: number[]
  shell(
    command: string,
    more?: { owner?: string; tty?: boolean; timeoutMs?: number | null; by?: 'agent' | 'person'; shown?: string },
  ): Promise<ExecSession>
  /** As `shell`, with a number. */
  told(command: string, more?: Parameters<TestExec['shell']>[1]): Promise<ExecSession>
  dispose(): Promise<void>
}

export async function testExec(): Promise<TestExec> {
  const folder = await mkdtemp(join(tmpdir(), 'lathe-exec-'))
  const rows = new Map<string, ExecRow[]>()
  const notices: TestExec['notices'] = []
  const prompts: string[] = []
  const kept: number[] = []
  const sessions = new ExecSessions({
    spoolFolder: folder,
    redactor: () => ({ push: (text) => text, end: () => '' }),
    async started(owner, session) {
      const known = rows.get(owner) ?? []
      const id = `x${known.length + 1}`
      rows.set(owner, [...known, { ...session, id, state: 'running' }])
      return id
    },
    changed: () => {},
    asks: (_owner, _id, prompt) => void prompts.push(prompt),
    answered: () => {},
    async ended(owner, id, end, notice) {
      rows.set(
        owner,
        rows.get(owner)!.map((row) => (row.id === id ? { ...row, state: 'ended', end } : row)),
      )
      notices.push({ owner, id, end, prompt: notice?.prompt ?? null })
    },
    recorded: async (owner) => rows.get(owner) ?? [],
    async keep(output) {
      let bytes = 0
      for await (const piece of output) bytes += piece.length
      kept.push(bytes)
      return 'f'.repeat(64)
    },
    log: () => {},
  })
  const shell: TestExec['shell'] = (
    command,
    { owner = 's1', tty = false, timeoutMs = 60_000, by = 'agent', shown = command } = {},
  ) =>
    sessions.start(owner, {
      owner: by,
      preview: ExecSessions.preview(shown),
      folder,
      tty,
      itemId: 'i1',
      timeoutMs,
      launch: {
        file: '/bin/bash',
        args: ['--noprofile', '--norc', '-c', command],
        cwd: folder,
        env: { PATH: process.env['PATH'] ?? '', TERM: 'xterm-256color', HOME: folder },
      },
    })
  return {
    sessions,
    folder,
    rows,
    notices,
    prompts,
    kept,
    shell,
    async told(command, more) {
      // It begins once it has its number: one that ends before anybody was told of it leaves nothing to keep.
      const gate = join(folder, `begin-${randomUUID()}`)
      const session = await shell(`until [ -e '${gate}' ]; do sleep 0.01; done; ${command}`, {
        ...more,
        shown: command,
      })
      await sessions.tell(more?.owner ?? 's1', session)
      await writeFile(gate, '')
      return session
    },
    async dispose() {
      await sessions.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
