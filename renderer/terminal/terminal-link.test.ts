import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Client, setLink } from '../state/link.ts'
import { attachTerminal } from './terminal-link.ts'

const sent: string[] = []
let answered: () => void = () => {}

beforeEach(() => {
  vi.useFakeTimers()
  sent.length = 0
  const terminals = {
    resize: async ({ cols, rows }: { cols: number; rows: number }) => void sent.push(`${cols}x${rows}`),
    input: ({ data }: { data: string }) => {
      sent.push(data)
      return new Promise<void>((resolve) => (answered = resolve))
    },
  }
  const client = { terminals } as unknown as Client
  setLink({ client, state: () => 'connected', onState: () => () => {}, read: () => {} })
})
afterEach(() => vi.useRealTimers())

const attached = () => attachTerminal('t1', { frame: async () => {}, refused: () => {} })

test('X-808 changes of size are joined over 50 ms, the last counts, and its bounds are kept', async () => {
  const link = attached()
  for (let cols = 80; cols < 100; cols += 1) {
    link.resize(cols, 24)
    await vi.advanceTimersByTimeAsync(10)
  }
  expect(sent).toEqual([])
  await vi.advanceTimersByTimeAsync(39)
  expect(sent).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(sent).toEqual(['99x24'])
  link.resize(99, 24)
  await vi.advanceTimersByTimeAsync(60)
  link.resize(5_000, 900)
  await vi.advanceTimersByTimeAsync(60)
  link.resize(0, 0)
  await vi.advanceTimersByTimeAsync(60)
  expect(sent).toEqual(['99x24', '1000x500', '2x1'])
  link.close()
})

test('X-807 keys typed while others are on their way follow together, in order', async () => {
  const link = attached()
  for (const key of 'abcd') link.send(key)
  expect(sent).toEqual(['a'])
  answered()
  await vi.advanceTimersByTimeAsync(0)
  expect(sent).toEqual(['a', 'bcd'])
  link.send('e')
  answered()
  await vi.advanceTimersByTimeAsync(0)
  expect(sent.join('')).toBe('abcde')
  link.close()
})
