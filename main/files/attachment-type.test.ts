import { expect, test } from 'vitest'
import { attachmentName, attachmentType, checkAttachment, distinctNames } from './attachment-type.ts'
import { failureOf } from './test-workspace.ts'

const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
const text = Buffer.from('hello')

test('F-1206 FA-38 a type is found from the content: a WAV is no picture, SVG is text', () => {
  const wav = Buffer.concat([Buffer.from('RIFF\x24\0\0\0WAVEfmt ', 'latin1'), Buffer.alloc(20)])
  const webp = Buffer.concat([Buffer.from('RIFF\x24\0\0\0WEBPVP8 ', 'latin1'), Buffer.alloc(20)])
  expect(
    [wav, webp, png, text, Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), Buffer.from([0, 1, 2])].map(
      attachmentType,
    ),
  ).toEqual(['audio/wav', 'image/webp', 'image/png', 'text/plain', 'text/plain', 'application/octet-stream'])
})

test('F-1205 FA-39 names are made safe and distinct', () => {
  expect(
    ['../../etc/pass wd', 'CON.txt', 'a\u0007b:c?.txt', 'C:\\x\\y.png', 'nul'].map((name) =>
      attachmentName(name, text),
    ),
  ).toEqual(['pass wd', '_CON.txt', 'abc.txt', 'y.png', '_nul'])
  expect([attachmentName('', png), attachmentName('..', text)]).toEqual(['attachment.png', 'attachment.txt'])
  const long = attachmentName(`${'x'.repeat(300)}.tar.gz`, text)
  expect([long.length, long.endsWith('.gz')]).toEqual([120, true])
  expect(distinctNames(['a.png', 'a.png', 'A.png', 'b', 'b'])).toEqual([
    'a.png',
    'a (2).png',
    'A (3).png',
    'b',
    'b (2)',
  ])
})

test('F-1203 F-1206 what is empty and pictures over 20 MiB are refused with a reason', async () => {
  const refused = (name: string, bytes: Uint8Array) => failureOf(async () => checkAttachment(name, bytes))
  expect((await refused('a', Buffer.alloc(0))).data).toEqual({ files: [{ name: 'a', reason: 'malformed' }] })
  const large = Buffer.concat([png, Buffer.alloc(20 * 1024 * 1024)])
  expect((await refused('a.png', large)).data).toEqual({ files: [{ name: 'a.png', reason: 'too_large' }] })
  expect(() => checkAttachment('a.bin', Buffer.alloc(21 * 1024 * 1024))).not.toThrow()
})
