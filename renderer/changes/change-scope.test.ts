import { expect, test } from 'vitest'
import type { ChangedFile, Turn } from '../../preload/contract/session.ts'
import { change, turn } from '../transcript/fixtures.ts'
import { countFiles, filesInScope, unfoldsItself } from './change-scope.ts'

const turns: Turn[] = [turn('t1'), turn('t2'), turn('t3')]
const made = (id: string, turnId: string, path: string, more: Partial<ChangedFile> = {}): ChangedFile => ({
  ...change(id, turnId, path, 1, 1),
  ...more,
})

test('F-1304 the newest turn with changes is shown first', () => {
  const changes = [made('1', 't1', 'a'), made('2', 't2', 'b')]
  expect(filesInScope(changes, turns, 'latest').map(({ path }) => path)).toEqual(['b'])
  expect(filesInScope(changes, turns, 't1').map(({ path }) => path)).toEqual(['a'])
})

test('F-1304 the whole session: per file the first before and the last after, sums of lines', () => {
  const changes = [
    made('1', 't1', 'a', { kind: 'created', before: null, after: 'x', added: 3, removed: 0 }),
    made('2', 't3', 'a', { before: 'x', after: 'y', added: 2, removed: 1 }),
  ]
  expect(filesInScope(changes, turns, 'session')).toMatchObject([
    { path: 'a', kind: 'created', added: 5, removed: 1, changes: [{ id: '1' }, { id: '2' }] },
  ])
})

test('F-901 what ends as it began is no change', () => {
  const back = [made('1', 't1', 'a', { before: 'x', after: 'y' }), made('2', 't2', 'a', { before: 'y', after: 'x' })]
  const gone = [
    made('3', 't1', 'b', { kind: 'created', before: null }),
    made('4', 't2', 'b', { kind: 'deleted', after: null }),
  ]
  expect(filesInScope([...back, ...gone], turns, 'session')).toEqual([])
})

test('F-906 a renamed file is one row under its new name, also where it was edited since', () => {
  const moved = [
    made('1', 't1', 'old.ts', { kind: 'deleted', after: null }),
    made('2', 't1', 'new.ts', { kind: 'renamed', from: 'old.ts', before: null }),
    made('3', 't2', 'new.ts'),
  ]
  const rows = (scope: string) => filesInScope(moved, turns, scope).map(({ path, kind }) => [path, kind])
  expect(rows('t1')).toEqual([['new.ts', 'renamed']])
  expect(rows('session')).toEqual([['new.ts', 'renamed']])
  expect(countFiles(moved)).toBe(1)
})

test('F-905 a file unfolds by itself up to 300 changed lines; one without counts never', () => {
  expect(unfoldsItself({ added: 200, removed: 100 })).toBe(true)
  expect(unfoldsItself({ added: 200, removed: 101 })).toBe(false)
  expect(unfoldsItself({ added: null, removed: null })).toBe(false)
})
