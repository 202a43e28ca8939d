import { createHash } from 'node:crypto'
import { chmod, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { LatheError } from '../../preload/contract/errors.ts'
import { Drafts } from './drafts.ts'
import { saveText } from './saving.ts'
import { codeOf, makeWorkspace, type TestWorkspace } from './test-workspace.ts'
import { viewFile } from './tree.ts'

let workspace: TestWorkspace
beforeEach(async () => void (workspace = await makeWorkspace()))
afterEach(() => workspace[Symbol.asyncDispose]())

const hash = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex')
const never = new AbortController().signal
const resolve = (path: string) => workspace.paths.resolve(workspace.place, path)
const bytesOf = (path: string) => readFile(join(workspace.folder, path))
async function save(path: string, text: string, base: string | null, signal = never): Promise<string> {
  const { gate, workers, place } = workspace
  const recorded = async (ids: readonly string[]) => expect(ids).toHaveLength(1)
  return saveText({ gate, workers, recorded }, place, await resolve(path), { text, base }, signal)
}

test('F-912 F-519 F-520 what the person saves keeps encoding, mark, line ends, the missing last one and the mode', async () => {
  const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('a\r\nb\nc', 'utf16le')])
  await workspace.put('wide', utf16)
  await chmod(join(workspace.folder, 'wide'), 0o750)
  const opened = await viewFile(await resolve('wide'))
  expect(opened).toMatchObject({ text: 'a\r\nb\nc', version: hash(utf16), readOnly: null })
  const version = await save('wide', 'a\nB\nc', hash(utf16))
  const now = await bytesOf('wide')
  expect(now).toEqual(Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('a\r\nB\nc', 'utf16le')]))
  expect(version).toBe(hash(now))
  expect((await stat(join(workspace.folder, 'wide'))).mode & 0o777).toBe(0o750)

  await workspace.put('western', Buffer.from('caf\xe9 au lait\n', 'latin1'))
  await save('western', 'caf\u{e9} noir\n', hash(await bytesOf('western')))
  expect(await bytesOf('western')).toEqual(Buffer.from('caf\xe9 noir\n', 'latin1'))
  expect(await codeOf(save('western', '日\n', hash(await bytesOf('western'))))).toBe('file.unencodable')
})

test('F-912 F-602 a file that somebody else changed is not saved over, before and at the gate', async () => {
  await workspace.put('a', 'one\n')
  const base = hash('one\n')
  await workspace.put('a', 'theirs\n')
  expect(await codeOf(save('a', 'mine\n', base))).toBe('file.stale')
  expect(await workspace.read('a')).toBe('theirs\n')

  workspace.reached = async (point) => void (point === 'matched' && (await workspace.put('a', 'later\n')))
  expect(await codeOf(save('a', 'mine\n', hash('theirs\n')))).toBe('file.stale')
  expect(await workspace.read('a')).toBe('later\n')
  workspace.reached = () => {}

  await rm(join(workspace.folder, 'a'))
  expect(await codeOf(save('a', 'mine\n', hash('later\n')))).toBe('file.stale')
  await save('a', 'mine\n', null)
  expect(await workspace.read('a')).toBe('mine\n')
})

test('S-31 F-601 who loses the right to while a file waits at the gate does not write it', async () => {
  await workspace.put('a', 'one\n')
  const acting = new AbortController()
  workspace.reached = (point) =>
    void (point === 'matched' && acting.abort(new LatheError('access.denied', 'Only watching.')))
  expect(await codeOf(save('a', 'mine\n', hash('one\n'), acting.signal))).toBe('access.denied')
  expect(await workspace.read('a')).toBe('one\n')
})

test('F-203 F-612 a file that cannot be saved as it is says so when it is opened', async () => {
  await workspace.put(
    'broken',
    Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('ab', 'utf16le'), Buffer.from([0x41])]),
  )
  expect((await viewFile(await resolve('broken'))).readOnly).toContain('encoding')
  await workspace.put('long', 'x'.repeat(100))
  expect(await viewFile(await resolve('long'), 10)).toMatchObject({ version: null, truncated: true })
})

function heldDrafts(): Drafts {
  const values = new Map<string, unknown>()
  return new Drafts({
    value: async (name) => values.get(name) ?? null,
    setValue: async (name, value) => void values.set(name, value),
  })
}

test('edits that were not saved are kept by file until they are let go', async () => {
  const drafts = heldDrafts()
  const me = { source: 'w1', over: null }
  await Promise.all([
    drafts.set('/w', 'a', { text: 'A', base: 'v1' }, me),
    drafts.set('/w', 'b', { text: 'B', base: null }, me),
    drafts.set('/other', 'a', { text: 'C', base: 'v2' }, me),
  ])
  await drafts.set('/w', 'a', { text: 'AA', base: 'v1' }, me)
  expect(await drafts.paths('/w')).toEqual(['a', 'b'])
  expect(await drafts.get('/w', 'a')).toMatchObject({ text: 'AA', base: 'v1' })
  await drafts.set('/w', 'a', null, me)
  expect([await drafts.paths('/w'), await drafts.get('/w', 'a')]).toEqual([['b'], null])
  expect(await drafts.get('/other', 'a')).toMatchObject({ text: 'C', base: 'v2' })
})

test('S-101 edits of another window are not overwritten unless they were seen, and not let go with this one’s', async () => {
  const drafts = heldDrafts()
  const [one, other] = ['w1', 'w2']
  const first = await drafts.set('/w', 'a', { text: 'one', base: 'v1' }, { source: one, over: null })
  const theirs = drafts.set('/w', 'a', { text: 'other', base: 'v1' }, { source: other, over: null })
  await expect(theirs).rejects.toMatchObject({ code: 'file.stale' })
  // What is the other window's own goes on, whatever it last saw.
  const second = await drafts.set('/w', 'a', { text: 'one more', base: 'v1' }, { source: one, over: null })
  const stale = drafts.set('/w', 'a', { text: 'other', base: 'v1' }, { source: other, over: first })
  await expect(stale).rejects.toMatchObject({ code: 'file.stale' })
  expect(await drafts.set('/w', 'a', null, { source: other, over: null })).toBe(second)
  expect(await drafts.get('/w', 'a')).toMatchObject({ text: 'one more' })
  await drafts.set('/w', 'a', { text: 'chosen', base: 'v1' }, { source: other, over: second })
  expect(await drafts.get('/w', 'a')).toMatchObject({ text: 'chosen' })
})
