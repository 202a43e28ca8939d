import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newId } from '../preload/contract/ids.ts'
import { call, says, who, Whole } from './test-whole.ts'

test('Z-100 Z-101 a key that was entered a moment ago is taken out of what a command prints', async () => {
  const whole = await Whole.open({ apiKey: 'stands-in-the-file' })
  try {
    const { handlers, sessions } = whole.bench
    const workspace = await whole.workspace()
    await writeFile(join(workspace, 'notes.txt'), 'far: entered-just-now, near: stands-in-the-file')
    await handlers.models.setKey({ requestId: newId(), provider: 'far', key: 'entered-just-now' }, who)
    const { id } = sessions.create({ workspace, approvalMode: 'all' })
    await whole.turn(id, {}, { emit: [call('shell', { command: 'cat notes.txt' })] }, says('Read.'))
    expect(whole.lastRequest()).toContain('far: [redacted:provider.far], near: [redacted:provider.lab]')
    expect(JSON.stringify(await sessions.open(id))).not.toMatch(/entered-just-now|stands-in-the-file/)
  } finally {
    await whole.close()
  }
})

test('Z-101 a key that was entered while Lathe runs is taken out of what is logged from then on', async () => {
  const whole = await Whole.open()
  try {
    const { home, log, bench } = whole
    await bench.handlers.models.setKey({ requestId: newId(), provider: 'far', key: 'entered-just-now' }, who)
    log.warn('Refused', { error: new Error('bad key entered-just-now') })
    await log.flush()
    const written = await readFile(join(home, 'logs', 'lathe.log'), 'utf8')
    expect(written).toContain('bad key [redacted:provider.far]')
    expect(written).not.toContain('entered-just-now')
  } finally {
    await whole.close()
  }
})
