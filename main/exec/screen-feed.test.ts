import { expect, test } from 'vitest'
import type { TerminalFrame } from '../../preload/contract/terminal-routes.ts'
import { ScreenFeed } from './screen-feed.ts'

const never = new AbortController().signal

function feedOf(): { feed: ScreenFeed; holds: boolean[] } {
  const holds: boolean[] = []
  const holdBack = (held: boolean) => void holds.push(held)
  return { feed: new ScreenFeed({ cols: 80, rows: 24, scrollback: 100, answer: () => {}, holdBack }), holds }
}

test('X-806 a pty is held back above 256 KiB that the host has not parsed, and let go below 64 KiB', async () => {
  const { feed, holds } = feedOf()
  feed.print('x'.repeat(256 * 1024))
  expect(holds).toEqual([])
  feed.print('y')
  expect(holds).toEqual([true])
  await feed.screen.parsed()
  await expect.poll(() => holds).toEqual([true, false])
  feed.print('z'.repeat(200 * 1024))
  await feed.screen.parsed()
  expect(holds).toEqual([true, false])
})

test('X-806 a flood rests before it goes on, so that the loop has time for others', async () => {
  const { feed, holds } = feedOf()
  const began = performance.now()
  feed.print('x'.repeat(300 * 1024))
  await feed.screen.parsed()
  const took = performance.now() - began
  expect(holds).toEqual([true])
  await expect.poll(() => holds, { interval: 1 }).toEqual([true, false])
  expect(performance.now() - began - took).toBeGreaterThan(Math.min(20, took) / 2)
})

test('X-806 a window that leaves 512 KiB unread gets none of it, but the screen as it is by then', async () => {
  const { feed, holds } = feedOf()
  const frames = feed.frames(undefined, never)
  expect((await frames.next()).value).toMatchObject({ type: 'snapshot', offset: 0 })
  const print = async (text: string) => {
    feed.print(text)
    await feed.screen.parsed()
  }
  await print('first')
  expect((await frames.next()).value).toMatchObject({ type: 'data', data: 'first' })
  for (let at = 0; at < 6; at += 1) await print(`${'x'.repeat(100 * 1024)}\r\n`)
  // The window slows nobody: all of it was parsed.
  expect(holds.at(-1)).not.toBe(true)
  await print('\x1b[2J\x1b[Hlast')
  // Whoever comes to look ends the joining of output: all of it is told by now.
  await feed.frames(undefined, never).next()
  const { value } = await frames.next()
  expect(value).toMatchObject({ type: 'snapshot', offset: feed.screen.offset, data: expect.stringContaining('last') })
  expect((value as Extract<TerminalFrame, { type: 'snapshot' }>).data.length).toBeLessThan(100 * 1024)
  await print('on')
  expect((await frames.next()).value).toMatchObject({ type: 'data', data: 'on' })
})

test('X-805 output that comes while a snapshot is made follows it once, for each window that looks', async () => {
  const { feed } = feedOf()
  feed.print(Array.from({ length: 120 }, (_, at) => `row ${at}\r\n`).join(''))
  const windows = [feed.frames(undefined, never), feed.frames(undefined, never)]
  const first = windows.map((frames) => frames.next())
  feed.print('meanwhile')
  const snapshots = await Promise.all(first)
  feed.end({ exitCode: 0, signal: null })
  for (const [at, frames] of windows.entries()) {
    const shown = snapshots[at]!.value as Extract<TerminalFrame, { type: 'snapshot' }>
    let text = shown.data
    for await (const frame of frames) if (frame.type === 'data') text += frame.data
    expect(text.split('meanwhile')).toHaveLength(2)
  }
})

test('X-805 a window that comes back with an older offset begins with the screen as it is', async () => {
  const { feed } = feedOf()
  feed.print('before')
  const before = feed.screen.offset
  feed.print(' after')
  feed.end({ exitCode: 0, signal: null })
  const { offset } = feed.screen
  const old = await feed.frames(before, never).next()
  expect(old.value).toMatchObject({ type: 'snapshot', offset, data: expect.stringContaining('after') })
  expect((await feed.frames(offset, never).next()).value).toMatchObject({ type: 'exit', offset })
})
