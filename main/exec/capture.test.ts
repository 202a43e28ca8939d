import { statSync } from 'node:fs'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import fc from 'fast-check'
import { afterAll, expect, test, vi } from 'vitest'
import { OutputCapture } from './capture.ts'
import { cutOutput } from './output.ts'
import { Spool } from './spool.ts'

const folder = await mkdtemp(join(tmpdir(), 'lathe-capture-'))
afterAll(() => rm(folder, { recursive: true }))

test('X-501 XA-4 a character split over chunks, on either stream, is whole; invalid bytes are replaced', () => {
  const capture = new OutputCapture({ folder })
  capture.push('stdout', Buffer.from([0xe2, 0x82]))
  capture.push('stderr', Buffer.from([0xf0, 0x9f]))
  capture.push('stdout', Buffer.from([0xac, 0xff]))
  capture.push('stderr', Buffer.from([0x98, 0x80, 0xe2]))
  const output = capture.finish()
  expect(output).toMatchObject({ stdout: '€\ufffd', stderr: '😀\ufffd', bytes: 9 })
})

test('a card shows the true beginning and the true end of a long stream', async () => {
  const capture = new OutputCapture({ folder })
  const lines = Array.from({ length: 20_000 }, (_, at) => `line ${at}\n`).join('')
  for (let at = 0; at < lines.length; at += 5_000) capture.push('stdout', Buffer.from(lines.slice(at, at + 5_000)))
  const output = capture.finish()
  const [head, tail] = output.stdout.split(/\[\.\.\. [\d,]+ characters, [\d,]+ lines left out \.\.\.\]\n/)
  expect(head!.length + tail!.length).toBeGreaterThan(32_000)
  expect(lines.startsWith(head!) && lines.endsWith(tail!)).toBe(true)
  await output.release()
})

test('X-308 the streams are merged by arrival and kept apart', () => {
  const capture = new OutputCapture({ folder })
  for (const [stream, text] of [
    ['stdout', 'a\n'],
    ['stderr', 'b\n'],
    ['stdout', 'c\n'],
  ] as const)
    capture.push(stream, Buffer.from(text))
  expect(capture.finish()).toMatchObject({
    stdout: 'a\nc\n',
    stderr: 'b\n',
    reduced: { head: 'a\nb\nc\n', dropped: 0 },
  })
})

test('Z-103 everything kept has gone through the redactor, its held back end included', async () => {
  const redactor = () => ({ push: (text: string) => text.replaceAll('secret', '[redacted:X]'), end: () => '[end]' })
  const live: string[] = []
  const capture = new OutputCapture({ folder, redactor, live: (text) => live.push(text) })
  capture.push('stdout', Buffer.from('a secret'))
  const output = capture.finish()
  const expected = 'a [redacted:X][end][end]'
  expect([output.reduced.head, await textOf(output.full()), live.join('')]).toEqual([expected, expected, expected])
})

test('X-502 the spool keeps the first and the last, whole characters, and says how much it left out', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }), { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 200 }),
      async (texts, repeat) => {
        const spool = new Spool({
          path: join(folder, 'kept'),
          pressure: () => {},
          headBytes: 70_000,
          tailBytes: 50_000,
        })
        const printed = texts.join('').repeat(repeat * 40)
        const all = Buffer.from(printed)
        const characters = [...printed]
        for (let at = 0; at < characters.length; at += 7_001) spool.push(characters.slice(at, at + 7_001).join(''))
        const kept = await textOf(spool.whole())
        await spool.discard()
        if (all.length <= 120_000) return kept === all.toString()
        const [head, tail] = kept.split(/\n\[\.\.\. [\d,]+ bytes were not kept \.\.\.\]\n/)
        const text = all.toString()
        expect(kept).not.toContain('\ufffd')
        expect(text.startsWith(head!) && text.endsWith(tail!)).toBe(true)
        expect(Buffer.byteLength(head!)).toBeGreaterThan(70_000 - 4)
        expect(Buffer.byteLength(tail!)).toBeGreaterThan(50_000 - 4)
        return true
      },
    ),
    { numRuns: 40 },
  )
  expect(await readdir(folder)).toEqual([])
})

test('X-502 a spool file is 64 MiB at most: the first 16 MiB and the last 48 MiB', async () => {
  const path = join(folder, 'full size')
  let written = Promise.resolve()
  let goOn = () => {}
  const pressure = (high: boolean): void => {
    if (high) written = new Promise((resolve) => (goOn = resolve))
    else goOn()
  }
  const spool = new Spool({ path, pressure })
  const mib = 1024 * 1024
  const block = (at: number) => String.fromCharCode(40 + at)
  for (let at = 0; at < 80; at += 1) {
    spool.push(block(at).repeat(mib))
    await written
  }
  const [head, tail] = (await textOf(spool.whole())).split(/\n\[\.\.\. [\d,]+ bytes were not kept \.\.\.\]\n/)
  expect((await stat(path)).size).toBe(64 * mib)
  expect([head!.length, head![0], head!.at(-1)]).toEqual([16 * mib, block(0), block(15)])
  expect([tail!.length, tail![0], tail!.at(-1)]).toEqual([48 * mib, block(32), block(79)])
  await spool.discard()
})

test('X-504 the process is held back by a slow disk only, and let go when the disk fails', async () => {
  const pressures: boolean[] = []
  const path = join(folder, 'pressed')
  let unwritten = 0
  const spool = new Spool({
    path,
    pressure: (high) => {
      pressures.push(high)
      if (!high) unwritten = spool.length - statSync(path).size
    },
  })
  for (let at = 0; at < 4; at += 1) spool.push('x'.repeat(1024 * 1024))
  expect(pressures).toEqual([])
  spool.push('x')
  expect(pressures).toEqual([true])
  await vi.waitFor(() => expect(pressures).toEqual([true, false]), { timeout: 10_000 })
  expect(unwritten).toBeGreaterThan(0)
  expect(unwritten).toBeLessThan(1024 * 1024)
  expect((await stat(join(folder, 'pressed'))).mode & 0o777).toBe(0o600)
  await spool.discard()

  const broken = new Spool({ path: '/dev/null/no', pressure: (high) => pressures.push(high) })
  for (let at = 0; at < 6; at += 1) broken.push('x'.repeat(1024 * 1024))
  await vi.waitFor(() => expect(pressures).toEqual([true, false, true, false]), { timeout: 10_000 })
  expect(broken.failed).toBe(true)
  await broken.discard()
})

test('X-510 of a long flood a card is sent, and the journal keeps, a little and the end', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  const sent: string[] = []
  const capture = new OutputCapture({ folder, live: (part) => sent.push(part) })
  const line = `${'x'.repeat(1_023)}\n`
  // A minute at half a megabyte a second, then a minute of one line in a second.
  for (let at = 0; at < 60_000 / 16; at += 1) {
    capture.push('stdout', Buffer.from(line.repeat(8)))
    vi.advanceTimersByTime(16)
  }
  const flood = sent.join('').length
  expect(flood).toBeGreaterThan(512 * 1024)
  expect(flood).toBeLessThan(768 * 1024)
  for (let at = 0; at < 60; at += 1) {
    capture.push('stdout', Buffer.from(`quiet ${at}\n`))
    vi.advanceTimersByTime(1_000)
  }
  expect(sent.join('').slice(flood)).toContain('quiet 30\nquiet 31\n')
  capture.push('stdout', Buffer.from('the end'))
  vi.useRealTimers()
  const output = capture.finish()
  expect(sent.at(-1)).toMatch(/the end$/)
  await output.release()
})

test('X-510 behind 64 KiB a card is sent 16 KiB every 250 ms', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  const sent: string[] = []
  const capture = new OutputCapture({ folder, live: (part) => sent.push(part) })
  const line = `${'x'.repeat(1_023)}\n`
  const length = () => sent.join('').length
  const print = () => {
    capture.push('stdout', Buffer.from(line.repeat(8)))
    vi.advanceTimersByTime(16)
  }
  while (length() < 64 * 1024) print()
  const [from, began] = [length(), performance.now()]
  // Ten seconds would be all of it.
  while (performance.now() - began < 5_000) print()
  const rate = ((length() - from) / (performance.now() - began)) * 1_000
  vi.useRealTimers()
  expect(rate).toBeGreaterThan(48 * 1024)
  expect(rate).toBeLessThan(72 * 1024)
  await capture.finish().release()
})

test('X-510 live output is joined, and bounded whatever is printed', async () => {
  const sent: string[] = []
  const capture = new OutputCapture({ folder, live: (text) => sent.push(text) })
  for (let at = 0; at < 2_000; at += 1) capture.push('stdout', Buffer.from(`line ${at} ${'x'.repeat(1_000)}\n`))
  await vi.waitFor(() => expect(sent.length).toBeGreaterThan(0), { timeout: 10_000 })
  for (const stream of ['stdout', 'stderr', 'stdout', 'stderr'] as const) capture.push(stream, Buffer.from(stream))
  const output = capture.finish()
  const shown = sent.join('')
  expect(sent.length).toBeLessThan(20)
  expect(shown.length).toBeLessThan(100_000)
  expect(shown).toMatch(/characters not shown live/)
  expect(shown.endsWith('stdoutstderrstdoutstderr')).toBe(true)
  expect(cutOutput(output.reduced, 1_000)).toContain('line 0')
  await output.release()
  expect(await readdir(folder)).toEqual([])
})
