import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { editBytes } from './edit-bytes.ts'
import { countLines, decodeText, encodeText, isBinary, keepsEveryByte, lineEndsOf } from './text.ts'
import { codeOf } from './test-workspace.ts'

const windows1252 = Buffer.from('Pr\xe9face d\xe9j\xe0 vue\r\nsecond line\r\n\x80uro', 'latin1')
const utf16le = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('one\r\ntwo 日\r\n', 'utf16le')])
const utf16be = Buffer.from(utf16le).swap16()
const withMark = Buffer.from('\ufeffone\ntwo\n')
const shiftJis = Buffer.from(
  '82b182ea82cd93fa967b8cea82cc83658343835883678382838281420d0a94fc82b582a28cbe97742e',
  'hex',
)

describe('encodings', () => {
  test('F-201 a mark decides, then UTF-8, then a guess', async () => {
    const nameOf = async (bytes: Uint8Array) => (await decodeText(bytes))?.encoding.name
    expect(await nameOf(Buffer.from('plain'))).toBe('utf-8')
    expect(await nameOf(withMark)).toBe('utf-8')
    expect(await nameOf(utf16le)).toBe('utf-16le')
    expect(await nameOf(utf16be)).toBe('utf-16be')
    expect(await nameOf(windows1252)).toBe('windows-1252')
    expect((await decodeText(windows1252))?.text).toBe('Préface déjà vue\r\nsecond line\r\n€uro')
    expect((await decodeText(utf16be))?.text).toBe('one\r\ntwo 日\r\n')
    expect((await decodeText(shiftJis))?.text).toContain('日本語')
  })

  test('F-202 a NUL or a fifth of control characters is binary; a marked file is not', () => {
    expect(isBinary(Buffer.from('a\0b'))).toBe(true)
    expect(isBinary(Buffer.from('\x01\x02abc'))).toBe(true)
    expect(isBinary(Buffer.from('\x01abcde'))).toBe(false)
    expect(isBinary(Buffer.from('\t\n\f\r\x1b'))).toBe(false)
    expect(isBinary(Buffer.concat([Buffer.alloc(8_192, 'a'), Buffer.alloc(1)]))).toBe(false)
    expect(isBinary(utf16le)).toBe(false)
  })

  test('F-203 every text file comes back byte for byte, or says that it would not', async () => {
    for (const bytes of [windows1252, utf16le, utf16be, withMark, shiftJis, Buffer.from('日本\n')]) {
      const decoded = (await decodeText(bytes))!
      expect(Buffer.from(await encodeText(decoded)).equals(bytes)).toBe(true)
    }
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        const decoded = await decodeText(bytes)
        if (!decoded || !(await keepsEveryByte(bytes, decoded))) return
        expect(Buffer.from(await encodeText(decoded)).equals(bytes)).toBe(true)
      }),
    )
    const broken = Buffer.concat([utf16le, Buffer.from([0x41])])
    expect(
      await codeOf(editBytes({ bytes: broken, request: { oldText: 'one', newText: 'x' }, standing: 'seen' })),
    ).toBe('file.encoding_unsupported')
  })

  test('FA-12 F-203 an edit leaves all other bytes, and refuses what the encoding cannot express', async () => {
    const edit = async (bytes: Uint8Array, oldText: string, newText: string) =>
      Buffer.from((await editBytes({ bytes, request: { oldText, newText }, standing: 'seen' })).bytes)
    expect(
      (await edit(utf16le, 'one', 'uno')).equals(
        Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('uno\r\ntwo 日\r\n', 'utf16le')]),
      ),
    ).toBe(true)
    expect(
      (await edit(windows1252, 'second', 'é')).equals(
        Buffer.from(windows1252.toString('latin1').replace('second', '\xe9'), 'latin1'),
      ),
    ).toBe(true)
    const refused = editBytes({ bytes: windows1252, request: { oldText: 'second', newText: '日' }, standing: 'seen' })
    await expect(refused).rejects.toMatchObject({
      code: 'file.unencodable',
      message: expect.stringMatching(/"日" \(line 2\)/),
    })
    await expect(
      editBytes({ bytes: Buffer.from('a'), request: { oldText: 'a', newText: '\ud800' }, standing: 'seen' }),
    ).rejects.toMatchObject({ code: 'file.unencodable' })
  })

  test('K-07 F-520 a byte order mark stays', async () => {
    const edited = await editBytes({ bytes: withMark, request: { oldText: 'one', newText: 'uno' }, standing: 'seen' })
    expect(Buffer.from(edited.bytes).toString('utf8')).toBe('\ufeffuno\ntwo\n')
  })
})

test('F-204 line ends of a file', () => {
  expect(['', 'a', 'a\nb', 'a\r\nb\r\n', 'a\nb\r\n', 'a\rb', 'a\rb\n'].map(lineEndsOf)).toEqual([
    'none',
    'none',
    'lf',
    'crlf',
    'mixed',
    'cr',
    'lf',
  ])
  expect(['', 'a', 'a\n', 'a\nb', '\n\n'].map(countLines)).toEqual([0, 1, 1, 2, 2])
})
