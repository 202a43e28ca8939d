import { expect, test } from 'vitest'
import type { TreeNode } from '../../preload/contract/file-routes.ts'
import { type Folder, foldersAbove, inWorkspace, sortNodes, treeRows } from './file-tree.ts'

const node = (path: string, kind: TreeNode['kind'] = 'file'): TreeNode => ({
  path,
  kind,
  name: path.split('/').at(-1)!,
  bytes: null,
  ignored: false,
})

test('folders come first, names as people count', () => {
  expect(sortNodes([node('part10.ts'), node('part2.ts'), node('zoo', 'folder')]).map(({ name }) => name)).toEqual([
    'zoo',
    'part2.ts',
    'part10.ts',
  ])
})

test('only open folders show what is in them, and each state of one has its row', () => {
  const folders = new Map<string, Folder>([
    ['', { state: 'ready', nodes: [node('src', 'folder'), node('docs', 'folder'), node('a.ts')] }],
    ['docs', { state: 'ready', nodes: [] }],
  ])
  expect(treeRows(folders, new Set()).map((row) => row.kind)).toEqual(['node', 'node', 'node'])
  const rows = treeRows(folders, new Set(['src', 'docs']))
  expect(rows.map((row) => (row.kind === 'node' ? row.node.path : `${row.kind} ${row.depth}`))).toEqual([
    'src',
    'loading 1',
    'docs',
    'empty 1',
    'a.ts',
  ])
  expect(rows[0]).toMatchObject({ position: 1, size: 3, open: true })
})

test('a file is revealed by opening the folders above it', () => {
  expect(foldersAbove('a/b/c.ts')).toEqual(['a', 'a/b'])
  expect(foldersAbove('c.ts')).toEqual([])
})

test('paths are taken relative to their workspace where they are below it', () => {
  expect(inWorkspace('/home/ada/lathe', '/home/ada/lathe/src/a.ts')).toBe('src/a.ts')
  expect(inWorkspace('/home/ada/lathe/', './src/a.ts')).toBe('src/a.ts')
  expect(inWorkspace('/home/ada/lathe', '/home/ada/lathe2/a.ts')).toBe('/home/ada/lathe2/a.ts')
})
