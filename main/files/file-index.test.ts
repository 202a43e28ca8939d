import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { listFiles } from './file-search.ts'
import { FileIndex } from './file-index.ts'
import { RecentFiles } from './recent-files.ts'
import { SearchProgram } from './search-program.ts'
import { makeWorkspace, type TestWorkspace } from './test-workspace.ts'
import { Watching } from './watching.ts'

let workspace: TestWorkspace
let watching: Watching
let index: FileIndex
let listings = 0

beforeEach(async () => {
  workspace = await makeWorkspace()
  listings = 0
  const program = new SearchProgram({ paths: workspace.paths, env: {} })
  index = new FileIndex({
    list: async (root) => {
      listings++
      return (await listFiles(program, root, 200_000, AbortSignal.timeout(60_000))).paths
    },
    isWatched: (folder) => watching.isWatched(folder),
  })
  watching = new Watching({
    changed: (folder, paths) => index.changed(folder, paths),
    presence: () => {},
    refused: () => {},
  })
})
afterEach(async () => {
  await watching.dispose()
  await workspace[Symbol.asyncDispose]()
})

async function find(text: string, { folders = false, recent = [] as string[] } = {}): Promise<string[]> {
  const root = await workspace.paths.resolve(workspace.place, '.')
  return index.find(workspace.folder, root, { text, folders, limit: 50, recent })
}
const soon = (text: string, options = {}) => expect.poll(() => find(text, options), { timeout: 20_000 })

test('F-819 F-1112 files that come and go are found and gone by the watcher’s word, without a new listing', async () => {
  await workspace.put('.gitignore', '*.log\n')
  await workspace.put('src/old.ts', 'x')
  watching.watch(workspace.folder)
  await watching.ready()
  expect(await find('old')).toEqual(['src/old.ts'])
  await workspace.put('src/brand-new.ts', 'x')
  await workspace.put('src/noise.log', 'x')
  await soon('brand').toEqual(['src/brand-new.ts'])
  await rm(join(workspace.folder, 'src/old.ts'))
  await soon('old').toEqual([])
  expect(await find('noise')).toEqual([])
  expect(listings).toBe(1)
  expect(await find('')).toEqual(['.gitignore', 'src/brand-new.ts'])
})

test('F-819 a folder that is moved takes its files along, and an emptied one is offered no more', async () => {
  await workspace.put('a/deep/one.ts', 'x')
  watching.watch(workspace.folder)
  await watching.ready()
  expect(await find('', { folders: true })).toEqual(['a/deep/one.ts', 'a/', 'a/deep/'])
  await mkdir(join(workspace.folder, 'b'))
  await rename(join(workspace.folder, 'a/deep'), join(workspace.folder, 'b/far'))
  await soon('', { folders: true }).toEqual(['b/far/one.ts', 'b/', 'b/far/'])
})

test('F-819 F-1110 where nobody tells of changes the list is made again, and made once more when somebody does', async () => {
  await workspace.put('one.ts', 'x')
  expect(await find('one')).toEqual(['one.ts'])
  expect(await find('one')).toEqual(['one.ts'])
  expect(listings).toBe(1)
  watching.watch(workspace.folder)
  await watching.ready()
  await workspace.put('two.ts', 'x')
  expect(await find('two')).toEqual(['two.ts'])
  expect(listings).toBe(2)
})

test('S-111 files used lately come first: all of them where nothing is typed, among what fits as well where something is', async () => {
  const values = new Map<string, unknown>()
  const store = {
    value: async (name: string) => values.get(name) ?? null,
    setValue: async (name: string, value: unknown) => void values.set(name, value),
  }
  const recent = new RecentFiles(store)
  for (const path of ['a/page.ts', 'b/page.ts', 'c/page.ts', 'c/spare-gear.ts']) await workspace.put(path, 'x')
  for (const path of ['gone.ts', 'c/spare-gear.ts', 'b/page.ts', 'c/page.ts', 'b/page.ts'])
    recent.note(workspace.folder, path)
  const used = [...(await recent.of(workspace.folder))]
  expect(used).toEqual(['b/page.ts', 'c/page.ts', 'c/spare-gear.ts', 'gone.ts'])
  expect(await find('', { recent: used })).toEqual(['b/page.ts', 'c/page.ts', 'c/spare-gear.ts', 'a/page.ts'])
  // What only holds the letters does not pass what holds the word.
  expect(await find('page', { recent: used })).toEqual(['b/page.ts', 'c/page.ts', 'a/page.ts', 'c/spare-gear.ts'])
  await recent.save()
  expect(await new RecentFiles(store).of(workspace.folder)).toEqual(used)
})
