import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ModelMessage, ToolResultPart } from '../models/model.ts'
import type { Budget } from './budget.ts'
import { Conversation } from './conversation.ts'
import { prune, prunedText, snip, stepsOf } from './fitting.ts'
import { summaryStretches } from './summary.ts'
import { countMessages } from './token-count.ts'

/** A text of so many tokens. */
const tokens = (count: number) => 'a'.repeat(Math.floor(count * 3.5))
const user = (text: string): ModelMessage => ({ role: 'user', parts: [{ type: 'text', text }] })
const result = (id: string, text: string, name = 'grep'): ToolResultPart => ({
  callId: id,
  name,
  text,
  isError: false,
  origin: { itemId: `item-${id}` },
})
const step = (id: string, text: string, name?: string): ModelMessage[] => [
  { role: 'assistant', parts: [{ type: 'call', callId: id, name: name ?? 'grep', args: {} }] },
  { role: 'tool', results: [result(id, text, name)] },
]
const reproducible = (name: string) => name === 'grep'
const textOf = (message: ModelMessage) =>
  message.role === 'tool' ? message.results.map((one) => one.text).join() : JSON.stringify(message)

/** What a provider takes: each call has its result right behind it, in order, and no result is without a call. */
function isLegal(messages: readonly ModelMessage[]): boolean {
  return messages.every((message, at) => {
    const next = messages[at + 1]
    const before = messages[at - 1]
    const calls =
      message.role === 'assistant' ? message.parts.flatMap((part) => (part.type === 'call' ? part.callId : [])) : []
    if (calls.length > 0)
      return next?.role === 'tool' && JSON.stringify(next.results.map(({ callId }) => callId)) === JSON.stringify(calls)
    return (
      message.role !== 'tool' || (before?.role === 'assistant' && before.parts.some((part) => part.type === 'call'))
    )
  })
}

/** Conversations as turns make them: a message, steps of calls with results or plain answers, words in between. */
let ids = 0
const size = fc.integer({ min: 0, max: 3_000 })
const aStep = fc.oneof(
  fc
    .tuple(fc.integer({ min: 1, max: 3 }), size, fc.constantFrom('grep', 'write_file'))
    .map(([count, most, name]): ModelMessage[] => {
      const calls = Array.from({ length: count }, () => `c${++ids}`)
      return [
        {
          role: 'assistant',
          parts: calls.map((callId) => ({ type: 'call', callId, name, args: { text: tokens(most) } })),
        },
        { role: 'tool', results: calls.map((callId) => result(callId, tokens(most), name)) },
      ]
    }),
  size.map((most): ModelMessage[] => [{ role: 'assistant', parts: [{ type: 'text', text: `t${tokens(most)}` }] }]),
  size.map((most) => [user(`steer ${tokens(most / 10)}`)]),
)
const turn = fc
  .tuple(size, fc.array(aStep, { maxLength: 6 }))
  .map(([most, steps]) => [user(`ask ${tokens(most)}`), ...steps.flat()])

describe('results of this turn', () => {
  test('C-48 C-50 C-52 CA-18 the oldest that can be had again go until 0.85 of the budget; applied twice nothing changes', () => {
    const own = [user('go'), ...['r1', 'r2', 'r3', 'r4'].flatMap((id) => step(id, tokens(3_000)))]
    const around = 500
    const once = prune(own, { around, budget: 10_000, reproducible })
    expect(once.pruned).toEqual(['item-r1', 'item-r2'])
    const total = around + countMessages(once.own)
    expect(total).toBeLessThanOrEqual(8_500)
    expect(prune(once.own, { around, budget: 10_000, reproducible })).toEqual({ own: once.own, pruned: [] })
  })

  test('C-50 CA-18 short results and those of other tools stay', () => {
    const own = [
      user('go'),
      ...step('s', 'x'.repeat(499)),
      ...step('m', tokens(9_000), 'mcp__a__b'),
      ...step('g', tokens(2_000)),
    ]
    expect(prune(own, { around: 0, budget: 5_000, reproducible }).pruned).toEqual(['item-g'])
  })

  test('C-50 CA-19 the newest is spared once the whole fits, and goes while it does not', () => {
    const newest = [user('go'), ...step('n', tokens(3_500))]
    expect(prune(newest, { around: 7_000, budget: 10_000, reproducible }).pruned).toEqual(['item-n'])
    const two = [user('go'), ...step('o', tokens(1_000)), ...step('n', tokens(3_600))]
    expect(prune(two, { around: 5_500, budget: 10_000, reproducible }).pruned).toEqual(['item-o'])
  })

  test('C-51 what stands for a result says what happened, what to do, and where the whole is', () => {
    const text = prunedText('grep', 'abc')
    for (const part of ['grep', 'removed', 'Do not repeat the identical call', 'narrower', 'output:abc'])
      expect(text).toContain(part)
    expect(prunedText('grep', undefined)).not.toContain('output:')
  })

  test('C-50 whatever is pruned, calls keep their results and only candidates change', () => {
    fc.assert(
      fc.property(turn, fc.integer({ min: 500, max: 8_000 }), (own, budget) => {
        const pruned = prune(own, { around: 0, budget, reproducible })
        expect(isLegal(pruned.own)).toBe(true)
        expect(pruned.own).toHaveLength(own.length)
        pruned.own.forEach((message, at) => {
          if (textOf(message) !== textOf(own[at]!)) expect(message.role).toBe('tool')
        })
        expect(countMessages(pruned.own)).toBeLessThanOrEqual(countMessages(own))
      }),
    )
  })
})

describe('a request that is cut down', () => {
  test('C-54 keeps the summary, this message and whole newest steps, within room; a property', () => {
    const conversations = fc.tuple(
      fc.array(turn, { maxLength: 4 }),
      turn,
      fc.boolean(),
      fc.integer({ min: 10, max: 12_000 }),
    )
    fc.assert(
      fc.property(conversations, ([earlier, own, hasSummary, room]) => {
        const summary = hasSummary ? [user('summary')] : []
        const fit = snip({ summary, earlier: earlier.flat(), own }, room)
        if (!fit) {
          expect(countMessages([...summary, own[0]!])).toBeGreaterThan(room)
          return
        }
        const { messages, leftOut } = fit
        expect(countMessages(messages)).toBeLessThanOrEqual(room)
        expect(messages[0]!.role).toBe('user')
        expect(messages.slice(0, summary.length)).toEqual(summary)
        expect(messages).toContain(own[0])
        expect(isLegal(messages)).toBe(true)
        // In order, nothing twice, and from the end without a gap.
        const all = [...summary, ...earlier.flat(), ...own]
        const places = messages.map((message) => all.indexOf(message))
        expect(places).toEqual([...places].sort((a, b) => a - b))
        expect(leftOut).toBe(all.length - messages.length)
        const kept = messages.slice(messages.indexOf(own[0]!))
        const tail = own.slice(own.length - (kept.length - 1))
        expect(kept.slice(1)).toEqual(kept.length === 1 ? [] : tail)
        // Earlier turns come in only where this one is whole.
        if (messages.length > kept.length + summary.length) expect(kept).toHaveLength(own.length)
      }),
    )
  })

  test('C-63 stretches of a summary hold all that is covered, in order, each within room and legal; too many are none', () => {
    fc.assert(
      fc.property(
        fc.array(turn, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 600, max: 9_000 }),
        (turns, room) => {
          const messages = turns.flat()
          const stretches = summaryStretches(messages, room)
          if (!stretches) return
          expect(stretches.length).toBeLessThanOrEqual(5)
          expect(stretches.flat()).toHaveLength(messages.length)
          expect(stretches.flat().map(({ role }) => role)).toEqual(messages.map(({ role }) => role))
          for (const stretch of stretches) {
            expect(countMessages(stretch)).toBeLessThanOrEqual(room)
            expect(isLegal(stretch)).toBe(true)
          }
        },
      ),
    )
    expect(
      summaryStretches(
        Array.from({ length: 12 }, () => user(tokens(900))),
        1_000,
      ),
    ).toBeNull()
  })

  test('C-54 steps begin with an answer and end before the next', () => {
    const messages = [...step('a', 'x'), user('steer'), ...step('b', 'y')]
    expect(stepsOf(messages).map((group) => group.length)).toEqual([3, 2])
  })
})

describe('a conversation', () => {
  const budget = (input: number): Budget => ({
    window: input,
    input,
    output: 100,
    thresholds: { compactAt: 1, compactAfter: 1, retain: input / 2 },
  })
  const open = (
    own: ModelMessage[],
    input: number,
    more: Partial<ConstructorParameters<typeof Conversation>[0]> = {},
  ) =>
    new Conversation({
      model: 'lab/m',
      system: 'system',
      toolTokens: 0,
      earlier: { summary: [], messages: [] },
      own,
      budget: budget(input),
      known: null,
      reproducible,
      pruned: async () => {},
      compact: async () => null,
      notice: () => {},
      ...more,
    })
  const usage = (input: number | null, output: number | null) => ({
    input,
    output,
    reasoning: null,
    cacheRead: null,
    cacheWrite: null,
    total: null,
    estimated: false,
  })

  test('C-40 C-42 CA-15 what was measured is the base, results are added once, and the next measurement replaces all', () => {
    const talk = open([user(tokens(900))], 100_000)
    talk.measured(usage(1_000, 50))
    expect(talk.figures()).toMatchObject({ used: 1_050, estimated: false })
    const [, tool] = step('a', tokens(196))
    talk.push(tool!)
    expect(talk.figures()).toMatchObject({ used: 1_250, estimated: true })
    expect(talk.figures(35).used).toBe(1_260)
    talk.measured(usage(1_350, 50))
    expect(talk.figures()).toMatchObject({ used: 1_400, estimated: false })
  })

  test.each([[0], [null], [1.5], [100]])('C-40 CA-15 a reported input of %s is no base', (input) => {
    const talk = open([user(tokens(900))], 100_000)
    const before = talk.figures()
    talk.measured(usage(input, 0))
    expect(talk.figures()).toEqual(before)
    expect(before).toMatchObject({ estimated: true })
  })

  test('C-48 at or under the budget a request goes out untouched', async () => {
    const own = [user('go'), ...step('a', tokens(3_000))]
    const talk = open(own, 3_200)
    expect((await talk.fitted([]))!.slice(1)).toEqual(own)
  })

  test('C-48 C-53 first results, then a summary, once a step and three times a turn, then a cut; a turn that fails leaves no trace', async () => {
    const asked: string[] = []
    const earlier = [user(tokens(900)), ...step('e', tokens(900), 'write_file')]
    const talk = open([user('go'), ...step('a', tokens(1_500))], 3_000, {
      earlier: { summary: [], messages: earlier },
      pruned: async (ids) => void asked.push(`pruned ${ids.join()}`),
      compact: async () => (asked.push('compact'), null),
      notice: (text) => void asked.push(text),
    })
    const fitted = await talk.fitted([])
    expect(asked).toEqual(['pruned item-a'])
    expect(fitted).toHaveLength(7)

    for (let n = 1; n <= 5; n++) {
      talk.beginStep()
      talk.push(...step(`w${n}`, tokens(1_400), 'write_file'))
      const messages = (await talk.fitted([]))!
      expect(isLegal(messages.slice(1))).toBe(true)
      expect(countMessages(messages)).toBeLessThanOrEqual(3_000)
      await talk.fitted([])
    }
    expect(asked.filter((what) => what === 'compact')).toHaveLength(3)
    expect(asked.filter((what) => what.includes('left out'))).toHaveLength(1)

    const hopeless = open([user(tokens(5_000)), ...step('a', tokens(1_500))], 3_000, {
      pruned: async () => void asked.push('never'),
    })
    expect(await hopeless.fitted([])).toBeNull()
    expect(asked).not.toContain('never')
  })

  test('C-4 a later request begins with the bytes of the one before', async () => {
    const talk = open([user('go')], 50_000)
    const first = await talk.fitted([user('only now')])
    talk.push(...step('a', 'x'))
    const second = await talk.fitted([])
    const kept = first!.slice(0, -1)
    expect(JSON.stringify(second!.slice(0, kept.length))).toBe(JSON.stringify(kept))
  })
})
