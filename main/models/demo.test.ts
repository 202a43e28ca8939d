import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readProvidersConfig } from './config.ts'
import type { AssistantPart, ModelMessage, ToolResultPart } from './model.ts'
import { createModels } from './models.ts'
import { hear, joined, readFile as readFileTool, request, types } from '../../e2e/model-server/scripted-models.ts'

const config = readProvidersConfig({})
const models = createModels({ config: () => config, secret: async () => null, env: {} })
let workspace: string

beforeEach(async () => {
  process.env['LATHE_DEMO_SPEED'] = 'fast'
  workspace = await mkdtemp(join(tmpdir(), 'lathe-demo-'))
  await cp(join(import.meta.dirname, '../../assets/demo-workspace'), workspace, { recursive: true })
})

afterEach(async () => {
  delete process.env['LATHE_DEMO_SPEED']
  await rm(workspace, { recursive: true })
})

const user = (text: string): ModelMessage => ({ role: 'user', parts: [{ type: 'text', text }] })

/** The agent's part: runs the calls for real, except those of `denied`, until the script has nothing more to do. */
async function play(messages: ModelMessage[], denied: string[] = []): Promise<{ calls: string[]; answer: string }> {
  const calls: string[] = []
  for (let steps = 0; steps < 20; steps += 1) {
    const events = await hear(models, request('', { model: 'demo/tour', messages, tools: [readFileTool] }))
    const parts: AssistantPart[] = [{ type: 'text', text: joined(events, 'text') }]
    const results: ToolResultPart[] = []
    for (const event of events) {
      if (event.type !== 'callDone' || !('args' in event)) continue
      calls.push(event.name)
      parts.push({ type: 'call', callId: event.id, name: event.name, args: event.args })
      results.push({
        callId: event.id,
        name: event.name,
        ...(denied.includes(event.name)
          ? { text: 'Denied.', isError: true }
          : await runTool(event.name, event.args as Record<string, string>)),
      })
    }
    messages.push({ role: 'assistant', parts })
    if (results.length === 0) return { calls, answer: joined(events, 'text') }
    messages.push({ role: 'tool', results })
  }
  throw new Error('The script does not end.')
}

async function runTool(name: string, args: Record<string, string>): Promise<{ text: string; isError: boolean }> {
  try {
    if (name === 'read_file') return { text: await readFile(join(workspace, args['path']!), 'utf8'), isError: false }
    if (name === 'edit_file') {
      const path = join(workspace, args['path']!)
      const before = await readFile(path, 'utf8')
      if (before.split(args['old_text']!).length !== 2) return { text: 'No single match.', isError: true }
      await writeFile(
        path,
        before.replace(args['old_text']!, () => args['new_text']!),
      )
    }
    if (name === 'shell') return await testWorkspace(args['command']!)
    return { text: 'ok', isError: false }
  } catch (error) {
    return { text: String(error), isError: true }
  }
}

let imports = 0

/** Whether the workspace's one broken expectation holds now; stands for the output of its tests. */
async function testWorkspace(command: string): Promise<{ text: string; isError: boolean }> {
  expect(command).toBe('node --test')
  const { splitBill } = await import(
    /* @vite-ignore */ `${pathToFileURL(join(workspace, 'src/split.js')).href}?${(imports += 1)}`
  )
  const shares: number[] = splitBill(1000, 3)
  return { text: String(shares), isError: shares.reduce((sum, share) => sum + share, 0) !== 1_000 }
}

test('M-128 the tour plans, reads, tests, edits and tests again, and the bug is gone', async () => {
  expect(await testWorkspace('node --test')).toMatchObject({ isError: true })
  const { calls, answer } = await play([user('Fix the failing test')])
  expect(calls).toEqual([
    'update_plan',
    'read_file',
    'read_file',
    'shell',
    'update_plan',
    'edit_file',
    'update_plan',
    'shell',
    'update_plan',
  ])
  expect(answer).toContain('scripted')
  expect(await testWorkspace('node --test')).toMatchObject({ isError: false })
})

test('M-128 the tour copes with a denied edit, denied commands, a fixed workspace and a foreign one', async () => {
  expect((await play([user('go')], ['edit_file'])).answer).toContain('was not made')
  expect((await play([user('go')], ['shell'])).answer).toContain('could not be run')
  expect((await play([user('again, please')])).answer).toContain('fixed here already')
  await rm(join(workspace, 'src'), { recursive: true })
  expect((await play([user('go')])).answer).toContain('only knows the demo workspace')
})

test('M-128 a later question gets a short answer that says how to connect a model; a steer starts nothing anew', async () => {
  const messages = [user('go')]
  await play(messages)
  expect(await play([...messages, user('What is the meaning of life?')])).toMatchObject({
    calls: [],
    answer: expect.stringContaining('Settings, Models'),
  })
  const steered = messages.slice(0, 3)
  const { calls } = await play([...steered, user('be quick')])
  expect(calls).not.toContain('read_file')
})

test('M-128 the echo repeats, the pace is 40 deltas a second, and a stop ends it', async () => {
  delete process.env['LATHE_DEMO_SPEED']
  const begun = performance.now()
  expect(joined(await hear(models, request('one two  three', { model: 'demo/echo' })), 'text')).toBe('one two  three')
  expect(performance.now() - begun).toBeGreaterThan(50)
  const stop = new AbortController()
  const events = await hear(
    models,
    request('one two three', { model: 'demo/echo' }),
    (event) => event.type === 'text' && stop.abort(),
    stop.signal,
  )
  expect(types(events)).toEqual(['started', 'text', 'error'])
  expect(events.at(-1)).toMatchObject({ error: { code: 'provider.stopped' } })
})
