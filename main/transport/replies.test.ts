import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LatheError } from '../../preload/contract/errors.ts'
import { canonicalJson, createReplies } from './replies.ts'

test('S-27 the same request id runs once, while it runs and after', async () => {
  const replies = createReplies()
  let runs = 0
  const gate = Promise.withResolvers<number>()
  const operation = (): Promise<number> => {
    runs++
    return gate.promise
  }
  const first = replies.once('sessions.rename', 'r1', { title: 'a', sessionId: 's' }, operation)
  const joined = replies.once('sessions.rename', 'r1', { sessionId: 's', title: 'a' }, operation)
  gate.resolve(7)
  expect(await Promise.all([first, joined])).toEqual([7, 7])
  expect(await replies.once('sessions.rename', 'r1', { title: 'a', sessionId: 's' }, operation)).toBe(7)
  expect(runs).toBe(1)
})

test('S-27 the same request id with another action or input is request.conflict', async () => {
  const replies = createReplies()
  await replies.once('sessions.rename', 'r1', { title: 'a' }, async () => 1)
  const other = replies.once('sessions.rename', 'r1', { title: 'b' }, async () => 2)
  await expect(other).rejects.toMatchObject({ code: 'request.conflict' })
  await expect(replies.once('sessions.pin', 'r1', { title: 'a' }, async () => 3)).rejects.toMatchObject({
    code: 'request.conflict',
  })
})

test('SA-3 S-28 the oldest of 257 replies goes, a pending one stays, a failure is replayed without running again', async () => {
  let time = 0
  const replies = createReplies(() => time)
  const never = new Promise<string>(() => {})
  void replies.once('x', 'pending', {}, () => never)
  let failures = 0
  const failing = async (): Promise<never> => {
    failures++
    throw new LatheError('turn.busy', 'A turn runs.')
  }
  for (let i = 0; i < 257; i++) await replies.once('x', `r${i}`, {}, async () => i)
  expect(replies.size).toBe(257)
  expect(await replies.once('x', 'r1', {}, async () => -1)).toBe(1)
  expect(await replies.once('x', 'r0', {}, async () => -1)).toBe(-1)
  await expect(replies.once('x', 'bad', {}, failing)).rejects.toMatchObject({ code: 'turn.busy' })
  await expect(replies.once('x', 'bad', {}, failing)).rejects.toMatchObject({ code: 'turn.busy' })
  expect(failures).toBe(1)
  time = 5 * 60_000 + 1
  await replies.once('x', 'late', {}, async () => 0)
  expect(replies.size).toBe(2)
})

test('canonical JSON does not depend on the order of keys', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const reversed = Object.fromEntries(Object.entries(value).toReversed())
      expect(canonicalJson(reversed)).toBe(canonicalJson(value))
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)))
    }),
  )
})
