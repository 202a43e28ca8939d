import { mkdir, open, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { codeOf, failureOf, makeWorkspace, type TestWorkspace } from '../files/test-workspace.ts'
import { watchTurns } from '../platform/test-loop.ts'
import { schemaOf } from './arguments.ts'
import { FileTools } from './test-context.ts'

let workspace: TestWorkspace
let tools: FileTools

beforeEach(async () => {
  workspace = await makeWorkspace()
  tools = new FileTools(workspace)
})
afterEach(() => workspace[Symbol.asyncDispose]())

const read = (path: string, more: Record<string, unknown> = {}) => tools.text('read_file', { path, ...more })
const write = (path: string, content: string) => tools.call('write_file', { path, content })
const edit = (path: string, old_text: string, new_text: string, more: Record<string, unknown> = {}) =>
  tools.call('edit_file', { path, old_text, new_text, ...more })
const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => `line ${from + at}`).join('\n')

describe('read_file', () => {
  test('FA-5 F-301 F-302 F-303 pages of numbered lines, and how to go on', async () => {
    await workspace.put('a.txt', `${numbered(1, 3_000)}\n`)
    const first = await read('a.txt')
    expect(first.split('\n').slice(0, 2)).toEqual(['1| line 1', '2| line 2'])
    expect(first.endsWith('2000| line 2000\n[lines 1-2000; continue at offset 2001]')).toBe(true)
    expect(await read('a.txt', { offset: 3_000 })).toBe('3000| line 3000\n[end of file, 3000 lines]')
    expect(await failureOf(tools.call('read_file', { path: 'a.txt', offset: 3_001 }))).toMatchObject({
      code: 'file.offset_past_end',
      data: { lines: 3_000 },
    })
  })

  test('FA-5 F-302 long lines are clipped, and the reply ends before its limit', async () => {
    await workspace.put('long.txt', 'x'.repeat(5_000_000))
    expect(await read('long.txt')).toBe(
      `1| ${'x'.repeat(2_000)}... (4998000 characters left out)\n[end of file, 1 line, no line end after the last]`,
    )
    await workspace.put('wide.txt', `${'y'.repeat(1_999)}\n`.repeat(200))
    const text = await read('wide.txt')
    expect(text.length).toBeLessThanOrEqual(128_000)
    expect(text.endsWith('[lines 1-63; continue at offset 64]')).toBe(true)
    await workspace.put('pairs.txt', `a${'😀'.repeat(2_000)}\n`)
    expect((await read('pairs.txt')).isWellFormed()).toBe(true)
  })

  test('F-301 F-203 what is unusual about a file stands in its frame', async () => {
    await workspace.put('crlf', 'a\r\nb\r\n')
    await workspace.put('mixed', 'a\r\nb\n\nc')
    await workspace.put('old', Buffer.from('caf\xe9\n', 'latin1'))
    await workspace.put('utf16', Buffer.from('\ufeffone\r\ntwo\r\n', 'utf16le'))
    await workspace.put('mac', 'a\rb')
    await workspace.put('empty', '')
    expect(await read('crlf')).toBe('[CRLF line ends]\n1| a\n2| b\n[end of file, 2 lines]')
    expect(await read('mixed')).toBe(
      '[mixed line ends]\n1| a\n2| b\n3| \n4| c\n[end of file, 4 lines, no line end after the last]',
    )
    expect(await read('old')).toBe('[encoding windows-1252]\n1| café\n[end of file, 1 line]')
    expect(await read('utf16')).toBe('[encoding utf-16le; CRLF line ends]\n1| one\n2| two\n[end of file, 2 lines]')
    expect(await read('mac')).toBe('[CR line ends]\n1| a\n2| b\n[end of file, 2 lines, no line end after the last]')
    expect(await read('empty')).toBe('(empty file)')
  })

  test('FA-6 F-306 an equal read is a short note, until the file or the context changed', async () => {
    const file = await workspace.put('a.txt', 'aaaa\n')
    const { mtime } = await stat(file)
    const content = await read('a.txt')
    const again = await read('a.txt')
    expect(again).toContain('unchanged since')
    expect(again).toContain('item c1')
    expect(again.length).toBeLessThan(300)
    expect(await read('a.txt', { force: true })).toBe(content)
    expect(await read('a.txt', { limit: 5 })).toBe(content)
    for (const call of ['c1', 'c3']) tools.compacted.add(call)
    expect(await read('a.txt')).toBe(content)
    await writeFile(file, 'bbbb\n')
    await utimes(file, mtime, mtime)
    expect(await read('a.txt')).toBe('1| bbbb\n[end of file, 1 line]')
  })

  test('FA-7 F-305 a huge file costs neither time nor memory', async () => {
    const handle = await open(join(workspace.folder, 'huge.log'), 'w')
    await handle.write(`${numbered(1, 50_000)}\n`)
    await handle.truncate(6 * 1024 ** 3)
    await handle.close()
    const before = process.memoryUsage.rss()
    expect(await read('huge.log', { offset: 10, limit: 2 })).toBe(
      '10| line 10\n11| line 11\n[lines 10-11; continue at offset 12]',
    )
    expect(process.memoryUsage.rss() - before).toBeLessThan(16 * 1024 ** 2)
  })

  test('F-305 seeking ends with the budget, and with a stop', async () => {
    const handle = await open(join(workspace.folder, 'huge.log'), 'w')
    await handle.write(`${numbered(1, 50_000)}\n`)
    await handle.truncate(6 * 1024 ** 3)
    await handle.close()
    const stop = new AbortController()
    const reading = tools.call('read_file', { path: 'huge.log', offset: 60_000 }, stop.signal)
    stop.abort(new Error('stopped'))
    await expect(reading).rejects.toThrow('stopped')
  })

  test('FA-8 F-307 F-308 type is decided by content', async () => {
    const png = Buffer.from('89504e470d0a1a0a0000000d4948445200000280000001e008020000', 'hex')
    await workspace.put('a.txt', png)
    await workspace.put('a.png', 'just text\n')
    await workspace.put('a.bin', Buffer.from([1, 2, 3, 0, 5]))
    await workspace.put('a.zip', Buffer.from('504b030400000000', 'hex'))
    expect(await read('a.txt')).toContain('image/png, 640x480 pixels, 28 bytes')
    expect(await read('a.png')).toBe('1| just text\n[end of file, 1 line]')
    expect(await codeOf(tools.call('read_file', { path: 'a.bin' }))).toBe('file.binary')
    expect((await failureOf(tools.call('read_file', { path: 'a.zip' }))).message).toContain('application/zip, 8 bytes')
  })

  test('FA-8 F-307 F-1221 a picture comes as one the model can see, small enough, its real size told', async () => {
    const picture = await sharp({ create: { width: 3_000, height: 1_500, channels: 3, background: 'teal' } })
      .png()
      .toBuffer()
    await workspace.put('chart.txt', picture)
    const { text, view } = await tools.call('read_file', { path: 'chart.txt' })
    expect(text).toContain('image/png, 3000x1500 pixels')
    expect(text).toContain('shown at 2000x1000 of 3000x1500')
    expect(view?.image).toMatchObject({ mediaType: 'image/png', width: 2_000, height: 1_000 })
    expect(await workspace.blobs.get(view!.image!.hash)).toBeDefined()
  })

  test('F-309 reading may run beside other calls', () => {
    const concurrent = ['read_file', 'find_files', 'grep', 'list_dir', 'write_file', 'edit_file'].map(
      (name) => tools.tool(name).concurrent,
    )
    expect(concurrent).toEqual([true, true, true, true, false, false])
  })

  test('F-310 F-101 a reference is read like a file, one the session does not have is not found', async () => {
    tools.references.set('exec:e1', Buffer.from('out\nput\n'))
    await workspace.put('exec:e1', 'a file of that name')
    expect(await read('exec:e1', { offset: 2 })).toBe('2| put\n[end of file, 2 lines]')
    expect(await read('./exec:e1')).toContain('a file of that name')
    expect(await codeOf(tools.call('read_file', { path: `output:${'0'.repeat(64)}` }))).toBe('file.not_found')
  })

  test('F-303 F-304 folders and missing files', async () => {
    await workspace.put('src/main.ts', '')
    expect(await failureOf(tools.call('read_file', { path: 'src' }))).toMatchObject({
      code: 'file.is_directory',
      hint: expect.stringContaining('list_dir'),
    })
    expect(await failureOf(tools.call('read_file', { path: 'src/mian.ts' }))).toMatchObject({
      code: 'file.not_found',
      hint: expect.stringContaining('src/main.ts'),
    })
  })

  test('F-105 Z-80 the plan says where a path leads and what is secret', async () => {
    await symlink('/etc', join(workspace.folder, 'l'))
    await workspace.put('.env', 'A=1')
    expect(await tools.plan('read_file', { path: 'l/hosts' })).toMatchObject({
      effects: [{ kind: 'read', path: '/etc/hosts', inside: false }],
      preview: { detail: 'l/hosts → /etc/hosts' },
    })
    expect(await tools.plan('read_file', { path: '.env' })).toMatchObject({
      effects: [{ kind: 'read', inside: true, secret: true }],
    })
  })

  test('FA-3 F-106 what was judged is what is read', async () => {
    await workspace.put('sub/a', 'mine')
    await workspace.put('../outside/a', 'theirs')
    const context = tools.context()
    const input = { path: 'sub/a', offset: 1, limit: 10, force: false }
    await tools.tool('read_file').plan(input, context)
    await rm(join(workspace.folder, 'sub'), { recursive: true })
    await symlink('../outside', join(workspace.folder, 'sub'))
    expect(await codeOf(tools.tool('read_file').run(input, context))).toBe('path.swapped')
  })

  test('X-705 numbers that shape the reply are clamped, and the schema tells their range', async () => {
    await workspace.put('a', 'x\n')
    expect(await read('a', { offset: '0', limit: 99_999 })).toBe('1| x\n[end of file, 1 line]')
    expect(schemaOf(tools.tool('read_file'))).toMatchObject({
      required: ['path'],
      properties: { limit: { type: 'integer', minimum: 1, maximum: 20_000, default: 2_000 } },
    })
  })
})

describe('write_file', () => {
  test('F-501 F-503 a new file with its folders, then no change', async () => {
    const result = await write('a/b/c.txt', 'one\ntwo\n')
    expect(result).toMatchObject({
      text: 'Created a/b/c.txt: 2 lines, 8 bytes.',
      changes: [{ path: 'a/b/c.txt', kind: 'created', added: 2 }],
    })
    expect((await write('a/b/c.txt', 'one\ntwo\n')).text).toBe('No change: a/b/c.txt already has this content.')
    expect((await write('a/b/c.txt', 'one\n')).text).toContain('Replaced')
  })

  test('F-501 replacing keeps encoding, mark and uniform line ends', async () => {
    await workspace.put('a', Buffer.from('\ufeffone\r\ntwo\r\n', 'utf16le'))
    await read('a')
    await write('a', 'three\nfour\n')
    expect((await workspace.read('a')).length).toBeGreaterThan(0)
    expect(await read('a')).toBe('[encoding utf-16le; CRLF line ends]\n1| three\n2| four\n[end of file, 2 lines]')
    await workspace.put('mixed', 'a\r\nb\n')
    await read('mixed')
    await write('mixed', 'c\nd\n')
    expect(await workspace.read('mixed')).toBe('c\nd\n')
  })

  test('FA-18 F-502 F-207 a file that was not read, or changed since, is not replaced', async () => {
    await workspace.put('a.txt', '0123456789')
    await workspace.put('empty.txt', '')
    expect(await codeOf(write('a.txt', 'x'))).toBe('file.not_read')
    expect((await write('empty.txt', 'x')).isError).toBe(false)
    await read('a.txt')
    await workspace.put('a.txt', '0123456789\nby hand\n')
    const error = await failureOf(write('a.txt', 'x'))
    expect([error.code, error.message.includes('+by hand')]).toEqual(['file.stale', true])
    expect(await workspace.read('a.txt')).toBe('0123456789\nby hand\n')
  })

  test('F-502 after a write of its own the session has seen the file', async () => {
    await write('a.txt', 'one\n')
    await write('a.txt', 'two\n')
    await workspace.put('a.txt', 'two\nhand\n')
    expect((await failureOf(write('a.txt', 'x'))).message).toContain('+hand')
  })

  test('Z-45 Z-80 the plan tells creates from edits, and what is protected', async () => {
    await workspace.put('AGENTS.md', 'x')
    expect(await tools.plan('write_file', { path: 'new.txt', content: 'a\n' })).toMatchObject({
      effects: [{ kind: 'write', change: 'create', protected: false, inside: true }],
      preview: { detail: '--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+a\n' },
    })
    expect(await tools.plan('write_file', { path: 'AGENTS.md', content: 'y' })).toMatchObject({
      effects: [{ change: 'edit', protected: true }],
    })
    await mkdir(join(workspace.folder, 'folder'))
    expect(await codeOf(tools.plan('write_file', { path: 'folder', content: 'y' }))).toBe('file.is_directory')
  })
})

describe('edit_file', () => {
  test('F-510 an empty old_text creates or fills, and nothing else', async () => {
    expect((await edit('new.txt', '', 'a\n')).text).toContain('Created new.txt')
    await workspace.put('blank.txt', '\n \n')
    expect((await edit('blank.txt', '', 'a\n')).text).toContain('Filled blank.txt')
    expect(await codeOf(edit('blank.txt', '', 'b'))).toBe('edit.not_empty')
    expect(await codeOf(edit('blank.txt', 'a', 'a'))).toBe('edit.no_change')
    expect(await failureOf(edit('blanc.txt', 'a', 'b'))).toMatchObject({
      code: 'file.not_found',
      hint: 'Close names: blank.txt',
    })
  })

  test('FA-14 F-510 two choosers are refused', async () => {
    await workspace.put('a', 'foo foo')
    expect(await codeOf(edit('a', 'foo', 'x', { replace_all: true, occurrence: 1 }))).toBe('tool.invalid_arguments')
    await read('a')
    expect((await edit('a', 'foo', 'x', { replace_all: 'false', occurrence: '2' })).isError).toBe(false)
    expect(await workspace.read('a')).toBe('foo x')
  })

  test('FA-18 F-521 an unseen file is edited only by a unique exact match, with a warning', async () => {
    await workspace.put('a', 'one\n  two\none more\n')
    expect((await edit('a', '  two', '  2')).text).toMatch(/^Warning: .*\nEdited a: 1 replacement, now line 2\.$/)
    await workspace.put('b', 'one\n  two\none more\n')
    for (const [text, more] of [
      ['one', {}],
      ['one', { occurrence: 1 }],
      ['two ', {}],
      ['one', { replace_all: true }],
    ] as const) {
      expect([text, more, await codeOf(edit('b', text, 'x', more))]).toEqual([text, more, 'file.not_read'])
    }
    expect((await edit('b', 'one', 'x', { replace_all: true, expected_replacements: 2 })).isError).toBe(false)
  })

  test('K-09 F-521 a file saved by the person meanwhile is edited only if the text is still there once', async () => {
    await workspace.put('a', 'one\ntwo\nthree\n')
    await read('a')
    await workspace.put('a', 'one\nTWO\nthree\n')
    const refused = await failureOf(edit('a', 'two', '2'))
    expect(refused.code).toBe('file.stale')
    expect(refused.message).toContain('-two\n+TWO')
    expect((await edit('a', 'three', '3')).text).toContain('Note: this file changed after it was read')
    expect(await workspace.read('a')).toBe('one\nTWO\n3\n')
  })

  test('FA-19 F-602 an edit is made anew on what another program wrote in between', async () => {
    await workspace.put('a', 'one\ntwo\n')
    await read('a')
    let hand = false
    workspace.reached = async (point) => {
      if (point === 'matched' && !hand) {
        hand = true
        await workspace.put('a', 'zero\none\ntwo\n')
      }
    }
    expect((await edit('a', 'two', '2')).text).toContain('now line 3')
    expect(await workspace.read('a')).toBe('zero\none\n2\n')
  })

  test('FA-13 K-07 F-520 a script keeps its mode, its link and its missing last line end', async () => {
    await workspace.put('real.sh', 'a\r\nb')
    await symlink('real.sh', join(workspace.folder, 'link.sh'))
    await read('link.sh')
    await edit('link.sh', 'b', 'c')
    expect(await workspace.read('real.sh')).toBe('a\r\nc')
  })

  test('F-522 F-203 files that are too large, binary, or in another encoding', async () => {
    await workspace.put('big', 'x'.repeat(16 * 1024 * 1024 + 1))
    await workspace.put('bin', 'a\0b')
    expect(await codeOf(edit('big', 'x', 'y'))).toBe('file.too_large')
    expect(await codeOf(edit('bin', 'a', 'b'))).toBe('file.binary')
  })

  test('FA-17 F-512 a large file is edited in a worker, and the loop stays free', async () => {
    await workspace.put('big', `${'x'.repeat(100)} foo\n`.repeat(100_000))
    const longest = watchTurns()
    await read('big', { limit: 1 })
    const result = await edit('big', 'foo', 'bar', { replace_all: true })
    expect(longest()).toBeLessThan(250)
    expect(result.text).toContain('100000 replacements')
  })

  test('FA-20 T-8 a stop before the commit leaves everything as it was', async () => {
    await workspace.put('a', 'one\n')
    await read('a')
    const stop = new AbortController()
    workspace.reached = (point) => void (point === 'checked' && stop.abort(new Error('stopped')))
    await expect(tools.call('edit_file', { path: 'a', old_text: 'one', new_text: 'two' }, stop.signal)).rejects.toThrow(
      'stopped',
    )
    expect([await workspace.read('a'), await workspace.names(), workspace.intents.changes]).toEqual([
      'one\n',
      ['a'],
      [],
    ])
  })

  test('Z-47 the preview of a secret file tells nothing of it', async () => {
    await workspace.put('.env', 'TOKEN=abc\n')
    const plan = await tools.plan('edit_file', { path: '.env', old_text: 'TOKEN=', new_text: 'T=' })
    expect(plan).toMatchObject({ effects: [{ secret: true }] })
    expect(plan.preview.detail).not.toContain('abc')
    expect((await tools.plan('edit_file', { path: '.env', old_text: 'no such', new_text: 'T=' })).effects).toHaveLength(
      1,
    )
  })
})

test('F-311 a folder is listed with folders first, sizes, targets and marks', async () => {
  await workspace.put('b.txt', 'hello')
  await workspace.put('a/x', '')
  await workspace.put('node_modules/x', '')
  await workspace.put('debug.log', '')
  await workspace.put('.gitignore', '*.log\n')
  await symlink('..', join(workspace.folder, 'up'))
  expect(await tools.text('list_dir', {})).toBe(
    'a/\nnode_modules/  (ignored)\n.gitignore  6 bytes\nb.txt  5 bytes\ndebug.log  0 bytes  (ignored)\nup -> ..\n[6 entries]',
  )
  expect(await tools.text('list_dir', { limit: 2 })).toContain('[6 entries; continue at offset 2]')
  expect(await codeOf(tools.call('list_dir', { path: 'b.txt' }))).toBe('file.not_regular')
})
