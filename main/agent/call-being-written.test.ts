import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CallBeingWritten } from './call-being-written.ts'

const patch = [
  '*** Begin Patch',
  '*** Add File: src/new "é".ts',
  '+one\t"two"',
  '+\u{1F600} three',
  '*** Update File: b.ts',
  '@@ function',
  ' kept',
  '-old',
  '+new',
  '*** End Patch',
].join('\n')

test('F-707 files and added lines of a patch are known while it is written, however it is cut into pieces', () => {
  const json = JSON.stringify({ dry_run: false, patch })
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 60 }), (sizes) => {
      const call = CallBeingWritten.of('apply_patch')!
      let at = 0
      for (const size of [...sizes, json.length]) {
        call.push(json.slice(at, at + size))
        at += size
        for (const { path } of call.so.files) expect(['src/new "é".ts', 'b.ts']).toContain(path)
      }
      expect(call.so.files).toEqual([
        { path: 'src/new "é".ts', added: 2 },
        { path: 'b.ts', added: 1 },
      ])
    }),
  )
})

test('F-707 half a patch tells the half that is there; escapes in any form are read', () => {
  const call = CallBeingWritten.of('apply_patch')!
  call.push('{"patch": "*** Begin Patch\\n*** Add File: a.ts\\n+\\u006f')
  call.push('ne\\n+tw')
  expect(call.so.files).toEqual([{ path: 'a.ts', added: 1 }])
  call.push('o\\n')
  expect(call.so.files).toEqual([{ path: 'a.ts', added: 2 }])
})

test('F-707 a whole file that is written counts its lines; other calls are none of this', () => {
  const call = CallBeingWritten.of('write_file')!
  call.push('{"path":"a/b.ts","content":"one\\ntwo\\nthr')
  expect(call.so).toEqual({ tool: 'write_file', files: [{ path: 'a/b.ts', added: 2 }], more: 0 })
  call.push('ee"}')
  expect(call.so.files).toEqual([{ path: 'a/b.ts', added: 3 }])
  expect(CallBeingWritten.of('shell')).toBeNull()
})
