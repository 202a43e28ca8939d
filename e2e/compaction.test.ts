/** Compaction as scripts meet it, and in a process that is killed in the middle of it. */
import { expect, test, vi } from 'vitest'
import { Lab, readRun, type LabOptions } from './lab.ts'
import { messagesOf, type Step } from './model-server/script.ts'

// Several processes each; on a busy machine they take their time.
vi.setConfig({ testTimeout: 120_000 })

/** What one request may hold is 14,000 tokens. */
const config: LabOptions['config'] = (server) => ({
  providers: {
    lab: {
      kind: 'openai-compatible',
      baseUrl: server.baseUrl,
      models: [{ id: 'scripted', contextLength: 16_000, maxOutput: 1_000 }],
    },
  },
})
const isSummary = { contains: 'Write a summary that will stand in its place' }
const summary: Step = { when: isSummary, emit: [{ text: 'The cart is mended.' }] }
const says = (text: string): Step => ({ emit: [{ text }] })
const long = (n: number) => `ask ${n} ${'word '.repeat(1_500)}`
const lines = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

async function threeTurns(lab: Lab): Promise<string> {
  const { header } = readRun((await lab.lathe(['run', '--json', long(1)])).stdout)
  for (const n of [2, 3]) await lab.lathe(['run', '--session', header.sessionId, long(n)])
  return header.sessionId
}

test('S-126 C-58 C-73 `/compact` on the command line says what came of it, as text and as events', async () => {
  await using lab = await Lab.open({ config, script: [1, 2, 3].map((n) => says(`answer ${n}`)) })
  const { sessionId } = readRun((await lab.lathe(['run', '--json', long(1)])).stdout).header
  const nothing = await lab.lathe(['run', '--session', sessionId, '/compact'])
  expect(nothing).toMatchObject({ code: 0, stdout: 'Nothing to compact.\n' })

  for (const n of [2, 3]) await lab.lathe(['run', '--session', sessionId, long(n)])
  lab.server.enqueue(summary)
  const text = await lab.lathe(['run', '--session', sessionId, '/compact the cart'])
  expect(text).toMatchObject({ code: 0, stdout: 'The cart is mended.\n' })
  expect(text.stderr).toContain('· Compacting context')
  expect(text.stderr).toMatch(/· Context compacted: \d+ to \d+ tokens/)
  expect(messagesOf(lab.asked().at(-1)!.body).at(-1)!.text).toContain('keep especially: the cart')

  lab.server.enqueue(says('answer 4'), says('answer 5'), summary)
  for (const n of [4, 5]) await lab.lathe(['run', '--session', sessionId, long(n)])
  const json = await lab.lathe(['run', '--json', '--session', sessionId, '/compact'])
  expect(json.code).toBe(0)
  expect(lines(json.stdout).map(({ type }) => type)).toEqual(['compaction.started', 'item.put', 'compaction.ended'])

  lab.server.enqueue(says('answer 6'), says('answer 7'))
  for (const n of [6, 7]) await lab.lathe(['run', '--session', sessionId, long(n)])
  lab.server.enqueue({ when: isSummary, error: { status: 400, code: 'invalid_request_error', message: 'No.' } })
  const failed = await lab.lathe(['run', '--session', sessionId, '/compact'])
  expect(failed.code).toBe(1)
  expect(failed.stderr).toContain('rejected the request')
})

test('C-55 a refusal as too long in the middle of a run is mended, and the run says how', async () => {
  const refused: Step = {
    error: { status: 400, code: 'context_length_exceeded', message: 'maximum context length is 12000 tokens' },
  }
  const script = [
    ...[1, 2, 3].map((n) => says(`answer ${n}`)),
    refused,
    { ...summary, repeat: 'always' as const },
    says('answer 4'),
  ]
  await using lab = await Lab.open({ config, script })
  const sessionId = await threeTurns(lab)
  const ended = await lab.lathe(['run', '--session', sessionId, 'ask 4'])
  expect(ended).toMatchObject({ code: 0, stdout: 'answer 4\n' })
  expect(ended.stderr).toContain('· Context compacted: ')
  const shown = await lab.lathe(['sessions', 'show', sessionId])
  expect(shown.stdout).toContain('Context compacted: ')
  expect(shown.stdout).toContain('ask 1 word')
})

test('C-5 C-64 CA-26 K-13 a host killed while a summary is written leaves no trace of it, and the next one is whole', async () => {
  const hanging: Step = { when: isSummary, emit: [{ text: 'Half' }, { hang: true }] }
  await using lab = await Lab.open({ config, script: [...[1, 2, 3].map((n) => says(`answer ${n}`)), hanging] })
  const sessionId = await threeTurns(lab)
  const run = lab.start(['run', '--json', '--session', sessionId, '/compact'])
  await run.line((line) => line.includes('compaction.started'))
  await expect.poll(() => lab.asked().length).toBe(4)
  run.kill('SIGKILL')
  await run.ended

  const before = lines((await lab.lathe(['sessions', 'show', '--json', sessionId])).stdout)
  expect(before[0].compaction).toBeNull()
  expect(before.some(({ kind }) => kind === 'compaction')).toBe(false)
  lab.server.enqueue(summary, says('answer 4'))
  expect((await lab.lathe(['run', '--session', sessionId, '/compact'])).code).toBe(0)
  const after = lines((await lab.lathe(['sessions', 'show', '--json', sessionId])).stdout)
  expect(after.filter(({ kind }) => kind === 'compaction')).toHaveLength(1)
  expect(after.filter(({ kind }) => kind !== 'compaction').slice(1)).toEqual(before.slice(1))
  expect((await lab.lathe(['run', '--session', sessionId, 'ask 4'])).stdout).toBe('answer 4\n')
  expect(messagesOf(lab.asked().at(-1)!.body)[1]!.text).toContain('The cart is mended.')
})
