import { expect, test } from 'vitest'
import { inPlaceOf, subjectOf, type WorkbenchEvent } from '../../preload/contract/events.ts'
import { Broadcast } from './broadcast.ts'

const workspace = '/w'

test('T-215 a newer event takes the place of one nobody has read, and no path of either is lost', async () => {
  const events = new Broadcast<WorkbenchEvent>(subjectOf, inPlaceOf)
  const ended = new AbortController()
  const read = events.read(ended.signal)[Symbol.asyncIterator]()
  events.send({ type: 'files.changed', workspace, paths: ['a'] })
  events.send({ type: 'entry.removed', id: 's' })
  events.send({ type: 'files.changed', workspace, paths: ['b'] })
  events.send({ type: 'files.changed', workspace: '/other', paths: ['c'] })
  expect([await read.next(), await read.next(), await read.next()].map(({ value }) => value)).toEqual([
    { type: 'entry.removed', id: 's' },
    { type: 'files.changed', workspace, paths: 'rescan' },
    { type: 'files.changed', workspace: '/other', paths: ['c'] },
  ])
  ended.abort()
  expect((await read.next()).done).toBe(true)
})
