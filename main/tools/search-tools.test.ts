import { chmod, mkdir, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findFiles } from '../files/file-search.ts'
import { parseGlob } from '../files/glob.ts'
import { countUnreadable } from '../files/search-program.ts'
import { codeOf, failureOf, makeWorkspace, type TestWorkspace } from '../files/test-workspace.ts'
import { FileTools } from './test-context.ts'

let workspace: TestWorkspace
let tools: FileTools

beforeEach(async () => {
  workspace = await makeWorkspace()
  tools = new FileTools(workspace)
})
afterEach(() => workspace[Symbol.asyncDispose]())

const find = async (args: Record<string, unknown> = {}): Promise<string[]> =>
  (await tools.text('find_files', args)).split('\n')
const grep = (args: Record<string, unknown>) => tools.text('grep', args)
const putAll = (...paths: string[]) => Promise.all(paths.map((path) => workspace.put(path, '')))
const touch = (path: string, seconds: number) => utimes(join(workspace.folder, path), seconds, seconds)

/** A program that prints the same path over and over, or nothing for ever. */
async function stubProgram(script: string): Promise<FileTools> {
  const file = await workspace.put('../stub.sh', `#!/bin/sh\n${script}\n`)
  await chmod(file, 0o755)
  return new FileTools(workspace, file)
}

describe('find_files', () => {
  test('F-802 ignore files hold without a repository, hidden files are listed, some folders never entered', async () => {
    await putAll(
      'a.ts',
      '.hidden/b.ts',
      'debug.log',
      'node_modules/x.js',
      'sub/venv/y.py',
      '.git/config',
      'sub/note.tmp',
      'sub/.ignore',
    )
    await workspace.put('.gitignore', '*.log\n')
    await workspace.put('sub/.ignore', '*.tmp\n')
    expect(await find()).toEqual(['.gitignore', '.hidden/b.ts', 'a.ts', 'sub/.ignore'])
    expect(await find({ no_ignore: true })).toEqual([
      '.gitignore',
      '.hidden/b.ts',
      'a.ts',
      'debug.log',
      'node_modules/x.js',
      'sub/.ignore',
      'sub/note.tmp',
      'sub/venv/y.py',
    ])
    expect(await find({ glob: '*.log' })).toEqual(['No files in . fit.'])
  })

  test('F-801 words, glob and type must all hold', async () => {
    await putAll('src/user/Login.ts', 'src/user/login.md', 'src/admin/login.ts', 'README.md')
    expect(await find({ query: 'USER login' })).toEqual(['src/user/Login.ts', 'src/user/login.md'])
    expect(await find({ glob: 'src/*/*.ts' })).toEqual(['src/admin/login.ts', 'src/user/Login.ts'])
    expect(await find({ glob: ' src\\**\\*.md ' })).toEqual(['src/user/login.md'])
    expect(await find({ glob: '*.{md,ts}', query: 'readme' })).toEqual(['README.md'])
    expect(await find({ path: 'src', glob: 'user/*' })).toEqual(['src/user/Login.ts', 'src/user/login.md'])
    expect(await find({ type: 'md' })).toEqual(['README.md', 'src/user/login.md'])
    expect((await failureOf(tools.call('find_files', { type: 'no such' }))).code).toBe('tool.invalid_arguments')
    expect((await failureOf(tools.call('find_files', { type: 'jso' }))).message).toContain('json')
    expect(await codeOf(tools.call('find_files', { glob: 'a[b' }))).toBe('tool.invalid_arguments')
  })

  test('FA-26 F-804 order is by segment, and pages follow each other', async () => {
    await putAll('a.txt', 'a/b', 'a-b', 'b', 'B', 'a/b.txt', 'Ä', '日本')
    const all = ['B', 'a/b', 'a/b.txt', 'a-b', 'a.txt', 'b', 'Ä', '日本']
    expect(await find()).toEqual(all)
    const pages = await Promise.all([0, 3, 6].map((offset) => find({ head_limit: 3, offset })))
    expect(pages.flat().filter((line) => !line.startsWith('['))).toEqual(all)
    expect(pages[0]!.at(-1)).toBe('[more; continue at offset 3]')
    expect(await find({ head_limit: 0 })).toEqual(all)
  })

  test('FA-27 F-804 newest first, equal times by path', async () => {
    await putAll('c', 'b', 'a', 'd')
    await Promise.all([touch('c', 2_000), touch('a', 1_000), touch('b', 1_000), touch('d', 3_000)])
    expect(await find({ sort: 'modified' })).toEqual(['d', 'c', 'a', 'b'])
    expect(await find({ sort: 'modified', head_limit: 2, offset: 1 })).toEqual([
      'c',
      'a',
      '[more; continue at offset 3]',
    ])
  })

  test('F-803 a file as path, folders on request, and a missing path', async () => {
    await putAll('src/a/x.ts', 'src/y.ts', 'empty.txt')
    await mkdir(join(workspace.folder, 'hollow'))
    expect(await find({ path: 'src/y.ts' })).toEqual(['src/y.ts'])
    expect(await find({ include_dirs: true })).toEqual(['./', 'empty.txt', 'src/', 'src/a/', 'src/a/x.ts', 'src/y.ts'])
    expect(await find({ include_dirs: true, path: 'src', query: 'src' })).toEqual([
      'src/',
      'src/a/',
      'src/a/x.ts',
      'src/y.ts',
    ])
    expect(await find({ include_dirs: true, type: 'ts' })).toEqual(['src/a/x.ts', 'src/y.ts'])
    expect(await codeOf(tools.call('find_files', { path: 'nowhere' }))).toBe('file.not_found')
  })

  test('K-11 FA-27 links to the parent or the root are not followed', async () => {
    await putAll('sub/a.txt')
    await symlink('..', join(workspace.folder, 'sub/up'))
    await symlink('/', join(workspace.folder, 'root'))
    expect(await find()).toEqual(['sub/a.txt'])
  })

  test('K-10 odd names come back as they are', async () => {
    const names = [
      'a b.txt',
      '日本語.txt',
      '😀.txt',
      `it's "q".txt`,
      '-rf',
      '$(x)`y`;&',
      'C:\\Users\\unicorn',
      'n'.repeat(255),
    ]
    await putAll(...names, 'new\nline')
    expect(
      (await tools.text('find_files', { head_limit: 0 }))
        .split('\n')
        .filter((line) => names.includes(line))
        .sort(),
    ).toEqual([...names].sort())
    await workspace.put('-rf', 'needle')
    await workspace.put('new\nline', 'needle')
    expect(await grep({ pattern: 'needle', path: '-rf' })).toBe('-rf:1\n>1| needle')
    expect(await grep({ pattern: 'needle', output_mode: 'count' })).toContain('new\nline: 1')
  })

  test('F-110 Z-46 Z-47 the data folder and stores of credentials are not searched', async () => {
    await workspace.put('../data/lathe.db', 'needle')
    await workspace.put('x', 'needle')
    await workspace.put('../home/.ssh/id', 'needle')
    const above = { path: '..' }
    expect(await tools.text('find_files', { ...above, no_ignore: true })).not.toContain('lathe.db')
    const hits = await grep({ ...above, pattern: 'needle', output_mode: 'files_with_matches' })
    expect(hits).toBe(join(workspace.folder, 'x'))
  })

  test(
    'FA-26 F-806 F-807 a walk without end stops with its budget, and at once with a stop',
    { timeout: 30_000 },
    async () => {
      const endless = await stubProgram(`while :; do printf './a\\000'; sleep 0.05; done`)
      const root = await workspace.paths.resolve(workspace.place, '.')
      const query = { root, includeDirs: false, noIgnore: false, limit: 1_000, offset: 0 }
      const never = new AbortController().signal
      const found = await findFiles(endless.program, { ...query, sort: 'path' }, never, performance.now() + 2_000)
      expect([found.incomplete, found.entries.length > 0]).toEqual([true, true])
      expect(
        await codeOf(findFiles(endless.program, { ...query, sort: 'modified' }, never, performance.now() + 400)),
      ).toBe('search.budget')
      const stop = new AbortController()
      const stopped = endless.call('find_files', {}, stop.signal)
      setTimeout(() => stop.abort(new Error('stopped')), 50)
      await expect(stopped).rejects.toThrow('stopped')
    },
  )

  test('FA-26 F-805 a page in path order does not wait for the rest of the walk', async () => {
    const slow = await stubProgram(`printf './a\\000./b\\000./c\\000'; sleep 600`)
    expect(await slow.text('find_files', { head_limit: 2 })).toBe('a\nb\n[more; continue at offset 2]')
  })
})

describe('grep', () => {
  test('F-812 blocks begin with path and line, hits are marked, context is shown once', async () => {
    await workspace.put('b.ts', 'one\ntwo\nhit 3\nfour\nhit 5\nsix\nseven\neight\nnine\nhit 10\n')
    await workspace.put('a.ts', 'hit\r\n')
    expect(await grep({ pattern: 'hit', context_before: 1, context_after: 2 })).toBe(
      [
        'a.ts:1',
        '>1| hit',
        'b.ts:3',
        ' 2| two',
        '>3| hit 3',
        ' 4| four',
        'b.ts:5',
        '>5| hit 5',
        ' 6| six',
        ' 7| seven',
        'b.ts:10',
        ' 9| nine',
        '>10| hit 10',
      ].join('\n'),
    )
  })

  test('FA-28 F-812 three pages have every hit once', async () => {
    for (const file of ['a', 'b', 'c', 'd', 'e'])
      await workspace.put(file, Array.from({ length: 50 }, (_, at) => `hit ${file}${at}`).join('\n'))
    const pages = await Promise.all(
      [0, 100, 200].map((offset) => grep({ pattern: '^hit', offset, context_before: 0, context_after: 0 })),
    )
    const hits = pages.flatMap((page) =>
      page
        .split('\n')
        .filter((line) => line.startsWith('>'))
        .map((line) => line.split('| ')[1]),
    )
    expect([hits.length, new Set(hits).size]).toEqual([250, 250])
    expect(pages[0]!.endsWith('[more; continue at offset 100]')).toBe(true)
    expect(pages[2]!.includes('continue')).toBe(false)
    expect((await grep({ pattern: 'hit', max_results: 7 })).endsWith('[more; continue at offset 7]')).toBe(true)
  })

  test('F-812 F-804 hits come in path order, whether there are few of them or many', async () => {
    const paths = ['a/b', 'a.txt', 'a/b.txt', 'a-b', 'B', 'ü', 'z/y/x', 'z/y-x'].flatMap((path) =>
      ['', '1', '2'].map((end) => `${path}${end}`),
    )
    for (const path of paths) await workspace.put(path.replace(/^(a|z)\//, '$1dir/'), `needle in ${path}\n`)
    const ordered = (await find()).map((path) => `${path}:1`)
    const blocks = async (args: Record<string, unknown>) =>
      (await grep({ pattern: 'needle', ...args })).split('\n').filter((line) => line.endsWith(':1'))
    expect(await blocks({})).toEqual(ordered)
    const pages = await Promise.all([0, 5, 10, 15, 20].map((offset) => blocks({ offset, head_limit: 5 })))
    expect(pages.flat()).toEqual(ordered)
  })

  test('FA-28 F-810 a bad pattern is refused with its reason, or taken letter for letter', async () => {
    await workspace.put('a', 'f(x)\n')
    expect(await failureOf(tools.call('grep', { pattern: '(' }))).toMatchObject({
      code: 'search.invalid_pattern',
      message: expect.stringContaining('unclosed group'),
    })
    expect(await codeOf(tools.call('grep', { pattern: 'a\nb' }))).toBe('search.invalid_pattern')
    expect(await grep({ pattern: '(', fixed_strings: true })).toBe('a:1\n>1| f(x)')
    expect(await grep({ pattern: '-x', fixed_strings: true })).toContain('Nothing found')
  })

  test('F-111 Z-47 secret files are left out and counted, whatever they hold, and searched when named', async () => {
    await workspace.put('.env', 'TOKEN=needle')
    await workspace.put('sub/.ENV.local', 'nothing')
    await workspace.put('.env.example', 'TOKEN=needle')
    for (const mode of ['content', 'count', 'files_with_matches']) {
      const text = await grep({ pattern: 'needle', output_mode: mode })
      expect([
        mode,
        text.includes('.env.example'),
        text.endsWith('[2 secret files left out]'),
        /\.env(?!\.example)/.test(text),
      ]).toEqual([mode, true, true, false])
    }
    expect(await grep({ pattern: 'needle', path: '.env' })).toBe('.env:1\n>1| TOKEN=needle')
    expect(await grep({ pattern: 'needle', glob: '*.ts' })).not.toContain('secret')
  })

  test('F-811 binary and large files are left out, UTF-16 is searched, a named file says why not', async () => {
    await workspace.put('early', 'needle\0')
    await workspace.put('late', `needle\n${'x\n'.repeat(100_000)}\0`)
    await workspace.put('large', `needle\n${'x'.repeat(2_000_000)}`)
    await workspace.put('utf16', Buffer.from('\ufeffneedle\r\n', 'utf16le'))
    await workspace.put('latin', Buffer.from('needle caf\xe9\n', 'latin1'))
    expect((await grep({ pattern: 'needle', context_after: 0 })).split('\n')).toEqual([
      'latin:1',
      '>1| needle café',
      'utf16:1',
      '>1| needle',
    ])
    expect(await grep({ pattern: 'needle', output_mode: 'count' })).toContain('total: 2 lines in 2 files')
    expect(await grep({ pattern: 'needle', path: 'early' })).toBe('early was not searched: it is binary.')
    expect(await grep({ pattern: '^needle', path: 'large', context_after: 0 })).toBe('large:1\n>1| needle')
  })

  test('F-813 a long line is clipped around its hit, a crossing hit is left out whole', async () => {
    await workspace.put('wide', `${'a'.repeat(5_000)}NEEDLE${'b'.repeat(5_000)}\n`)
    const line = (await grep({ pattern: 'NEEDLE' })).split('\n')[1]!
    expect([line.indexOf('NEEDLE'), line.length < 2_100]).toEqual(['>1| ...'.length + 666, true])
    await workspace.put('many', `NEEDLE ${'c'.repeat(1_900)}\n`.repeat(60))
    const text = await grep({ pattern: 'NEEDLE', path: 'many', context_before: 0, context_after: 0 })
    expect(text.length).toBeLessThanOrEqual(64_000)
    const shown = text.split('\n').filter((line) => line.startsWith('>')).length
    expect(text.endsWith(`[more; continue at offset ${shown}]`)).toBe(true)
    expect(
      (await grep({ pattern: 'NEEDLE', path: 'many', offset: shown, context_before: 0, context_after: 0 })).split(
        '\n',
      )[0],
    ).toBe(`many:${shown + 1}`)
  })

  test('F-814 files and counts come newest first', async () => {
    await workspace.put('old', 'x\nx\n')
    await workspace.put('new', 'x\n')
    await workspace.put('same', 'x\n')
    await Promise.all([touch('old', 1_000), touch('new', 2_000), touch('same', 1_000)])
    expect(await grep({ pattern: 'x', output_mode: 'files_with_matches' })).toBe('new\nold\nsame')
    expect(await grep({ pattern: 'x', output_mode: 'count' })).toBe(
      'new: 1\nold: 2\nsame: 1\ntotal: 4 lines in 3 files',
    )
    expect(await grep({ pattern: 'x', output_mode: 'files_with_matches', head_limit: 1, offset: 1 })).toBe(
      'old\n[more; continue at offset 2]',
    )
  })

  test('F-815 nothing found says what was looked for, and in how many files', async () => {
    await putAll('a.ts', 'b.ts', 'c.md')
    expect(await grep({ pattern: 'zzz' })).toBe('Nothing found: "zzz" in ., 3 files searched.')
    expect(await grep({ pattern: 'zzz', glob: '*.ts', output_mode: 'count' })).toBe(
      'Nothing found: "zzz" in ., 2 files searched.',
    )
  })

  test('F-802 a glob does not lift the ignore rules', async () => {
    await workspace.put('.gitignore', '*.log\n')
    await workspace.put('a.log', 'needle')
    await workspace.put('b.txt', 'needle')
    expect(await grep({ pattern: 'needle', glob: '*.{log,txt}', output_mode: 'files_with_matches' })).toBe('b.txt')
    expect(await grep({ pattern: 'needle', glob: '*.log', no_ignore: true, output_mode: 'files_with_matches' })).toBe(
      'a.log',
    )
    expect(
      await grep({ pattern: 'NEEDLE', case_insensitive: true, type: 'txt', output_mode: 'files_with_matches' }),
    ).toBe('b.txt')
  })

  test('FA-28 F-811 what the program could not read is counted', () => {
    const stderr =
      'rg: ./a b: Permission denied (os error 13)\nrg: ./sub: Permission denied (os error 13)\nWARNING: something else\n'
    expect(countUnreadable(stderr)).toBe(2)
  })

  test('F-818 F-310 stored output is searched by its reference', async () => {
    tools.references.set('output:abc', Buffer.from('one\nneedle\n'))
    expect(await grep({ pattern: 'needle', path: 'output:abc', context_before: 0 })).toBe('output:abc:2\n>2| needle')
    expect(await codeOf(tools.call('grep', { pattern: 'needle', path: 'output:other' }))).toBe('file.not_found')
  })

  test('F-816 time running out leaves what was found, marked', async () => {
    const hit = JSON.stringify({
      type: 'match',
      data: { path: { text: './a' }, lines: { text: 'x\n' }, line_number: 1, submatches: [{ start: 0, end: 1 }] },
    })
    const slow = await stubProgram(
      `case "$*" in *--files*) exit 1;; esac\necho '{"type":"begin","data":{"path":{"text":"./a"}}}'\necho '${hit}'\nsleep 600`,
    )
    const { searchText } = await import('../files/text-search.ts')
    const root = await workspace.paths.resolve(workspace.place, '.')
    const query = {
      root,
      pattern: 'x',
      fixedStrings: false,
      caseInsensitive: false,
      noIgnore: false,
      before: 0,
      after: 0,
      limit: 10,
      offset: 0,
      charsMax: 1_000,
    }
    const found = await searchText(slow.program, query, new AbortController().signal, performance.now() + 2_000)
    expect([found.incomplete, found.hits.length]).toEqual([true, 1])
  })
})

describe('globs', () => {
  test('F-801 what fits', () => {
    const fits = (glob: string, path: string) => parseGlob(glob).matches(path)
    for (const [glob, path] of [
      ['*.ts', 'a/b.ts'],
      ['**/*.ts', 'b.ts'],
      ['**/*.ts', 'a/c/b.ts'],
      ['a/**', 'a/b/c'],
      ['a/**/c', 'a/c'],
      ['?.[a-c]x', 'd.bx'],
      ['[!a]b', 'cb'],
      ['{src,lib}/*.{js,ts}', 'lib/x.ts'],
      ['.env*', 'sub/.env.local'],
      ['./a/*', 'a/b'],
      ['[]]', ']'],
      ['a/', 'a/'],
    ] as const) {
      expect([glob, path, fits(glob, path)]).toEqual([glob, path, true])
    }
    for (const [glob, path] of [
      ['*.ts', 'a.tsx'],
      ['src/*.ts', 'src/a/b.ts'],
      ['a/**', 'b/a/c'],
      ['?', 'ab'],
      ['[a-c]', 'd'],
      ['a/*', 'a/b/c'],
    ] as const) {
      expect([glob, path, fits(glob, path)]).toEqual([glob, path, false])
    }
  })

  test('Z-214 no glob takes more than steps of path times glob', () => {
    const glob = parseGlob(`${'*a'.repeat(60)}b/${'**/'.repeat(50)}x`)
    expect(glob.matches(`${'a'.repeat(250)}/${'a/'.repeat(250)}a`)).toBe(false)
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', '*', '/', '?') }),
        fc.string({ unit: fc.constantFrom('a', 'b', '/') }),
        (pattern, path) => {
          expect(typeof parseGlob(pattern).matches(path)).toBe('boolean')
        },
      ),
    )
  })
})

test('FA-26 F-805 ten of many files come quickly', { timeout: 60_000 }, async () => {
  for (let folder = 0; folder < 40; folder++) {
    await mkdir(join(workspace.folder, `f${folder}`))
    await Promise.all(
      Array.from({ length: 100 }, (_, at) => writeFile(join(workspace.folder, `f${folder}/x${at}.txt`), '')),
    )
  }
  expect(await find({ head_limit: 2 })).toEqual(['f0/x0.txt', 'f0/x1.txt', '[more; continue at offset 2]'])
  expect((await find({ head_limit: 1_000 })).length).toBe(1_001)
})
