import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startModelServer } from '../e2e/model-server/server.ts'
import { newId } from '../preload/contract/ids.ts'
import { createLog } from './platform/log.ts'
import { createWorkbench } from './workbench.ts'

const who = { clientId: newId(), kind: 'web' as const, attendance: 'attended' as const }

test('Z-100 Z-101 a key that was entered a moment ago is taken out of what a command prints', async () => {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'lathe-redaction-')))
  const [home, workspace] = [join(root, 'home'), join(root, 'app')]
  await mkdir(home)
  await mkdir(workspace)
  await writeFile(join(workspace, 'notes.txt'), 'far: entered-just-now, near: stands-in-the-file')
  const server = await startModelServer({
    script: [
      { emit: [{ call: { name: 'shell', args: { command: 'cat notes.txt' } } }] },
      { emit: [{ text: 'Read.' }] },
    ],
  })
  const lab = { kind: 'openai-compatible', baseUrl: server.baseUrl, models: ['scripted'], apiKey: 'stands-in-the-file' }
  await writeFile(join(home, 'config.json'), JSON.stringify({ providers: { lab }, model: 'lab/scripted' }))
  const log = createLog({ home, redact: (line) => line })
  const bench = await createWorkbench({ home, kind: 'web', version: '0', lasting: false, log })
  try {
    await bench.start()
    await bench.handlers.models.setKey({ requestId: newId(), provider: 'far', key: 'entered-just-now' }, who)
    const { id } = bench.sessions.create({ workspace, approvalMode: 'all' })
    const submission = { requestId: newId(), text: 'Read it', attachments: [], attendance: 'attended' as const }
    const reply = await bench.sessions.turns.submit(id, submission)
    if (reply.accepted !== 'started') throw new Error(reply.accepted)
    await bench.sessions.settled(await bench.sessions.actor(id), reply.turnId, AbortSignal.timeout(15_000))
    const request = JSON.stringify(server.asked().at(-1)?.body)
    expect(request).toContain('far: [redacted:provider.far], near: [redacted:provider.lab]')
    expect(JSON.stringify(await bench.sessions.open(id))).not.toMatch(/entered-just-now|stands-in-the-file/)
  } finally {
    await bench.dispose()
    await server.close()
    await rm(root, { recursive: true, force: true })
  }
})
