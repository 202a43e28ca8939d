import { mkdtemp, readFile, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createLog, logLevel } from './log.ts'

let home: string

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'lathe-log-'))
})

afterEach(async () => {
  await rm(home, { recursive: true, force: true })
})

test('Z-101 lines are redacted and written in order, at or above the level', async () => {
  const log = createLog({ home, level: 'info', redact: (line) => line.replaceAll('hunter2', '[redacted:LAB_KEY]') })
  log.debug('unseen')
  log.info('turn settled', { turnId: 't1', ms: 12 })
  log.error('request failed', { error: new Error('key hunter2 refused') })
  await log.flush()
  const lines = (await readFile(join(home, 'logs', 'lathe.log'), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines).toMatchObject([
    { msg: 'turn settled', turnId: 't1', ms: 12 },
    {
      msg: 'request failed',
      error: { message: 'key [redacted:LAB_KEY] refused', stack: expect.stringContaining('log.test.ts') },
    },
  ])
})

test('Z-106 a log is five private files of at most 10 MiB', async () => {
  const log = createLog({ home, level: 'info', redact: (line) => line })
  const filling = 'x'.repeat(512 * 1024)
  for (let line = 0; line < 130; line++) {
    log.info('filling', { filling })
    await log.flush()
  }
  const names = (await readdir(join(home, 'logs'))).sort()
  expect(names).toEqual(['lathe.1.log', 'lathe.2.log', 'lathe.3.log', 'lathe.4.log', 'lathe.log'])
  for (const name of names) {
    const file = await stat(join(home, 'logs', name))
    expect(file.size).toBeLessThanOrEqual(10 * 1024 * 1024)
    expect(process.platform === 'win32' ? 0o600 : file.mode & 0o777).toBe(0o600)
  }
})

test('K-02 what the disk cannot take is dropped and counted', async () => {
  const log = createLog({ home, level: 'info', redact: (line) => line })
  log.info('first')
  await log.flush()
  for (let line = 0; line < 40; line++) log.info('flood', { filling: 'x'.repeat(100_000) })
  await log.flush()
  const text = await readFile(join(home, 'logs', 'lathe.log'), 'utf8')
  expect(text.length).toBeLessThan(2 * 1024 * 1024)
  expect(text).toMatch(/log lines were dropped/)
})

test('nothing is made on disk until something is logged', async () => {
  createLog({ home, level: 'silent', redact: (line) => line }).error('unseen')
  expect(await readdir(home)).toEqual([])
  expect(logLevel({ LATHE_LOG: 'debug' })).toBe('debug')
  expect(logLevel({ LATHE_LOG: 'loud' })).toBe('info')
})
