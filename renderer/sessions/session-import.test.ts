import { expect, test } from 'vitest'
import { importBytesMax } from '../../preload/contract/limits.ts'
import { whyNoSession } from './session-import.ts'

test('S-92 a file that is no session is known by its beginning, with the reason; all else the host finds out', () => {
  const good = '{\n  "format": "lathe.session",\n  "version": 1,\n  "session": {}}'
  for (const [head, bytes, why] of [
    ['', 0, /^The file is empty\.$/],
    [good, good.length, null],
    // Keys in another order, as other programs write them.
    ['{"exportedAt": 1, "format": "lathe.session", "version": 1}', 60, null],
    ['{"version": 1, "items": [', 9_000_000, /no exported session/],
    ['{"format": "lathe.session", "items": [{"version": 4}], "version": 1}', 9_000_000, null],
    ['{"name": "package", "version": "2.0.0"}', 40, /no exported session/],
    ['["format", "lathe.session"]', 30, /no exported session/],
    ['no session', 10, /no exported session/],
    ['{"format": "lathe.session", "version": 99}', 45, /newer Lathe \(version 99\)/],
    [good.slice(0, -1), good.length - 1, /not whole/],
    [good.slice(0, -1), 9_000_000, null],
    [good, importBytesMax + 1, /larger than 512/],
  ] as const)
    expect([head, whyNoSession(head, bytes)]).toEqual([head, why === null ? null : expect.stringMatching(why)])
})
