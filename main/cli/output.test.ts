import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LatheError } from '../../preload/contract/errors.ts'
import { createOutput, printable } from './output.ts'
import { asker, chosen } from './terminal-answers.ts'

function captured(json: boolean): {
  output: ReturnType<typeof createOutput>
  stdout: PassThrough
  out: () => string
  err: () => string
} {
  const stdout = new PassThrough()
  const stderr = new PassThrough()
  return {
    output: createOutput(json, stdout, stderr),
    stdout,
    out: () => String(stdout.read() ?? ''),
    err: () => String(stderr.read() ?? ''),
  }
}

test('S-127 no text from outside reaches a terminal as a command to it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(printable(text)).not.toMatch(
        /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200b-\u200f]/,
      )
    }),
  )
  expect(printable('a\x1b[31mred\u202e\ttab\r\nnext')).toBe('a\u241b[31mred<U+202E>\ttab\nnext')
  expect(printable('Grüße 日本 👍')).toBe('Grüße 日本 👍')
})

test('Z-97 a terminal names the subagent that asks, and says nothing of the agent itself', () => {
  expect(asker({ origin: 'build › test' })).toBe('Subagent “build › test” asks:\n')
  expect(asker({})).toBe('')
})

test('S-126 a failure is one JSON line on stdout with --json, else sentences on stderr', () => {
  const failure = new LatheError('session.not_found', 'There is no session "x".', {
    hint: 'See `lathe sessions list`.',
  })
  const json = captured(true)
  json.output.fail(failure)
  expect(JSON.parse(json.out())).toEqual({
    type: 'error',
    code: 'session.not_found',
    message: 'There is no session "x".',
    hint: 'See `lathe sessions list`.',
  })
  expect(json.err()).toBe('')
  const text = captured(false)
  text.output.fail(failure)
  expect(text.out()).toBe('')
  expect(text.err()).toBe('lathe: There is no session "x".\nSee `lathe sessions list`.\n')
})

test('S-127 a closed stdout ends the output, not the command', async () => {
  const { output, stdout } = captured(true)
  stdout.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
  await new Promise(setImmediate)
  output.line({ a: 1 })
  await output.flush()
  expect(stdout.read()).toBeNull()
})

test('S-127 a result that could not be written is told, unlike one that nobody wants any more', async () => {
  const full = captured(true)
  full.stdout.destroy(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }))
  await new Promise(setImmediate)
  await full.output.flush()
  expect(full.output.isLost()).toBe(true)
  expect(full.err()).toBe('lathe: The output could not be written: no space left on device\n')
  const read = captured(true)
  read.stdout.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
  await new Promise(setImmediate)
  await read.output.flush()
  expect(read.output.isLost()).toBe(false)
  expect(read.err()).toBe('')
})

test('typed numbers are choices, anything else is text where text is allowed', () => {
  const choices = [
    { id: 'a', label: 'A' },
    { id: 'b', label: 'B' },
  ]
  expect(chosen('2', { choices, multiple: false, allowText: false })).toEqual({ choices: ['b'] })
  expect(chosen('1, 2', { choices, multiple: true, allowText: false })).toEqual({ choices: ['a', 'b'] })
  expect(chosen('1 2', { choices, multiple: false, allowText: false })).toBeNull()
  expect(chosen('3', { choices, multiple: true, allowText: false })).toBeNull()
  expect(chosen('neither', { choices, multiple: true, allowText: true })).toEqual({ text: 'neither' })
})
