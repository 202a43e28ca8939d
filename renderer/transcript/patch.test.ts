import { expect, test } from 'vitest'
import { patchLines, patchPath, sideOf } from './patch.ts'

const hunk = '@@ -1,3 +1,3 @@\n const a = 1\n-const b = 2\n+const b = 3\n const c = 4'

test('each side of a patch is a text whose lines are found from those of the patch', () => {
  const lines = patchLines(hunk)
  expect(sideOf(lines, 'before')).toEqual({ text: 'const a = 1\nconst b = 2\nconst c = 4', at: [null, 0, 1, null, 2] })
  expect(sideOf(lines, 'after')).toEqual({ text: 'const a = 1\nconst b = 3\nconst c = 4', at: [null, 0, null, 1, 2] })
})

test.each([
  [`--- a/src/one.ts\n+++ b/src/one.ts\n${hunk}`, 'src/one.ts'],
  [`--- a/gone.py\n+++ /dev/null\n${hunk}`, 'gone.py'],
  [`--- /dev/null\n+++ b/new.py\n${hunk}`, 'new.py'],
  [hunk, null],
  [`--- a/one.ts\n+++ b/one.ts\n${hunk}\n--- a/two.py\n+++ b/two.py\n${hunk}`, null],
])('a patch names its file: %j', (patch, path) => expect(patchPath(patch)).toBe(path))
