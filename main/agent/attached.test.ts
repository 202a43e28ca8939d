import { expect, test } from 'vitest'
import type { ModelMessage } from '../models/model.ts'
import { limitImages, userParts, type Bodies } from './context.ts'

const bodies = (texts: Record<string, string>): Bodies => ({
  results: new Map(),
  attachments: new Map(Object.entries(texts).map(([hash, text]) => [hash, Buffer.from(text)])),
  images: new Map(),
})
const attached = (hash: string, name: string, bytes = 1) => ({ name, mediaType: 'text/plain', bytes, hash })

test('F-1209 text files go in whole up to 16,000 characters each and 64,000 a message, else as a line with a reference', () => {
  const texts = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((hash) => [hash, hash.repeat(16_000)]))
  const files = [...Object.keys(texts).map((hash) => attached(hash, `${hash}.txt`)), attached('big', 'big.txt')]
  const parts = userParts('Look', { attachments: files }, bodies({ ...texts, big: 'x'.repeat(16_001) })).map((part) =>
    part.type === 'text' ? part.text : '',
  )
  expect(parts.slice(0, 4).map((text) => text.length > 16_000)).toEqual([true, true, true, true])
  expect(parts[4]).toContain('reference="attachment:e"')
  expect(parts[5]).toBe(
    '<attachment name="big.txt" type="text/plain" bytes="1" reference="attachment:big">Read it with read_file by its reference.</attachment>',
  )
  expect(parts[6]).toBe('Look')
})

test('F-1208 pasted text goes in whole up to 200,000 characters, more by reference with its beginning', () => {
  const text = (length: number) => {
    const [part] = userParts(
      '',
      { attachments: [attached('p', 'Pasted text, 9 lines')] },
      bodies({ p: 'y'.repeat(length) }),
    )
    return part?.type === 'text' ? part.text : ''
  }
  expect(text(200_000).length).toBeGreaterThan(200_000)
  expect(text(200_001)).toContain('reference="attachment:p"')
  expect(text(200_001).length).toBeLessThan(2_500)
})

test('F-1224 FA-40 of 25 images the newest 20 are sent, and a sentence stands for each of the others', () => {
  const messages = Array.from({ length: 25 }, (_, at): ModelMessage => ({
    role: 'user',
    parts: [{ type: 'image', mediaType: 'image/png', data: new Uint8Array([at]) }],
  }))
  const limited = limitImages(messages)
  expect(limited.leftOut).toBe(5)
  expect(
    limited.messages.flatMap((message) => (message.role === 'user' ? message.parts.map(({ type }) => type) : [])),
  ).toEqual([...Array(5).fill('text'), ...Array(20).fill('image')])
})
