import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mentionText } from '../../preload/contract/mentions.ts'
import { mentionsIn } from './mentions.ts'

const files = new Map([
  ['src/x.ts', 'src/x.ts'],
  ['./src/x.ts', 'src/x.ts'],
  ['src', 'src/'],
  ['src/', 'src/'],
  ['two words.md', 'two words.md'],
  ['odd.', 'odd.'],
])
const read = (prompt: string) => mentionsIn(prompt, async (path) => files.get(path) ?? null)

test('S-111 S-112 @path on the command line is a mention where a file or folder is called so', async () => {
  expect(await read('look at @src/x.ts')).toEqual({
    text: 'look at @src/x.ts',
    mentions: [{ kind: 'file', ref: 'src/x.ts', label: 'src/x.ts', at: 8 }],
    missing: [],
  })
  for (const [prompt, label, ref] of [
    ['Is @src/x.ts, as I said, right?', 'src/x.ts', 'src/x.ts'],
    ['(see @./src/x.ts)', './src/x.ts', 'src/x.ts'],
    ['all of @src?', 'src', 'src/'],
    ['all of @src/: go', 'src/', 'src/'],
    ['and @odd.', 'odd.', 'odd.'],
    ['and @"two words.md".', 'two words.md', 'two words.md'],
  ] as const) {
    const { text, mentions } = await read(prompt)
    expect(text).toBe(prompt)
    expect(mentions).toEqual([{ kind: 'file', ref, label, at: prompt.indexOf('@') }])
    expect(text.startsWith(mentionText(label), mentions[0]!.at)).toBe(true)
  }
})

test('S-112 quotes a path needs not are taken out, and what stands after it moves with them', async () => {
  const { text, mentions } = await read('@"src/x.ts" and @src/x.ts')
  expect(text).toBe('@src/x.ts and @src/x.ts')
  expect(mentions.map(({ at }) => at)).toEqual([0, 14])
})

test('S-112 an address, a decorator and a package stay text; what looks like a path and is none is named', async () => {
  const prompt = 'mail me@src/x.ts about @Injectable and @types/node, then @src/y.ts.'
  expect(await read(prompt)).toEqual({ text: prompt, mentions: [], missing: ['types/node', 'src/y.ts'] })
})

test('any prompt keeps its words, and every mention stands where it says', async () => {
  const word = fc.oneof(
    fc.constantFrom('@src/x.ts', '@"two words.md"', '@"src"', '@', ' ', '.', ')', '\n'),
    fc.string(),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(word, { maxLength: 8 }), async (words) => {
      const prompt = words.join('')
      const { text, mentions } = await read(prompt)
      expect(text.replaceAll('"', '')).toBe(prompt.replaceAll('"', ''))
      for (const { label, at } of mentions) expect(text.startsWith(mentionText(label), at)).toBe(true)
    }),
  )
})
