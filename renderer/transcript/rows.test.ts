import { describe, expect, test } from 'vitest'
import type { Item } from '../../preload/contract/items.ts'
import {
  approvalItem,
  change,
  questionItem,
  reasoningItem,
  running,
  textItem,
  toolItem,
  turn,
  userItem,
  view,
} from './fixtures.ts'
import { foldedWords, outcomeWords } from './outcome.ts'
import { buildRows, groupPage, type Row } from './rows.ts'

const build = (items: Item[], turns = [turn('turn-1')], opened = new Map<string, number>(), previous: Row[] = []) =>
  buildRows(view(items, turns), [], opened, 5, previous)
const kinds = (rows: Row[]) => rows.map((row) => row.kind)
const tools = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, index) => toolItem('read_file', `file-${index}`, more))

describe('activity groups', () => {
  test('S-61 five activities between two texts stand as they are, six fold', () => {
    expect(kinds(build([textItem('a'), ...tools(5), textItem('b')]))).toEqual([
      'text',
      'tool',
      'tool',
      'tool',
      'tool',
      'tool',
      'text',
      'turnEnd',
    ])
    expect(kinds(build([textItem('a'), ...tools(6), textItem('b')]))).toEqual(['text', 'group', 'text', 'turnEnd'])
  })

  test('S-61 thoughts and tools fold together, an answer parts them', () => {
    const rows = build([...tools(3), reasoningItem('x'), ...tools(3), textItem('a'), ...tools(7)])
    expect(rows.map((row) => (row.kind === 'group' ? row.items.length : row.kind))).toEqual([7, 'text', 7, 'turnEnd'])
  })

  test('S-61 a group opens fifty at a time', () => {
    const items = tools(120)
    const id = `group:${items[0]!.id}`
    const once = build(items, undefined, new Map([[id, groupPage]]))
    expect(kinds(once).filter((kind) => kind === 'tool')).toHaveLength(50)
    const all = build(items, undefined, new Map([[id, 3 * groupPage]]))
    expect(kinds(all).filter((kind) => kind === 'tool')).toHaveLength(120)
  })

  test('S-61 while the turn runs the newest five stay in sight', () => {
    const rows = build(tools(12), [running('turn-1')])
    expect(kinds(rows)).toEqual(['group', 'tool', 'tool', 'tool', 'tool', 'tool'])
    expect(rows[0]).toMatchObject({ kind: 'group', running: true, shown: 0 })
  })

  test('the person’s own command is no activity of the agent', () => {
    expect(kinds(build([...tools(6), toolItem('shell', 'ls', { byPerson: true, turnId: null }), ...tools(6)]))).toEqual(
      ['group', 'tool', 'group', 'turnEnd'],
    )
  })

  test('an allowed approval is told by its tool and does not part the group', () => {
    expect(kinds(build([...tools(3), approvalItem({}, { state: 'allowed' }), ...tools(3)]))).toEqual([
      'group',
      'turnEnd',
    ])
    expect(kinds(build([...tools(3), approvalItem({}, { state: 'denied' }), ...tools(3)]))).toEqual([
      'tool',
      'tool',
      'tool',
      'approval',
      'tool',
      'tool',
      'tool',
      'turnEnd',
    ])
  })

  test('what waits for the person stands there once: an approval as its card, a question as itself', () => {
    const [card] = tools(1, { state: 'waiting' })
    const asking = toolItem('ask_person', 'Which one?', { state: 'running' })
    expect(
      kinds(
        build(
          [
            card!,
            approvalItem({}, { toolItemId: card!.id }),
            asking,
            questionItem('Which one?', { toolItemId: asking.id }),
          ],
          [running('turn-1')],
        ),
      ),
    ).toEqual(['tool', 'question'])
    expect(kinds(build([approvalItem({}, { toolItemId: 'elsewhere' })], [running('turn-1')]))).toEqual(['approval'])
  })
})

describe('ends of turns', () => {
  test('S-63 each settled turn has one end, drawn from its row, with its own changes', () => {
    const rows = buildRows(
      view(
        [userItem('a', { turnId: 't1' }), textItem('b', { turnId: 't1' }), userItem('c', { turnId: 't2' })],
        [turn('t1'), running('t2')],
        { changes: [change('c1', 't1', 'x', 1, 0), change('c2', 't2', 'y', 1, 0)] },
      ),
      [],
      new Map(),
      5,
    )
    const ends = rows.filter((row) => row.kind === 'turnEnd')
    expect(ends).toHaveLength(1)
    expect(ends[0]).toMatchObject({ turnId: 't1', newest: false, changes: [{ id: 'c1' }] })
  })

  test('a command of the person inside a turn does not end it', () => {
    const rows = build([userItem('a'), userItem('!ls', { turnId: null }), textItem('b')])
    expect(kinds(rows)).toEqual(['user', 'user', 'text', 'turnEnd'])
  })

  test('what a person runs after a turn ended stands below its end', () => {
    const items = [userItem('a'), textItem('b'), toolItem('shell', 'Run ls', { byPerson: true, turnId: null })]
    expect(kinds(build(items))).toEqual(['user', 'text', 'turnEnd', 'tool'])
  })

  test('T-179 a retried turn folds to one line and can be opened', () => {
    const items = [
      userItem('a', { turnId: 't1' }),
      textItem('b', { turnId: 't1' }),
      userItem('a', { turnId: 't2' }),
      textItem('c', { turnId: 't2' }),
    ]
    const turns = [turn('t1', { outcome: 'failed' }), turn('t2', { retryOf: 't1' })]
    expect(kinds(build(items, turns))).toEqual(['foldedTurn', 'user', 'text', 'turnEnd'])
    expect(kinds(build(items, turns, new Map([['folded:t1', 1]])))).toEqual([
      'foldedTurn',
      'user',
      'text',
      'turnEnd',
      'user',
      'text',
      'turnEnd',
    ])
  })

  test('T-181 the message of a continuation is a mark, S-65 what an automation said is labelled', () => {
    const first = userItem('Go on', { turnId: 't1' })
    const second = userItem('Nightly', { turnId: 't2' })
    const rows = build(
      [first, second],
      [
        turn('t1', { userItemId: first.id, continues: 't0', source: 'recovery' }),
        turn('t2', { userItemId: second.id, source: 'schedule', automation: { name: 'Nightly check' } }),
      ],
    )
    expect(rows[0]).toMatchObject({ kind: 'user', continues: true })
    expect(rows[2]).toMatchObject({ kind: 'user', continues: false, origin: 'Started by Nightly check' })
  })

  test('A-117 a turn that had nothing to report folds to one line that names what started it', () => {
    const asked = userItem('Go on', { turnId: 't1', source: 'automation' })
    const automation = { name: 'x1 (npm test)' }
    const quiet = turn('t1', { userItemId: asked.id, source: 'process', automation, ending: 'quiet' })
    const rows = build([asked, ...tools(2, { turnId: 't1' })], [quiet])
    expect(kinds(rows)).toEqual(['foldedTurn'])
    expect(foldedWords(quiet)).toBe('Started by x1 (npm test): nothing to report')
  })
})

test('S-64 what is not visible has no row', () => {
  expect(
    build([userItem('prompt of an automation', { visible: false }), textItem('b')]).map((row) => row.kind),
  ).toEqual(['text', 'turnEnd'])
})

test('an entry from a newer version is a row that says so', () => {
  const item = { ...textItem('x'), kind: 'hologram' } as unknown as Item
  expect(build([item])[0]).toMatchObject({ kind: 'unknown', named: 'hologram' })
})

test('rows that did not change are the same objects, and so is the list if none did', () => {
  const items = [userItem('a'), ...tools(8), textItem('b')]
  const before = build(items)
  expect(build(items, [turn('turn-1')], new Map(), before)).not.toBe(before)
  const same = view(items, [turn('turn-1')])
  const first = buildRows(same, [], new Map(), 5)
  expect(buildRows({ ...same }, [], new Map(), 5, first)).toBe(first)
  const changed = buildRows(
    { ...same, items: [...items.slice(0, -1), textItem('b, and more', { id: items.at(-1)!.id })] },
    [],
    new Map(),
    5,
    first,
  )
  expect(changed.map((row, index) => row === first[index])).toEqual([true, true, false, true])
})

test('T-108 that a turn was stopped is said by its row alone: no entry, no blame on anyone', () => {
  const stopped = turn('turn-1', { outcome: 'stopped', reason: 'person', servedBy: 'lab/scripted' })
  const rows = build([userItem('go'), textItem('Hello wor', { status: 'partial' })], [stopped])
  expect(kinds(rows)).toEqual(['user', 'text', 'turnEnd'])
  expect(outcomeWords(stopped)).toBe('Stopped')
  expect(outcomeWords({ ...stopped, reason: 'yielded' })).toBe('Paused for your message')
})
