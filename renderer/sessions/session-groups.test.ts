import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sampleEntry } from '../../preload/contract/sample-entry.ts'
import type { Entry } from '../../preload/contract/session.ts'
import { folderLabels, sessionRows } from './session-groups.ts'

const entry = (id: string, workspace: string, updatedAt: number, more: Partial<Entry> = {}) =>
  sampleEntry(id, { workspace, updatedAt, ...more })
const shape = (rows: ReturnType<typeof sessionRows>) =>
  rows.map((row) => (row.kind === 'group' ? `[${row.label}]` : row.entry.id))
const open = { collapsed: new Set<string>() }

test('S-46 groups come newest first, and equal folder names show enough path to differ', () => {
  const rows = sessionRows(
    [entry('a', '/home/ada/api', 1), entry('b', '/work/api', 5), entry('c', '/home/ada/notes', 3)],
    open,
  )
  expect(shape(rows)).toEqual(['[work/api]', 'b', '[notes]', 'c', '[ada/api]', 'a'])
})

test('S-47 in a group: pinned first, latest pin first, then by time, then by id', () => {
  const rows = sessionRows(
    [
      entry('old', '/w', 1),
      entry('a', '/w', 7),
      entry('b', '/w', 7),
      entry('pin1', '/w', 2, { pinnedAt: 10 }),
      entry('pin2', '/w', 1, { pinnedAt: 20 }),
    ],
    open,
  )
  expect(shape(rows)).toEqual(['[w]', 'pin2', 'pin1', 'b', 'a', 'old'])
})

test('S-47 a title never moves an entry', () => {
  const entries = [entry('a', '/w', 3), entry('b', '/w', 2)]
  const renamed = [entry('a', '/w', 3, { title: 'zzz' }), entry('b', '/w', 2, { title: 'AAA' })]
  expect(shape(sessionRows(renamed, open))).toEqual(shape(sessionRows(entries, open)))
})

test('S-46 folded groups keep their count; a filter unfolds what it finds', () => {
  const entries = [entry('fix', '/w', 2), entry('port', '/w', 1)]
  const folded = sessionRows(entries, { collapsed: new Set(['/w']) })
  expect(folded).toEqual([{ kind: 'group', key: '/w', label: 'w', workspace: '/w', count: 2, collapsed: true }])
  expect(shape(sessionRows(entries, { collapsed: new Set(['/w']), filter: 'PORT' }))).toEqual(['[w]', 'port'])
})

test('S-46 a workspace without sessions is listed, except under a filter', () => {
  expect(shape(sessionRows([], { ...open, workspaces: ['/w'] }))).toEqual(['[w]'])
  expect(shape(sessionRows([], { ...open, workspaces: ['/w'], filter: 'x' }))).toEqual([])
})

test('labels differ wherever paths differ', () => {
  const part = fc.constantFrom('a', 'b', 'src')
  fc.assert(
    fc.property(
      fc.uniqueArray(
        fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => `/${parts.join('/')}`),
        { maxLength: 6 },
      ),
      (paths) => {
        const labels = folderLabels(paths)
        for (const path of paths) expect(path.endsWith(labels.get(path)!)).toBe(true)
        // One path may end in the whole of another; only then a label may repeat.
        const apart = paths.flatMap((path) =>
          paths
            .filter((other) => path !== other && !path.endsWith(other) && !other.endsWith(path))
            .map((other) => [path, other] as const),
        )
        for (const [path, other] of apart) expect(labels.get(path)).not.toBe(labels.get(other))
      },
    ),
  )
})
