import { expect, test } from 'vitest'
import { z } from 'zod'
import { defaultSettings } from '../../preload/contract/settings.ts'
import type { ModelEvent, ModelInfo, ModelRequest, Models } from '../models/model.ts'
import { createRedaction } from '../platform/redaction.ts'
import type { Blobs } from '../storage/blobs.ts'
import { createRegistry } from '../tools/registry.ts'
import type { Tool } from '../tools/tool.ts'
import { budgetOf } from './budget.ts'
import { Conversation } from './conversation.ts'
import type { Report } from './reports.ts'
import { runTurn } from './run-turn.ts'

const model: ModelInfo = {
  name: 'lab/scripted',
  label: 'Scripted',
  contextLength: 1_000,
  contextLengthSource: 'config',
  maxOutput: 100,
  tools: true,
  vision: false,
  efforts: null,
  price: null,
  local: false,
}

const usage = (input: number, output: number): ModelEvent => ({
  type: 'usage',
  usage: { input, output, reasoning: null, cacheRead: null, cacheWrite: null, total: null, estimated: false },
})
const started: ModelEvent = { type: 'started', provider: 'lab', model: 'scripted' }
const text = (delta: string, deltas = 1): ModelEvent => ({ type: 'text', delta, deltas })
const finish = (reason: 'stop' | 'tools' = 'stop'): ModelEvent => ({ type: 'finish', reason, empty: false })
const call = (name: string): ModelEvent => ({ type: 'callDone', id: `c-${name}`, name, args: {} })

/** One request: what the model streams; a number lets that many milliseconds pass, a function does something. */
type Reply = (ModelEvent | number | (() => void))[]

/** A turn whose clock only a script moves on, with the tools `tool` and `other`. */
function turn(replies: Reply[], more: { at?: (moment: Report['type'] | 'tool runs', stop: () => void) => void } = {}) {
  const reports: Report[] = []
  const asked: ModelRequest[] = []
  const ran: string[] = []
  const controller = new AbortController()
  const request = { current: new AbortController() }
  let now = 1_000
  let ids = 0
  const models = {
    async *stream(what: ModelRequest, signal: AbortSignal) {
      asked.push({ ...what, messages: [...what.messages] })
      for (const part of replies[asked.length - 1] ?? []) {
        if (signal.aborted) {
          yield { type: 'error', error: { code: 'provider.stopped', message: '', provider: 'lab', model: 'scripted' } }
          return
        }
        if (typeof part === 'number') now += part
        else if (typeof part === 'function') part()
        else yield part
      }
    },
  } as unknown as Models
  const tool = (name: string): Tool => ({
    name,
    description: '',
    input: z.object({}),
    concurrent: false,
    title: () => name,
    plan: async () => ({ effects: [{ kind: 'none' }], preview: { title: '', detail: '', detailKind: 'text' } }),
    run: async () => {
      ran.push(name)
      more.at?.('tool runs', () => controller.abort('person'))
      return { text: 'fine', isError: false }
    },
  })
  const budget = budgetOf(model, defaultSettings)
  const done = runTurn({
    port: {
      turnId: 't1',
      sessionId: 's1',
      signal: controller.signal,
      report: async (report) => {
        reports.push(report)
        more.at?.(report.type, () => controller.abort('person'))
        if (report.type === 'boundary') return { steers: [], ended: false }
        return report.type === 'mayEnd' ? { steers: [], ended: true } : null
      },
      stream: (report) => void reports.push(report),
      ticket: async () => ({ run: true }),
      requestSignal: () => AbortSignal.any([controller.signal, (request.current = new AbortController()).signal]),
      newId: () => `i${++ids}`,
      now: () => now,
    },
    models,
    model,
    registry: createRegistry([tool('tool'), tool('other')]),
    blobs: {} as Blobs,
    workspace: '/work',
    extraFolders: () => [],
    closes: true,
    parallel: true,
    redaction: createRedaction({ known: [], loose: false }),
    effort: null,
    maxSteps: 10,
    tools: [],
    budget: () => budget,
    conversation: new Conversation({
      model: model.name,
      system: 'system',
      toolTokens: 0,
      earlier: { summary: [], messages: [] },
      own: [{ role: 'user', parts: [{ type: 'text', text: 'do it' }] }],
      budget,
      known: null,
      reproducible: () => false,
      pruned: async () => {},
      compact: async () => null,
      notice: () => {},
    }),
    loadBodies: async () => ({ results: new Map(), attachments: new Map(), images: new Map() }),
  })
  const of = <T extends Report['type']>(type: T) =>
    reports.filter((report): report is Extract<Report, { type: T }> => report.type === type)
  return { done, of, reports, asked, ran, controller, request }
}

test('T-71 the first token is counted from its request to the first text or reasoning', async () => {
  const { done, of } = turn([
    [started, 300, { type: 'reasoning', delta: 'Hm', deltas: 1 }, 50, text('Next.'), call('tool'), finish('tools')],
    [started, 120, text('Done.'), finish()],
  ])
  await done
  expect(of('stepEnded').map(({ firstTokenMs }) => firstTokenMs)).toEqual([300, 120])
})

test('T-88 usage is told at most once a second while text streams, at once at the end of a step, never while nothing streams', async () => {
  const { done, reports } = turn([
    [
      started,
      5_000,
      ...Array.from({ length: 25 }, (): Reply => [text('word '), 100]).flat(),
      10_000,
      usage(10, 25),
      finish(),
    ],
  ])
  await done
  const told = reports.flatMap((report): unknown[] =>
    report.type === 'usage' ? [report.rate] : report.type === 'stepEnded' ? [report.turn] : [],
  )
  // 2.5 s of text after 5 s of waiting: at its begin, and then once in each second.
  expect(told).toEqual([null, 10, 10, expect.objectContaining({ input: 10, output: 25 })])
})

test('T-89 the live rate is of deltas between the first and the last, to one decimal; below two, or without time, none', async () => {
  const rates = async (reply: Reply) => {
    const { done, of } = turn([[started, 1_000, ...reply, finish()]])
    await done
    return of('usage').map(({ rate }) => rate)
  }
  expect(await rates([text('one')])).toEqual([null])
  expect(await rates([text('one'), text('two')])).toEqual([null])
  expect(await rates([text('one two three', 3), 1_500, text(' four', 1)])).toEqual([null, 2])
  expect(await rates([text('a'), 700, text('b'), 800, { type: 'reasoning', delta: 'c', deltas: 5 }])).toEqual([null, 4])
})

test('T-89 the settled rate rests on reported tokens and the time they streamed', async () => {
  const { done, of } = turn([
    [started, 500, text('a'), 2_000, text('b'), usage(1, 30), call('tool'), finish('tools')],
    [started, 100, text('c'), finish()],
  ])
  await done
  expect(of('stepEnded').map(({ usage: told, streamedMs }) => [told?.output ?? null, streamedMs])).toEqual([
    [30, 2_000],
    [null, 0],
  ])
})

test('T-39 after an abort neither a request nor a call begins, whatever is answered', async () => {
  const beforeRequest = turn([[started, text('x'), finish()]], {
    at: (moment, stop) => void (moment === 'stepStarted' && stop()),
  })
  await beforeRequest.done
  expect(beforeRequest.asked).toHaveLength(0)

  const betweenCalls = turn(
    [
      [started, call('tool'), call('other'), finish('tools')],
      [started, text('x'), finish()],
    ],
    {
      at: (moment, stop) => void (moment === 'tool runs' && stop()),
    },
  )
  await betweenCalls.done
  expect(betweenCalls.ran).toEqual(['tool'])
  expect(betweenCalls.of('toolEnded').map(({ end }) => end.state)).toEqual(['ok', 'cancelled'])
  expect(betweenCalls.asked).toHaveLength(1)

  const inRequest = turn([[started, text('Half'), () => inRequest.controller.abort('person'), text('more')]])
  await inRequest.done
  expect(inRequest.asked).toHaveLength(1)
  expect(inRequest.of('mayEnd')).toHaveLength(0)
})

test('T-121 calls of a request that was aborted before its end never run, and the next request has none of them', async () => {
  const { done, ran, asked, of, request } = turn([
    [started, text('One'), call('tool'), () => request.current.abort('steer'), text('never')],
    [started, text('Two'), finish()],
  ])
  await done
  expect(ran).toEqual([])
  expect(of('toolProposed')).toEqual([])
  expect(of('stepEnded').map((report) => report.finish)).toEqual(['aborted', 'stop'])
  expect(asked[1]!.messages.slice(2)).toEqual([{ role: 'assistant', parts: [{ type: 'text', text: 'One' }] }])
})
