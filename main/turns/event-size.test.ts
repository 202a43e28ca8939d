import { expect, test } from 'vitest'
import { eventBytesMax } from '../../preload/contract/limits.ts'
import { Driver } from './test-driver.ts'

const sizes = (driver: Driver) => driver.journal.map((event) => Buffer.byteLength(JSON.stringify(event)))
const long = (bytes: number) => 'Some "quoted" words.\n'.repeat(Math.ceil(bytes / 22)).slice(0, bytes)

test('T-55 a long message stands whole in its row and in the session, and by its beginning and end in the journal', () => {
  const driver = new Driver()
  const text = long(1024 * 1024)
  driver.submit(text)
  expect(Math.max(...sizes(driver))).toBeLessThanOrEqual(eventBytesMax)
  const [item] = driver.state.view.items
  expect(item).toMatchObject({ kind: 'user', text })
  const put = driver.journal.find((event) => event.type === 'item.put')
  expect(put).toMatchObject({ item: { id: item!.id, omitted: expect.any(Number) } })
})

test('T-55 a long answer is journaled once, as it came, and its end is small', () => {
  const driver = new Driver()
  driver.running()
  const part = long(20_000)
  for (let at = 0; at < 50; at++) driver.report({ type: 'stream', channel: 'text', add: part })
  const before = driver.journal.length
  driver.report({ type: 'mayEnd', ending: 'answer' })
  expect(Math.max(...sizes(driver))).toBeLessThanOrEqual(eventBytesMax)
  expect(driver.journal.slice(before).map(({ type }) => type)).toEqual([
    'item.patch',
    'item.patch',
    'turn.status',
    'turn.settled',
  ])
  expect(driver.state.view.items.at(-1)).toMatchObject({ kind: 'text', text: part.repeat(50), final: true })
})

test('T-55 T-198 the end of a turn carries the newest items that fit and counts the others', () => {
  const driver = new Driver('all')
  driver.running()
  for (let at = 0; at < 70; at++) {
    driver.propose(`tool-${at}`, `cmd ${at}`)
    const end = { state: 'ok' as const, summary: 'x'.repeat(4_000), view: { stdout: long(20_000) }, durationMs: 1 }
    driver.report({ type: 'toolEnded', itemId: `tool-${at}`, end, changes: [] })
  }
  driver.report({ type: 'stream', channel: 'text', add: 'Done.' })
  driver.report({ type: 'mayEnd', ending: 'answer' })
  const end = driver.journal.at(-1)!
  if (end.type !== 'turn.settled') throw new Error(end.type)
  expect(sizes(driver).at(-1)).toBeLessThanOrEqual(eventBytesMax)
  expect(end.items.at(-1)).toMatchObject({ text: 'Done.', final: true })
  expect(end.items.length + end.itemsOmitted).toBe(72)
  expect(end.items.length).toBeGreaterThan(5)
})

test('T-55 what waits is bounded as a whole: one more that would not fit is refused, and attached it goes', () => {
  const driver = new Driver()
  driver.running()
  driver.submit(long(60_000), { whenBusy: 'steer' })
  driver.submit(long(50_000), { whenBusy: 'queue' })
  const before = driver.state
  for (const whenBusy of ['steer', 'queue'] as const)
    expect(() => driver.submit(long(30_000), { whenBusy })).toThrow(
      expect.objectContaining({ code: 'message.too_large', hint: expect.stringContaining('Attach') }),
    )
  expect(driver.state).toBe(before)
  // The worst end: what waited for the agent goes into the queue, and all of it into the last event.
  driver.report({ type: 'failed', error: { code: 'provider.unavailable', message: 'down' } })
  expect(Math.max(...sizes(driver))).toBeLessThanOrEqual(eventBytesMax)
  expect(driver.state.view.header.queue.followUps).toHaveLength(2)
})

test('T-55 what cannot be made small is refused', () => {
  const driver = new Driver('all')
  driver.running()
  driver.propose('tool', 'x')
  const progress = { message: long(300_000) }
  const before = driver.state
  expect(() => driver.report({ type: 'toolProgress', itemId: 'tool', progress })).toThrow(/larger than 256 KiB/)
  expect(driver.state).toBe(before)
})
