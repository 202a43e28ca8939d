import { describe, expect, test } from 'vitest'
import type { Item } from '../../preload/contract/items.ts'
import type { Turn } from '../../preload/contract/session.ts'
import { contextReport } from './context-report.ts'
import { neededBodies, projectItems, sentItems, type Bodies } from './context.ts'
import { prunedText } from './fitting.ts'

const bodies: Bodies = { results: new Map([['h', 'The whole result.']]), attachments: new Map(), images: new Map() }
let pos = 0
const item = (kind: string, more: Record<string, unknown>) =>
  ({
    id: `i${++pos}`,
    pos,
    turnId: null,
    stepId: null,
    contextual: true,
    visible: true,
    attachments: [],
    kind,
    ...more,
  }) as unknown as Item
const user = (text: string, turnId: string) => item('user', { text, turnId })
const said = (text: string, turnId: string) => item('text', { text, turnId, stepId: `s-${turnId}` })
const tool = (more: Record<string, unknown> = {}) =>
  item('tool', {
    callId: 'c',
    name: 'grep',
    args: {},
    state: 'ok',
    summary: 'short',
    view: null,
    resultRef: 'h',
    ...more,
  })
const mark = (summary: string) => item('compaction', { summary, coversThrough: 'x', tokensBefore: 2, tokensAfter: 1 })
const texts = (items: Item[], turns: Turn[] = []) =>
  projectItems(items, turns, bodies).map((message) =>
    message.role === 'user'
      ? message.parts.map((part) => (part.type === 'text' ? part.text : '')).join()
      : JSON.stringify(message),
  )

describe('what the model is sent of the transcript', () => {
  test('C-1 the newest summary stands for all before it, once, and equal items give equal bytes', () => {
    const items = [
      user('one', 't1'),
      said('a', 't1'),
      mark('First.'),
      user('two', 't2'),
      said('b', 't2'),
      mark('Second.'),
      user('three', 't3'),
    ]
    const sent = projectItems(items, [], bodies)
    expect(JSON.stringify(projectItems(structuredClone(items), [], bodies))).toBe(JSON.stringify(sent))
    expect(texts(items)).toEqual([expect.stringContaining('Second.'), 'three'])
    expect(sentItems(items)).toEqual(items.slice(5))
    // A mark that was set aside leaves the one before it in force (C-76).
    const aside = items.map((one) =>
      one.kind === 'compaction' && one.summary === 'Second.' ? { ...one, contextual: false } : one,
    )
    expect(texts(aside)[0]).toContain('First.')
  })

  test('C-2 CA-1 the same words twice are two turns; only ids tell a retried attempt', () => {
    const items = [user('continue', 't1'), said('done', 't1'), user('continue', 't2'), said('done', 't2')]
    expect(projectItems(items, [], bodies)).toHaveLength(4)
    const retried = [{ id: 't2', retryOf: 't1' }] as unknown as Turn[]
    expect(projectItems(items, retried, bodies)).toHaveLength(2)
  })

  test('C-52 C-4 a result that was left out once is left out ever after, in the same words, and its body is not read', () => {
    const items = [user('go', 't1'), tool({ turnId: 't1', pruned: true })]
    const [, , results] = projectItems(items, [], bodies)
    expect(results).toMatchObject({ role: 'tool', results: [{ text: prunedText('grep', 'h') }] })
    expect(neededBodies(items, []).results).toEqual([])
    expect(neededBodies([tool()], []).results).toEqual(['h'])
  })

  test('T-179 of an attempt that was asked again no body is read, neither of its calls nor of its files', () => {
    const picture = { name: 'a.png', mediaType: 'image/png', bytes: 9, hash: 'p' }
    const items = [
      item('user', { text: 'look', turnId: 't1', attachments: [picture] }),
      tool({ turnId: 't1', view: { image: { hash: 'seen' } } }),
      item('user', { text: 'look', turnId: 't2', attachments: [picture] }),
      tool({ turnId: 't2', state: 'running', resultRef: 'later' }),
    ]
    const retried = [{ id: 't2', retryOf: 't1' }] as unknown as Turn[]
    expect(neededBodies(items, retried)).toEqual({ results: [], attachments: [{ hash: 'p', isPicture: true }] })
    expect(neededBodies(items, []).attachments.map(({ hash }) => hash)).toEqual(['p', 'seen', 'p'])
  })

  test('C-10 the report tells the summary with its text, how much stands under it, and what was left out', () => {
    const items = [
      user('one', 't1'),
      said('a', 't1'),
      mark('What was done.'),
      user('two', 't2'),
      tool({ turnId: 't2', pruned: true }),
    ]
    const report = contextReport({
      model: 'lab/m',
      figures: { used: 50, window: 100, compactAt: 90, estimated: false, model: 'lab/m' },
      prompt: [{ name: 'Agent', text: 'You are the agent.' }],
      tools: [],
      items,
      turns: [],
    })
    expect(report).toMatchObject({
      used: 50,
      window: 100,
      compactAt: 90,
      estimated: false,
      sent: 2,
      pruned: 1,
      mark: { itemId: items[2]!.id, covered: 2 },
    })
    expect(report.sections).toContainEqual(
      expect.objectContaining({ name: 'Summary of older turns', text: 'What was done.' }),
    )
  })
})
