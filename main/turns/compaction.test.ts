import { expect, test } from 'vitest'
import { LatheError } from '../../preload/contract/errors.ts'
import { Driver } from './test-driver.ts'

const figures = { used: 10, window: 100, compactAt: 90, estimated: true, model: 'lab/scripted' }
const usage = { input: 100, output: 20, reasoning: null, cacheRead: null, cacheWrite: null, total: 120, cost: null }
const mark = { coversThrough: 'i1', summary: 'So far.', tokensBefore: 90, tokensAfter: 10, model: 'lab/scripted' }

/** A settled turn, so that there is something to cover. */
function settled(): Driver {
  const driver = new Driver()
  driver.running()
  driver.report({ type: 'mayEnd', ending: 'answer' })
  return driver
}
const start = (driver: Driver, jobId = 'job', reason: 'manual' | 'after_settle' = 'after_settle') =>
  driver.command({ type: 'compaction.start', jobId, startedAt: 7, reason, through: driver.state.lastPos, place: null })
const end = (driver: Driver, jobId = 'job') =>
  driver.command({ type: 'compaction.end', jobId, mark, error: null, context: figures, usage })
const status = (driver: Driver) => driver.state.view.turn?.status

test('T-60 T-63 a repeated "compacting" keeps the first since; T-62 text closes it, though nobody says it is over', () => {
  const driver = new Driver()
  driver.running()
  driver.report({ type: 'compacting', since: 1_000 })
  driver.report({ type: 'compacting', since: 5_000 })
  expect(status(driver)).toEqual({ kind: 'compacting', since: 1_000 })
  driver.report({ type: 'stream', channel: 'text', add: 'Hello' })
  expect(status(driver)).toEqual({ kind: 'working' })
  driver.report({ type: 'compacting', since: 9_000 })
  driver.propose('tool', 'npm test')
  expect(status(driver)?.kind).not.toBe('compacting')
})

test('C-58 one job at a time; an end of another job, or a second one, writes nothing', () => {
  const driver = settled()
  expect(start(driver)).toBe(true)
  expect(start(driver, 'other')).toBe(false)
  expect(end(driver, 'other')).toBe(false)
  expect(driver.state.view.header.compaction).toMatchObject({ jobId: 'job', startedAt: 7 })
  expect(end(driver)).toBe(true)
  expect(end(driver)).toBe(false)
  expect(driver.state.view.items.filter((item) => item.kind === 'compaction')).toHaveLength(1)
})

test('C-64 C-46 mark, figures and what it cost are one decision; the running turn keeps its own sums', () => {
  const driver = settled()
  start(driver)
  driver.submit('meanwhile')
  const before = driver.journal.length
  end(driver)
  expect(driver.journal.slice(before).map(({ type }) => type)).toEqual(['item.put', 'compaction.ended'])
  const { header, items } = driver.state.view
  expect(header).toMatchObject({ compaction: null, context: figures, usage })
  expect(items.map(({ kind }) => kind)).toEqual(['user', 'compaction', 'user'])
  const turn = { ...usage, input: 5, output: 1, total: 6 }
  driver.report({ type: 'usage', turn, context: figures, rate: null })
  expect(driver.state.view.header.usage).toMatchObject({ input: 105, output: 21, total: 126 })
})

test('C-58 a person’s wish waits for no turn, and does not take the summary from a turn that waits for it', () => {
  const driver = settled()
  start(driver)
  driver.submit('next')
  driver.report({ type: 'preparing' })
  driver.report({ type: 'compacting', since: 7 })
  const refused = () => driver.command({ type: 'compaction.cancel', jobId: 'job' })
  expect(refused).toThrow(LatheError)
  driver.report({ type: 'compacting', since: null })
  refused()
  expect(driver.state.view.header.compaction).toBeNull()
  expect(driver.effects).toContainEqual({ do: 'abortCompaction', jobId: 'job' })
  expect(() => start(driver, 'again', 'manual')).toThrow('A turn is running')
})
