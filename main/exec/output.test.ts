import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HeadTail } from './head-tail.ts'
import { cutOutput, looksBinary, reduceText, TerminalText } from './output.ts'

const table: [raw: string, reduced: string][] = [
  ['10%\r50%\r100%\n', '100%\n'],
  ['abcdef\rXY\n', 'XYcdef\n'],
  ['loading...\r\x1b[Kdone\n', 'done\n'],
  ['abc\b\bX\n', 'aXc\n'],
  ['a\r\nb\r\r\nc', 'a\nb\nc'],
  ['one\ntwo\n\x1b[1A\x1b[2KTWO\n', 'one\nTWO\n'],
  ['\x1b[31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07\x07', 'red link'],
]
test.each(table)('X-505 %j is shown as %j', (raw, reduced) => {
  expect(reduceText(raw)).toBe(reduced)
})

test('K-01 a progress bar of 500 states is one line, the last', () => {
  const states = Array.from({ length: 500 }, (_, at) => `\r\x1b[2K\x1b[32mdownloading ${at + 1}%\x1b[0m`)
  expect(reduceText(states.join('') + '\n')).toBe('downloading 500%\n')
})

test('X-506 the cursor reaches back 200 lines and no further', () => {
  const lines = Array.from({ length: 300 }, (_, at) => `line ${at}\n`).join('')
  const shown = reduceText(`${lines}\x1b[999A\x1b[2Ktop`).split('\n')
  expect(shown[99]).toBe('line 99')
  expect(shown[100]).toBe('top')
  expect(shown[101]).toBe('line 101')
})

test('X-506 control characters but tab and line feed are dropped', () => {
  const all = Array.from({ length: 32 }, (_, at) => String.fromCharCode(at)).filter((one) => !'\b\r\x1b'.includes(one))
  expect(reduceText(`a${all.join('')}b\x7fc`)).toBe('a\t\nbc')
})

test('X-506 an unfinished sequence swallows no more than its line', () => {
  expect(reduceText('a\x1b]0;title\nb\x1b[31\nc\x1bPdata\nd')).toBe('a\nb\nc\nd')
})

test('Z-132 invisible and bidirectional characters do not reach the model', () => {
  expect(reduceText('a\u200bb\u202ec\ufeffd\u{e0041}e')).toBe('abcde')
})

test('X-505 a line rewritten around wide and astral characters keeps them whole', () => {
  expect(reduceText('😀😀😀\rab\n')).toBe('ab😀\n')
  expect(reduceText('日本語\b\bX')).toBe('日X語')
})

const piece = fc.oneof(
  fc.constantFrom(
    '\r',
    '\n',
    '\b',
    '\t',
    '\x1b',
    '\x1b[A',
    '\x1b[3A',
    '\x1b[B',
    '\x1b[K',
    '\x1b[1K',
    '\x1b[2K',
    '\x1b[J',
    '\x1b[9C',
    '\x1b[2D',
    '\x1b[5G',
    '\x1b[H',
    '\x1b[38;5;1m',
    '\x1b]0;t\x07',
    '\x1bPq\x1b\\',
    '\x1b(B',
    '😀',
    '\x9b',
    '\x7f',
  ),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({ maxLength: 12 }),
)
const stream = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(''))

test('X-505 how the output was cut into chunks changes nothing, and nothing but text comes out', () => {
  fc.assert(
    fc.property(stream, fc.array(fc.nat(), { maxLength: 8 }), (raw, cuts) => {
      const whole = reduceText(raw)
      const at = [0, ...cuts.map((cut) => cut % (raw.length + 1)).sort((a, b) => a - b), raw.length]
      let parts = ''
      const text = new TerminalText((part) => (parts += part))
      for (let index = 1; index < at.length; index += 1) text.write(raw.slice(at[index - 1], at[index]))
      text.end()
      expect(parts).toBe(whole)
      expect(whole).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/)
    }),
    { numRuns: 2_000 },
  )
})

test('X-505 nor for long output and lines too long to be rewritten', () => {
  const long = fc.array(
    fc.oneof(
      { weight: 3, arbitrary: piece },
      fc.constantFrom('x'.repeat(5_000), 'y\n'.repeat(700), `${'z'.repeat(9_000)}\rZ`),
    ),
    { maxLength: 12 },
  )
  fc.assert(
    fc.property(
      long.map((pieces) => pieces.join('')),
      fc.integer({ min: 100, max: 20_000 }),
      (raw, step) => {
        let parts = ''
        const text = new TerminalText((part) => (parts += part))
        for (let at = 0; at < raw.length; at += step) text.write(raw.slice(at, at + step))
        text.end()
        expect(parts).toBe(reduceText(raw))
      },
    ),
    { numRuns: 300 },
  )
})

test('X-505 plain text passes unchanged', () => {
  const text = fc
    .string({ unit: 'grapheme', maxLength: 400 })
    .map((value) => value.replace(/[^\P{C}\n\t]|\u200d/gu, ''))
  fc.assert(
    fc.property(text, (value) => {
      expect(reduceText(value)).toBe(value)
    }),
  )
})

test('X-503 memory is bounded for any output: endless lines, endless line, endless rewriting', () => {
  const kept = new HeadTail(1_000, 2_000)
  const text = new TerminalText((part) => kept.push(part))
  const written = 300 * 40_000
  for (let at = 0; at < 300; at += 1) text.write('x'.repeat(40_000))
  text.end()
  expect(kept.length).toBe(written)
  expect(kept.kept()).toEqual({
    head: 'x'.repeat(1_000),
    tail: 'x'.repeat(2_000),
    dropped: written - 3_000,
    droppedLines: 0,
  })
  expect(reduceText('y'.repeat(8_000) + '\rX\x1b[B'.repeat(200_000)).length).toBeLessThan(20_000)
})

test('X-503 the first 262,144 and the last 786,432 characters are kept, and those between counted', () => {
  const kept = new HeadTail()
  const lines = Array.from({ length: 300_000 }, (_, at) => `${String(at).padStart(6, '0')}\n`).join('')
  for (let at = 0; at < lines.length; at += 10_007) kept.push(lines.slice(at, at + 10_007))
  const dropped = lines.length - 1_048_576
  expect(kept.kept()).toEqual({
    head: lines.slice(0, 262_144),
    tail: lines.slice(-786_432),
    dropped,
    droppedLines: lines.slice(262_144, 262_144 + dropped).split('\n').length - 1,
  })
})

test('X-507 over budget: 40 % head, 60 % tail, the true number left out', () => {
  const kept = new HeadTail()
  kept.push('a'.repeat(100_000))
  const cut = cutOutput(kept.kept(), 1_000, 'output:abc')
  expect(cut).toBe(
    `${'a'.repeat(400)}\n[... 99,000 characters, 0 lines left out; all of it: output:abc ...]\n${'a'.repeat(600)}`,
  )
})

test('X-507 for any text and budget: nothing repeated or lost, whole lines where they are near, no split pair', () => {
  const anyText = fc
    .array(fc.oneof(fc.string({ unit: 'grapheme', maxLength: 30 }), fc.constant('\n')), { maxLength: 120 })
    .map((parts) => parts.join(''))
  fc.assert(
    fc.property(anyText, fc.integer({ min: 10, max: 600 }), fc.integer({ min: 1, max: 97 }), (text, budget, step) => {
      const kept = new HeadTail(budget, budget)
      for (let at = 0; at < text.length; at += step) kept.push(text.slice(at, at + step))
      const cut = cutOutput(kept.kept(), budget)
      if (text.length <= budget) return cut === text
      const [, head, characters, lines, tail] =
        /^([^]*?)\n?\[\.\.\. ([\d,]+) characters, ([\d,]+) lines left out \.\.\.\]\n([^]*)$/.exec(cut)!
      const count = Number(characters!.replaceAll(',', ''))
      const headLength = text.length - tail!.length - count
      expect(text.slice(0, headLength).replace(/\n$/, '')).toBe(head)
      expect(text.endsWith(tail!)).toBe(true)
      expect(text.slice(headLength, headLength + count).split('\n').length - 1).toBe(Number(lines))
      expect(headLength).toBeLessThanOrEqual(Math.floor(budget * 0.4))
      expect(tail!.length).toBeLessThanOrEqual(budget - Math.floor(budget * 0.4))
      expect(/^[\udc00-\udfff]/.test(tail!) || /[\ud800-\udbff]$/.test(head!)).toBe(false)
      return true
    }),
    { numRuns: 500 },
  )
})

test('X-508 output that is mostly undecodable is called binary', () => {
  expect(looksBinary('\ufffd'.repeat(31) + 'a'.repeat(69))).toBe(true)
  expect(looksBinary('\ufffd'.repeat(30) + 'a'.repeat(70))).toBe(false)
  expect(looksBinary('')).toBe(false)
})
