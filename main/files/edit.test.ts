import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LatheError } from '../../preload/contract/errors.ts'
import { editText, type EditRequest } from './edit.ts'

function edited(text: string, oldText: string, newText: string, more: Partial<EditRequest> = {}): string {
  return editText(text, { oldText, newText, ...more }).text
}

function codeOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof LatheError) return error.code
    throw error
  }
  return 'none'
}

function failure(run: () => unknown): LatheError {
  try {
    run()
  } catch (error) {
    if (error instanceof LatheError) return error
  }
  throw new Error('expected a LatheError')
}

describe('choosing among matches', () => {
  const lines = Array.from({ length: 30 }, (_, at) => ([3, 9, 30].includes(at + 1) ? 'foo' : `line ${at + 1}`))
  const text = lines.join('\n') + '\n'
  const withBarOn = (...at: number[]): string =>
    lines.map((line, index) => (at.includes(index + 1) ? 'bar' : line)).join('\n') + '\n'

  test('FA-14 F-513 several matches without a chooser are refused with their lines', () => {
    const error = failure(() => edited(text, 'foo', 'bar'))
    expect([error.code, error.data]).toEqual(['edit.ambiguous_match', { lines: [3, 9, 30], count: 3 }])
  })

  test('FA-14 F-513 occurrence, line_hint and replace_all choose', () => {
    expect(edited(text, 'foo', 'bar', { occurrence: 2 })).toBe(withBarOn(9))
    expect(edited(text, 'foo', 'bar', { lineHint: 29 })).toBe(withBarOn(30))
    expect(edited(text, 'foo', 'bar', { lineHint: 9 })).toBe(withBarOn(9))
    expect(edited(text, 'foo', 'bar', { replaceAll: true })).toBe(withBarOn(3, 9, 30))
    expect(codeOf(() => edited(text, 'foo', 'bar', { lineHint: 6 }))).toBe('edit.ambiguous_match')
    expect(codeOf(() => edited(text, 'foo', 'bar', { lineHint: 81 }))).toBe('edit.ambiguous_match')
  })

  test('FA-14 F-514 an occurrence too far is refused, though a looser match exists', () => {
    expect(codeOf(() => edited(`${text}  foo \nfoo x\n`, '\nfoo\n', 'bar', { occurrence: 4 }))).toBe(
      'edit.occurrence_out_of_range',
    )
  })

  test('FA-14 F-516 another number than expected is refused with the true one', () => {
    const error = failure(() => edited(text, 'foo', 'bar', { replaceAll: true, expected: 2 }))
    expect([error.code, error.data]).toEqual(['edit.count_mismatch', { count: 3 }])
    expect(edited(text, 'foo', 'bar', { replaceAll: true, expected: 3 })).toBe(withBarOn(3, 9, 30))
  })

  test('F-512 matches do not overlap', () => {
    expect(edited('aaaa', 'aa', 'b', { replaceAll: true })).toBe('bb')
    expect(edited('a\na\na\na\n', 'a \na', 'b', { replaceAll: true, expected: 2 })).toBe('b\nb\n')
  })

  test('F-510 a replacement that changes nothing is refused', () => {
    expect(codeOf(() => edited('  a\n', 'a ', 'a'))).toBe('edit.no_change')
  })
})

describe('strategies', () => {
  test('F-511 F-523 the strictest strategy with a match decides and is named', () => {
    const strategyOf = (text: string, oldText: string) => editText(text, { oldText, newText: 'x' }).strategy
    expect(strategyOf('  a b\n', 'a b')).toBe('exact')
    expect(strategyOf('  a b  \n  c\n', 'a b\nc')).toBe('trimmed lines')
    expect(strategyOf('  say “hi”\n', 'say "hi" ')).toBe('trimmed lines with straight quotes')
    expect(strategyOf('x = say(“hi”)\n', 'say("hi")')).toBe('straight quotes')
  })

  test('FA-15 F-517 new lines take the indent of the file', () => {
    const file = 'class A {\n        if (a) {\n            b()\n        }\n}\n'
    expect(edited(file, '    if (a) {\n        b() \n    }', '    if (a) {\n        c()\n\n        d()\n    }')).toBe(
      'class A {\n        if (a) {\n            c()\n\n            d()\n        }\n}\n',
    )
    expect(edited('  a\n    b\n', '    a\n      b ', '    a\n      c')).toBe('  a\n    c\n')
  })

  test('FA-15 F-517 an indent that differs unevenly is no match', () => {
    expect(codeOf(() => edited('        a\n\tb\n', '    a\n    b', 'c'))).toBe('edit.no_match')
    expect(codeOf(() => edited('  a\n', '    a ', '  c\n  d'))).toBe('none')
    expect(codeOf(() => edited('  a\n', '    a ', ' c'))).toBe('edit.no_match')
  })

  test('FA-16 F-511 only the original span of a quoted match is replaced', () => {
    expect(edited('“one” and “two” and ‘three’\n', 'and "two" and', 'or "2" or')).toBe('“one” or "2" or ‘three’\n')
  })

  test('F-515 a loose match does not serve replace_all, unless the number is known', () => {
    const file = 'a  \nb\na  \nb\n'
    expect(codeOf(() => edited(file, 'a\nb', 'c', { replaceAll: true }))).toBe('edit.no_match')
    expect(edited(file, 'a\nb', 'c', { replaceAll: true, expected: 2 })).toBe('c\nc\n')
  })

  test('K-08 F-513 a loose match must be the only one', () => {
    expect(codeOf(() => edited('a  \nb\na  \nb\n', 'a\nb', 'c'))).toBe('edit.ambiguous_match')
  })

  test('F-523 the lines that now hold each replacement are told', () => {
    const edit = editText('x\nfoo\ny\nfoo\n', { oldText: 'foo', newText: 'a\nb', replaceAll: true })
    expect([edit.now, edit.replaced.map(({ first, last, text }) => [first, last, text])]).toEqual([
      [
        { first: 2, last: 3 },
        { first: 5, last: 6 },
      ],
      [
        [2, 2, 'foo'],
        [4, 4, 'foo'],
      ],
    ])
  })

  test('K-08 F-518 no match shows the closest place with a short diff', () => {
    const file = Array.from({ length: 200 }, (_, at) => `const value${at} = compute(${at}, options)`).join('\n')
    const error = failure(() => edited(file, 'const value42 = compute(42, settings)', 'x'))
    expect([error.code, error.data?.['line']]).toEqual(['edit.no_match', 43])
    expect(error.message).toContain('+const value42 = compute(42, options)')
    expect(error.hint).toContain('do not fall back to a shell editor')
    expect(failure(() => edited(file, 'nothing of this kind', 'x')).data).toBeUndefined()
  })
})

describe('line ends', () => {
  test('FA-11 F-519 new lines take the line end of the first replaced line', () => {
    const file = 'a\r\nb\r\nc\r\nd\n'
    expect(edited(file, 'b', 'x\ny')).toBe('a\r\nx\r\ny\r\nc\r\nd\n')
    expect(edited(file, 'b', 'x\r\ny')).toBe('a\r\nx\r\ny\r\nc\r\nd\n')
    expect(edited(file, 'd\n', 'x\ny\n')).toBe('a\r\nb\r\nc\r\nx\ny\n')
    expect(edited('a\rb\rc', 'b\nc', 'x\ny')).toBe('a\rx\ry')
  })

  test('F-519 a replaced last line without an end takes that of most lines', () => {
    expect(edited('a\r\nb\r\nc\nd', 'd', 'x\ny')).toBe('a\r\nb\r\nc\nx\r\ny')
    expect(edited('d', 'd', 'x\ny')).toBe('x\ny')
  })

  test('F-520 a last line without a line end keeps having none', () => {
    expect(edited('a\nb', 'b', 'c')).toBe('a\nc')
    expect(edited('a\n  b', ' b\n', ' c\n')).toBe('a\n  c')
  })

  const ends = fc.constantFrom('\n', '\r\n')
  const word = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '“', '"', '日', '😀', '\t'), maxLength: 6 })
  const mixedFile = fc.tuple(fc.array(fc.tuple(word, ends), { minLength: 1, maxLength: 12 }), fc.boolean())

  test('K-07 F-519 only the bytes of the edited line change, whatever context is sent along', () => {
    fc.assert(
      fc.property(mixedFile, fc.nat(), fc.nat({ max: 2 }), word, ([lines, closed], pick, context, fresh) => {
        const target = pick % lines.length
        const named = lines.map(([text, end], at): [string, string] => [`${at}:${text}`, end])
        if (!closed) named.at(-1)![1] = ''
        const from = Math.max(0, target - context)
        const to = Math.min(named.length, target + context + 1)
        const asked = (replacement: string) =>
          named
            .slice(from, to)
            .map(([text], at) => (from + at === target ? replacement : text))
            .join('\n')
        const replacement = `new ${fresh}`
        const before = named.map(([text, end]) => text + end).join('')
        const after = named.map(([text, end], at) => (at === target ? replacement : text) + end).join('')
        const unique = before.replaceAll('\r\n', '\n').split(asked(named[target]![0])).length === 2
        fc.pre(unique)
        expect(edited(before, asked(named[target]![0]), asked(replacement))).toBe(after)
      }),
    )
  })

  test('F-519 no CR CR LF arises and no line end outside is touched', () => {
    const piece = fc.string({ unit: fc.constantFrom('x', '\n', '\r\n', ' '), maxLength: 8 })
    fc.assert(
      fc.property(
        piece,
        piece,
        fc.string({ unit: fc.constantFrom('y', '\n', '\r\n', '\r'), maxLength: 6 }),
        (head, tail, fresh) => {
          const text = `${head}MARK${tail}`
          const after = edited(text, 'MARK', `${fresh}z`)
          expect(after).not.toContain('\r\r\n')
          expect(after.startsWith(head) && after.endsWith(tail)).toBe(true)
        },
      ),
    )
  })

  test('F-511 on LF files an exact replace_all is a plain one', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '“'), maxLength: 40 })
    fc.assert(
      fc.property(
        text,
        fc.string({ unit: fc.constantFrom('a', 'b', '\n'), minLength: 1, maxLength: 3 }),
        text,
        (file, oldText, newText) => {
          fc.pre(file.includes(oldText) && file.replaceAll(oldText, () => newText) !== file)
          expect(edited(file, oldText, newText, { replaceAll: true })).toBe(file.replaceAll(oldText, () => newText))
        },
      ),
    )
  })
})

test('FA-17 F-512 100,000 matches in 10 MiB are replaced in linear time', { timeout: 20_000 }, () => {
  const line = `${'x'.repeat(100)} foo\r\n`
  const edit = editText(line.repeat(100_000), { oldText: 'foo', newText: 'bar', replaceAll: true })
  expect([edit.replaced.length, edit.now.at(-1), edit.text.length]).toEqual([
    100_000,
    { first: 100_000, last: 100_000 },
    line.length * 100_000,
  ])
})
