import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { temporaryPrefix } from './atomic-write.ts'
import { makeWorkspace, type TestWorkspace } from './test-workspace.ts'
import { Watching, type WatchingOptions } from './watching.ts'

let workspace: TestWorkspace
let watching: Watching | null = null
let told: (string[] | 'rescan')[] = []
let presence: boolean[] = []
let refused: string[] = []

beforeEach(async () => {
  workspace = await makeWorkspace()
  told = []
  presence = []
  refused = []
})
afterEach(async () => {
  await watching?.dispose()
  await workspace[Symbol.asyncDispose]()
})

async function watch(more: Partial<WatchingOptions> = {}): Promise<void> {
  watching = new Watching({
    changed: (_, paths) => told.push(paths),
    presence: (_, present) => presence.push(present),
    refused: (_, reason) => refused.push(reason),
    ...more,
  })
  watching.watch(workspace.folder)
  await watching.ready()
}

const seen = () => new Set(told.flatMap((paths) => (paths === 'rescan' ? ['rescan'] : paths)))

test('F-1110 F-1111 changes are told by path, those of the gate’s temporary files and of folders never entered are not', async () => {
  await mkdir(join(workspace.folder, 'node_modules'))
  await watch()
  await workspace.put(`${temporaryPrefix}1`, 'x')
  await workspace.put('node_modules/x.js', 'x')
  await workspace.put('src/a b.txt', 'x')
  await expect.poll(() => seen().has('src/a b.txt'), { timeout: 10_000 }).toBe(true)
  await rm(join(workspace.folder, 'src/a b.txt'))
  await workspace.put('last.txt', 'x')
  await expect.poll(() => seen().has('last.txt'), { timeout: 10_000 }).toBe(true)
  expect([...seen()].filter((path) => path.includes('node_modules/') || path.includes(temporaryPrefix))).toEqual([])
})

test('F-1110 what is made at once in new folders, at any depth, is told, and so is what is made there later', async () => {
  await watch()
  for (let at = 0; at < 20; at++) await workspace.put(`made${at}/in/one/go/x.js`, 'x')
  let written = 0
  const isTold = async (): Promise<boolean> => {
    written++
    for (let at = 0; at < 20; at++) await workspace.put(`made${at}/in/one/go/later${written}.js`, 'x')
    return Array.from({ length: 20 }).every((_, at) =>
      [...seen()].some((path) => path.startsWith(`made${at}/in/one/go/later`)),
    )
  }
  await expect.poll(isTold, { timeout: 20_000, interval: 300 }).toBe(true)
}, 30_000)

test('F-1110 F-802 what ignore files leave out is not told, until they do so no more', async () => {
  await workspace.put('.gitignore', 'dist/\n*.log\n!keep.log\n')
  await workspace.put('packages/a/.gitignore', 'out\n')
  await watch()
  for (const path of ['dist/deep/x.js', 'a.log', 'packages/a/out/x', 'packages/dist/y']) await workspace.put(path, 'x')
  await workspace.put('packages/a/keep.log', 'x')
  await workspace.put('last.txt', 'x')
  await expect.poll(() => seen().has('last.txt') && seen().has('packages/a/keep.log'), { timeout: 10_000 }).toBe(true)
  expect([...seen()].filter((path) => /dist\/|a\.log|out\//.test(path))).toEqual([])
  await workspace.put('.gitignore', '*.log\n')
  await expect.poll(() => seen().has('rescan'), { timeout: 10_000 }).toBe(true)
  // What comes together with another event of the ignore file is part of another rescan.
  let written = 0
  const isTold = async (): Promise<boolean> => {
    await workspace.put(`dist/deep/z${++written}.js`, 'x')
    return [...seen()].some((path) => path.startsWith('dist/deep/z'))
  }
  await expect.poll(isTold, { timeout: 10_000, interval: 300 }).toBe(true)
})

test('F-1110 many changes at once, and lost ones, are a rescan', async () => {
  let emit: (error: Error | null, paths: string[]) => void = () => {}
  await watch({
    subscribe: async (folder, take) => {
      emit = (error, paths) =>
        take(
          error,
          paths.map((path) => ({ type: 'update', path: join(folder, path) })),
        )
      return { unsubscribe: async () => {} }
    },
  })
  emit(
    null,
    Array.from({ length: 501 }, (_, at) => `f${at}`),
  )
  await expect.poll(() => told).toEqual(['rescan'])
  emit(new Error('Events were dropped'), [])
  await expect.poll(() => told.length).toBeGreaterThan(1)
  expect(told.every((one) => one === 'rescan')).toBe(true)
})

test('F-1110 where the system refuses watches, that is told once', async () => {
  const subscribe = async () => {
    throw new Error('inotify_add_watch: No space left on device')
  }
  await watch({ subscribe })
  expect(refused).toEqual(['inotify_add_watch: No space left on device'])
})

test('F-1113 a folder that goes is told', async () => {
  await watch()
  await rm(workspace.folder, { recursive: true })
  await expect.poll(() => presence, { timeout: 10_000 }).toEqual([false])
})
