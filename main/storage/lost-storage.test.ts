import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createFaults } from './faults.ts'
import { toldWhenLost } from './lost-storage.ts'
import { openStorage } from './open-storage.ts'
import { sampleHeader, sampleWrite } from './write-samples.ts'

let home: string

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'lathe-lost-'))
})
afterEach(() => rm(home, { recursive: true, force: true }))

test('S-140 SA-34 a commit that fails means degraded, until something can be stored again, whoever stores it', async () => {
  const faults = createFaults()
  const storage = await openStorage({ home, faults })
  const told: boolean[] = []
  const watched = toldWhenLost(storage, (isLost) => told.push(isLost), { everyMs: 5 })
  const write = sampleWrite(sampleHeader())
  await watched.commit(write)
  expect(told).toEqual([])
  // The commit, and the first look after it.
  faults.failCommits(2)
  await expect(watched.commit(sampleWrite(sampleHeader()))).rejects.toMatchObject({ code: 'storage.failed' })
  expect(told).toEqual([true])
  await expect.poll(() => told).toEqual([true, false])
  faults.failCommits(1)
  await expect(watched.commit(sampleWrite(sampleHeader()))).rejects.toMatchObject({ code: 'storage.failed' })
  await watched.commit(sampleWrite(sampleHeader()))
  expect(told).toEqual([true, false, true, false])
  watched.stop()
  await storage.close()
})
