import { createHash } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { LatheError } from '../../preload/contract/errors.ts'
import { createRedaction } from '../platform/redaction.ts'
import type { Blobs } from '../storage/blobs.ts'
import { createRegistry } from '../tools/registry.ts'
import type { Tool, ToolContext, ToolResult } from '../tools/tool.ts'
import type { Release, Report } from './reports.ts'
import { runCalls, type CallsInput, type ModelCall } from './tool-calls.ts'

type Made = Partial<Tool> & { name: string; run?: (input: any, context: ToolContext) => Promise<ToolResult> }

const fine = async (): Promise<ToolResult> => ({ text: 'fine', isError: false })

function tool(made: Made): Tool {
  return {
    description: '',
    input: z.object({ path: z.string().optional() }),
    concurrent: false,
    title: () => made.name,
    plan: async () => ({ effects: [{ kind: 'none' }], preview: { title: '', detail: '', detailKind: 'text' } }),
    run: fine,
    ...made,
  }
}

/** A turn whose calls are all allowed, and what it was told. */
function turn(
  tools: Made[],
  more: { parallel?: boolean; verdict?: (itemId: string) => Release | Promise<Release> } = {},
) {
  const reports: Report[] = []
  const controller = new AbortController()
  const stored = new Map<string, string>()
  let ids = 0
  const blobs = {
    put: async (content: string) => {
      const hash = createHash('sha256').update(content).digest('hex')
      stored.set(hash, content)
      return hash
    },
  } as unknown as Blobs
  const input: CallsInput = {
    port: {
      turnId: 't1',
      sessionId: 's1',
      signal: controller.signal,
      report: async (report) => (reports.push(report), null),
      stream: (report) => void reports.push(report),
      ticket: async (id) => more.verdict?.(id) ?? { run: true },
      requestSignal: () => controller.signal,
      newId: () => `i${++ids}`,
      now: () => performance.now(),
    },
    registry: createRegistry(tools.map(tool)),
    blobs,
    workspace: '/work',
    extraFolders: () => [],
    parallel: more.parallel ?? true,
    redaction: createRedaction({ known: [], loose: false }),
  }
  const ends = () => reports.flatMap((report) => (report.type === 'toolEnded' ? [report] : []))
  return { input, reports, ends, stored, controller }
}

const call = (name: string, args: Record<string, unknown> = {}): ModelCall => ({ callId: `c-${name}`, name, args })

test('X-701 an unknown name is answered with close ones', async () => {
  const { input } = turn([{ name: 'read_file' }, { name: 'write_file' }])
  const [result] = await runCalls([call('raed_file')], input)
  expect(result).toMatchObject({
    isError: true,
    callId: 'c-raed_file',
    text: expect.stringContaining('Did you mean read_file'),
  })
})

test('X-703 X-704 XA-28 neighbours that may run together do; results are in the order of the calls', async () => {
  const log: string[] = []
  const run = (name: string, until?: Promise<void>, then?: () => void) => async (): Promise<ToolResult> => {
    log.push(`+${name}`)
    await until
    log.push(`-${name}`)
    then?.()
    return { text: name, isError: false }
  }
  // The first ends after the second.
  const second = Promise.withResolvers<void>()
  const { input, ends } = turn([
    { name: 'a', concurrent: true, run: run('a', second.promise) },
    { name: 'b', concurrent: true, run: run('b', undefined, second.resolve) },
    { name: 'shell', run: run('shell') },
  ])
  const results = await runCalls([call('a'), call('b'), call('shell'), call('a'), call('nope'), call('b')], input)
  expect(results.map(({ text }) => text.split('\n')[0])).toEqual([
    'a',
    'b',
    'shell',
    'a',
    'There is no tool "nope".',
    'b',
  ])
  expect(log).toEqual(['+a', '+b', '-b', '-a', '+shell', '-shell', '+a', '-a', '+b', '-b'])
  // Each card is done as soon as its call is.
  expect(
    ends()
      .map(({ end }) => end.summary.split('\n')[0])
      .slice(0, 2),
  ).toEqual(['b', 'a'])
})

test('T-38 a command that only reads starts a process, so it waits until its start is durable', async () => {
  const plan: Tool['plan'] = async () => ({
    effects: [{ kind: 'read', path: '/work/a', inside: true, secret: false }],
    preview: { title: '', detail: '', detailKind: 'text' },
  })
  const { input, reports } = turn([
    { name: 'read_file', concurrent: true, reproducible: true, plan },
    { name: 'shell', reproducible: true, plan },
  ])
  await runCalls([call('read_file'), call('shell')], input)
  const ready = reports.flatMap((report) => (report.type === 'toolReady' ? [[report.tool, report.looksOnly]] : []))
  expect(ready).toEqual([
    ['read_file', true],
    ['shell', false],
  ])
})

test('X-703 at most eight of a batch run at once; switched off, every batch is one call', async () => {
  for (const [parallel, most] of [
    [true, 8],
    [false, 1],
  ] as const) {
    let running = 0
    let seen = 0
    const { input } = turn(
      [
        {
          name: 'a',
          concurrent: true,
          run: async () => {
            seen = Math.max(seen, ++running)
            await new Promise((resolve) => setTimeout(resolve, 5))
            running--
            return { text: '', isError: false }
          },
        },
      ],
      { parallel },
    )
    await runCalls(
      Array.from({ length: 12 }, () => call('a')),
      input,
    )
    expect(seen).toBe(most)
  }
})

test('X-706 XA-31 arguments that do not fit name field, expected and given; nothing runs', async () => {
  const run = vi.fn<typeof fine>(fine)
  const { input } = turn([{ name: 'a', input: z.object({ count: z.number(), path: z.string() }), run }])
  const [bad, broken] = await runCalls(
    [call('a', { count: 'many' }), { ...call('a'), invalid: 'The arguments were no JSON.' }],
    input,
  )
  expect(bad!.text).toContain('count: Invalid input: expected number, received string; given "many"')
  expect(bad!.text).toContain('path: Invalid input: expected string, received undefined; given nothing')
  expect(broken!.text).toContain('The arguments were no JSON.')
  expect(run).not.toHaveBeenCalled()
})

test('X-707 X-710 a tool that throws is an error for the model, without a stack, with one hint', async () => {
  const { input, ends } = turn([{ name: 'a', run: async () => Promise.reject(new Error('it broke')) }])
  const [result] = await runCalls([call('a')], input)
  expect(result!.text).toBe('it broke\nWork out why before trying something different.')
  expect(ends()[0]!.end).toMatchObject({ state: 'error', code: 'tool.failed' })
})

test('X-326 X-710 XA-30 what policy refuses carries no hint; the words of a result decide nothing', async () => {
  const codes = ['path.outside_workspace', 'network.blocked', 'command.forbidden', 'policy.denied'] as const
  for (const code of codes) {
    const { input } = turn([{ name: 'a', plan: async () => Promise.reject(new LatheError(code, 'No.')) }])
    expect((await runCalls([call('a')], input))[0]!.text).toBe('No.')
  }
  const says = 'path outside workspace, approval denied'
  const { input, ends } = turn([{ name: 'a', run: async () => ({ text: says, isError: false }) }])
  expect((await runCalls([call('a')], input))[0]).toMatchObject({ isError: false, text: says })
  expect(ends()[0]!.end.code).toBeUndefined()
})

test('X-711 XA-30 the third refusal at the boundary tells the agent to stop trying', async () => {
  const refuse = async () => Promise.reject(new LatheError('path.outside_workspace', 'Outside.'))
  const { input, ends } = turn([{ name: 'a', plan: refuse }, { name: 'b' }])
  const texts: string[] = []
  for (const args of [{ path: '/etc/x' }, { path: '/etc/x' }, { path: '/other' }, { path: '/etc/x' }])
    texts.push((await runCalls([call('a', args), call('b')], input))[0]!.text)
  expect(texts.slice(0, 3)).toEqual(['Outside.', 'Outside.', 'Outside.'])
  expect(texts[3]).toContain('third time')
  expect(ends().flatMap(({ end }) => (end.escalated ? [end.code] : []))).toEqual(['path.outside_workspace'])
})

test('X-714 XA-32 what is over the cap is cut in the middle and kept whole; nothing is "(no output)"', async () => {
  const long = 'x'.repeat(200_000)
  const { input, ends, stored } = turn([
    { name: 'a', run: async () => ({ text: long, isError: false }) },
    { name: 'b', run: async () => ({ text: '', isError: false }) },
  ])
  const [cut, none] = await runCalls([call('a'), call('b')], input)
  const hash = createHash('sha256').update(long).digest('hex')
  expect(stored.get(hash)).toBe(long)
  expect(cut!.text).toBe(
    `${'x'.repeat(6_400)}\n[... 184,000 characters, 0 lines left out; all of it: output:${hash} ...]\n${'x'.repeat(9_600)}`,
  )
  expect(ends()[0]!.end.view).toMatchObject({ outputRef: hash })
  expect(none!.text).toBe('(no output)')
})

test('X-715 of progress the latest wins, and not more than the card needs', async () => {
  const { input, reports } = turn([
    {
      name: 'a',
      run: async (_, { progress }) => {
        for (let done = 1; done <= 100; done++) progress({ message: 'm'.repeat(300), done, total: 100 })
        await new Promise((resolve) => setTimeout(resolve, 250))
        return { text: '', isError: false }
      },
    },
  ])
  await runCalls([call('a')], input)
  const told = reports.flatMap((report) => (report.type === 'toolProgress' ? [report.progress] : []))
  expect(told.map(({ done }) => done)).toEqual([1, 100])
  expect(told[0]!.message).toHaveLength(200)
})

test('X-718 a tool without a limit of its own is ended after two minutes', async () => {
  vi.useFakeTimers()
  try {
    let aborted = false
    const { input } = turn([
      {
        name: 'a',
        run: (_, { signal }) =>
          new Promise((_resolve, reject) =>
            signal.addEventListener('abort', () => ((aborted = true), reject(new Error('late')))),
          ),
      },
    ])
    const results = runCalls([call('a')], input)
    await vi.advanceTimersByTimeAsync(120_000)
    expect((await results)[0]!.text).toContain('took longer than 120 s')
    expect(aborted).toBe(true)
  } finally {
    vi.useRealTimers()
  }
})

test('X-708 XA-29 after Stop each call has one result: what began says how it ended, the rest were cancelled', async () => {
  const { input, ends, controller } = turn([
    { name: 'first', run: fine },
    {
      name: 'hangs',
      run: (_, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    },
    { name: 'never', run: fine },
  ])
  const results = runCalls([call('first'), call('hangs'), call('never')], input)
  await vi.waitFor(() => expect(ends()).toHaveLength(1), { timeout: 10_000 })
  controller.abort(new Error('stop'))
  expect(await results).toHaveLength(3)
  expect(ends().map(({ end }) => end.state)).toEqual(['ok', 'cancelled', 'cancelled'])
})

test('X-702 XA-33 nothing runs without its verdict', async () => {
  const run = vi.fn<typeof fine>(fine)
  const denied: Release = {
    run: false,
    state: 'denied',
    error: { code: 'approval.denied', message: 'The person denied this.' },
  }
  const { input } = turn([{ name: 'a', run }], { verdict: () => denied })
  expect((await runCalls([call('a')], input))[0]!.text).toBe('The person denied this.')
  expect(run).not.toHaveBeenCalled()
})

test('X-320 XA-13 a check that takes too long refuses, and what it would have allowed never runs', async () => {
  vi.useFakeTimers()
  try {
    const run = vi.fn<typeof fine>(fine)
    let allow!: () => void
    const { input } = turn([
      {
        name: 'a',
        run,
        plan: () =>
          new Promise(
            (resolve) =>
              (allow = () => resolve({ effects: [], preview: { title: '', detail: '', detailKind: 'text' } })),
          ),
      },
    ])
    const results = runCalls([call('a')], input)
    await vi.advanceTimersByTimeAsync(6_000)
    expect((await results)[0]!.text).toContain('Checking this call took too long')
    allow()
    await vi.advanceTimersByTimeAsync(3_000)
    expect(run).not.toHaveBeenCalled()
  } finally {
    vi.useRealTimers()
  }
})

test('X-422 what a result gave is given only once it was recorded', async () => {
  const recorded = vi.fn<() => void>()
  const { input, controller } = turn([{ name: 'a', run: async () => ({ text: 'x', isError: false, recorded }) }])
  await runCalls([call('a')], input)
  expect(recorded).toHaveBeenCalledTimes(1)
  input.port.report = async () => ({ steers: [], ended: true })
  await runCalls([call('a')], input)
  expect(recorded).toHaveBeenCalledTimes(1)
  controller.abort()
})

test('X-716 T-55 long arguments are a blob; the card has the beginning of each text, the tool all of it', async () => {
  let given = ''
  const { input, reports, stored } = turn([
    {
      name: 'write_file',
      input: z.object({ path: z.string(), content: z.string() }),
      run: async ({ content }) => {
        given = content
        return { text: 'fine', isError: false }
      },
    },
  ])
  const content = 'line "one"\n'.repeat(20_000)
  await runCalls(
    [call('write_file', { path: 'a.txt', content }), call('write_file', { path: 'b.txt', content: 'x' })],
    input,
  )
  expect(given).toBe('x')
  const [long, short] = reports.flatMap((report) => (report.type === 'toolProposed' ? [report] : []))
  expect(long!.args).toEqual({ path: 'a.txt', content: `${content.slice(0, 1_000)}…` })
  expect(JSON.parse(stored.get(long!.argsRef!)!)).toEqual({ path: 'a.txt', content })
  expect(short).toMatchObject({ args: { path: 'b.txt', content: 'x' } })
  expect(short!.argsRef).toBeUndefined()
})

test('X-713 the third identical look-up of a turn does not run; another target does', async () => {
  let runs = 0
  const { input, ends } = turn([
    {
      name: 'web_fetch',
      concurrent: true,
      input: z.object({ url: z.string() }),
      lookup: ({ url }: { url: string }) => url,
      run: async () => (runs++, { text: 'page', isError: false }),
    },
  ])
  const at = (url: string) => call('web_fetch', { url })
  for (let step = 0; step < 2; step++) await runCalls([at('https://a.test/')], input)
  const [third] = await runCalls([at('https://a.test/')], input)
  expect(third).toMatchObject({ isError: true, text: expect.stringContaining('looked up twice') })
  expect(ends().at(-1)!.end).toMatchObject({ state: 'error', code: 'tool.repeated_lookup', durationMs: null })
  await runCalls([at('https://b.test/')], input)
  expect(runs).toBe(3)
})

test('X-321 X-707 whatever is thrown while a call is looked at refuses it: nothing runs, and nobody is asked', async () => {
  let runs = 0
  const { input, reports, ends } = turn([
    {
      name: 'broken',
      plan: async () => {
        throw new TypeError('broken')
      },
      run: async () => (runs++, { text: 'ran', isError: false }),
    },
  ])
  const [result] = await runCalls([call('broken')], input)
  expect(result).toMatchObject({ isError: true, text: expect.stringContaining('broken') })
  expect(ends()[0]!.end).toMatchObject({ state: 'error', code: 'tool.failed' })
  expect(reports.some((report) => report.type === 'toolReady')).toBe(false)
  expect(runs).toBe(0)
})
