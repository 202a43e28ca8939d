import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openConfig, parseConfig, type Config } from './config.ts'

let folder: string
let file: string
let config: Config | null = null

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lathe-config-'))
  file = join(folder, 'config.json')
})

afterEach(async () => {
  config?.dispose()
  config = null
  await rm(folder, { recursive: true, force: true })
})

const nextChange = (of: Config): Promise<void> => new Promise((resolve) => of.onChange(resolve))

test('M-133 MA-37 a cut-off file leaves the last good content in use, names the line, and is never overwritten', async () => {
  await writeFile(file, '{"model": "lab/scripted"}')
  config = await openConfig(file)
  const broken = '{\n  "model": "lab/other",\n  "providers": {'
  const changed = nextChange(config)
  await writeFile(file, broken)
  await changed
  expect(config.content).toEqual({ model: 'lab/scripted' })
  expect(config.problem).toEqual({ file, line: 3, column: 17, message: 'The file ends too early.' })
  await expect(config.update((content) => ({ ...content, model: 'x' }))).rejects.toMatchObject({
    code: 'config.stale',
    hint: expect.stringContaining('line 3'),
  })
  expect(await readFile(file, 'utf8')).toBe(broken)
})

test('M-133 a change made elsewhere since it was read is config.stale, then shows', async () => {
  await writeFile(file, '{"a": 1}')
  config = await openConfig(file)
  await writeFile(file, '{"a": 2}')
  await expect(config.update(() => ({ a: 3 }))).rejects.toMatchObject({ code: 'config.stale' })
  expect(config.content).toEqual({ a: 2 })
  await config.update((content) => ({ ...content, b: 1 }))
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ a: 2, b: 1 })
})

test('M-133 writing keeps unknown keys, order, indentation, mode and a link, and leaves no other file', async () => {
  const real = join(folder, 'dotfiles.json')
  await writeFile(real, '{\n\t"zebra": {"unknown": true},\n\t"model": "a/b"\n}\n', { mode: 0o640 })
  await symlink(real, file)
  config = await openConfig(file)
  await config.update((content) => ({ ...content, model: 'c/d', apple: 1 }))
  expect(await readFile(real, 'utf8')).toBe(
    '{\n\t"zebra": {\n\t\t"unknown": true\n\t},\n\t"model": "c/d",\n\t"apple": 1\n}\n',
  )
  expect((await stat(real)).mode & 0o777).toBe(0o640)
  expect((await readdir(folder)).toSorted()).toEqual(['config.json', 'dotfiles.json'])
})

test('a missing file is an empty configuration, made with mode 0600 by the first write', async () => {
  config = await openConfig(file)
  expect([config.content, config.problem]).toEqual([{}, null])
  await Promise.all([
    config.update((content) => ({ ...content, a: 1 })),
    config.update((content) => ({ ...content, b: 2 })),
  ])
  expect(config.content).toEqual({ a: 1, b: 2 })
  expect((await stat(file)).mode & 0o777).toBe(0o600)
})

test('a problem names its place and does not quote the file, which may hold a key', () => {
  for (const [text, line, column] of [
    ['{\n  "key": "sk-secret",\n}', 3, 1],
    ['{"a": sk-secret}', 1, 7],
    ['["sk-secret"]', 1, 1],
    ['{"a": 1} sk-secret', 1, 10],
    ['{\n"a": "sk-secret\n"}', 2, 16],
    ['{"a": tru3, "key": "sk-secret"}', 1, 10],
    ['{"a": 1,, "key": "sk-secret"}', 1, 9],
    ["{'key': 'sk-secret'}", 1, 2],
    ['// sk-secret\n{}', 1, 1],
  ] as const) {
    const { content, problem } = parseConfig('config.json', text)
    expect(content).toBeNull()
    expect({ of: text, is: problem }).toMatchObject({ of: text, is: { line, column } })
    expect(problem!.message).not.toContain('secret')
  }
})

test('any text is either content or a problem inside it', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc.json().map((json) => json.slice(0, -1)),
      ),
      (text) => {
        const { content, problem } = parseConfig('config.json', text)
        expect(content === null).toBe(problem !== null)
        expect(problem?.line ?? 0).toBeLessThanOrEqual(text.split('\n').length)
      },
    ),
  )
})
