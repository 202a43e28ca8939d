import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { runCommand, runLines } from './command.ts'
import { liveProcesses } from './process.ts'

const env = { PATH: process.env['PATH'] ?? '' }
const cwd = await realpath(await mkdtemp(join(tmpdir(), 'lathe command ünïcode ')))
afterAll(() => rm(cwd, { recursive: true }))

const ask = { cwd, env, timeoutMs: 20_000, maxBytes: 1_000_000 }

test('X-101 a program gets exactly its arguments, folder, environment and input', async () => {
  const script = 'printf "%s|" "$@"; pwd -P; cat; printf "$MARK" >&2; exit 3'
  const result = await runCommand({
    ...ask,
    file: 'sh',
    args: ['-c', script, 'sh', 'a b', "it's", '--x', '$HOME', 'new\nline'],
    env: { ...env, MARK: 'm' },
    input: 'given',
  })
  expect(result.stdout.toString()).toBe(`a b|it's|--x|$HOME|new\nline|${cwd}\ngiven`)
  expect(result).toMatchObject({ code: 3, stderr: 'm', truncated: false })
})

test('X-202 without input standard input is the null device', async () => {
  expect((await runCommand({ ...ask, file: 'cat', args: [] })).stdout.length).toBe(0)
})

test('X-203 a missing program or folder is exec.spawn_failed, naming what was looked for', async () => {
  await expect(runCommand({ ...ask, file: 'no-such-program', args: [] })).rejects.toMatchObject({
    code: 'exec.spawn_failed',
    message: expect.stringContaining(`ENOENT). Looked in: ${env.PATH}`),
  })
  await expect(runCommand({ ...ask, file: 'sh', args: [], cwd: join(cwd, 'gone') })).rejects.toMatchObject({
    code: 'exec.spawn_failed',
    message: expect.stringContaining('gone is not there'),
  })
  expect(liveProcesses()).toBe(0)
})

test('X-502 output past maxBytes ends the program, which would never end by itself', async () => {
  const result = await runCommand({ ...ask, file: 'yes', args: [], maxBytes: 100_001 })
  expect(result.stdout.length).toBe(100_001)
  expect(result).toMatchObject({ truncated: true, code: null })
})

test('X-209 time limit and abort are reported after the program has gone', async () => {
  await expect(runCommand({ ...ask, file: 'sleep', args: ['600'], timeoutMs: 50 })).rejects.toMatchObject({
    code: 'exec.timed_out',
  })
  expect(liveProcesses()).toBe(0)
  const abort = new AbortController()
  const reason = new Error('stop')
  const running = runCommand({ ...ask, file: 'sleep', args: ['600'], signal: abort.signal })
  abort.abort(reason)
  await expect(running).rejects.toBe(reason)
  expect(liveProcesses()).toBe(0)
})

test('K-10 NUL-separated lines keep newlines in names, and characters split over chunks', async () => {
  const lines: string[] = []
  const script = String.raw`printf 'a\nb\0\342\202'; sleep 0.1; printf '\254\0\0last'`
  const result = await runLines({
    ...ask,
    file: 'sh',
    args: ['-c', script],
    separator: '\0',
    maxLineBytes: 1_000,
    onLine: (line) => void lines.push(line),
  })
  expect(lines).toEqual(['a\nb', '€', '', 'last'])
  expect(result).toEqual({ code: 0, stderr: '', stopped: false })
})

test('X-101 a reader of lines stops the program early, and long lines are cut', async () => {
  const lines: string[] = []
  const onLine = (line: string): boolean => lines.push(line) < 3
  const result = await runLines({
    ...ask,
    file: 'sh',
    args: ['-c', 'while :; do echo 123456789; done'],
    separator: '\n',
    maxLineBytes: 4,
    onLine,
  })
  expect(lines).toEqual(['1234', '1234', '1234'])
  expect(result.stopped).toBe(true)
})
