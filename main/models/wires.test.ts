/** The bodies of every kind against golden files (M-34), and what may not change on the way. */
import { expect, test } from 'vitest'
import { knownModel } from './catalog.ts'
import { chatWire } from './chat-wire.ts'
import { readProvidersConfig } from './config.ts'
import type { Droppable } from './failure.ts'
import { messagesWire } from './messages-wire.ts'
import type { ModelRequest } from './model.ts'
import { ollamaWire } from './ollama-wire.ts'
import { responsesWire } from './responses-wire.ts'
import { askOf, carrierOf, fromWireName, toWireName, type Ask } from './wire.ts'

const wires = {
  openai: chatWire,
  'openai-compatible': chatWire,
  'openai-responses': responsesWire,
  anthropic: messagesWire,
  ollama: ollamaWire,
}
type Kind = keyof typeof wires

const image = { mediaType: 'image/png', data: new Uint8Array([137, 80, 78, 71]) }
const longName = `mcp__${'server'.repeat(10)}__tool.with dots`

function ask(
  kind: Kind,
  request: Partial<ModelRequest>,
  more: { lab?: Record<string, unknown>; effort?: string; without?: Droppable[] } = {},
): Ask {
  const lab = readProvidersConfig({
    providers: { lab: { kind, baseUrl: 'https://lab.example/v1', ...more.lab } },
  }).providers.get('lab')!
  const whole: ModelRequest = {
    model: 'lab/m',
    messages: [],
    tools: [],
    sessionId: 'session-1',
    interactive: true,
    maxOutput: 4_096,
    ...(more.effort === undefined ? {} : { effort: more.effort }),
    ...request,
  }
  return askOf(whole, knownModel(lab, 'm', { contextLength: 16_384 }), new Set(more.without))
}

function conversation(kind: Kind): Partial<ModelRequest> {
  const carrier = carrierOf(ask(kind, {}).model, { type: 'thinking', thinking: 'Ich prüfe', signature: 'sig' })
  const foreign = { ...carrier, provider: 'other' }
  return {
    messages: [
      { role: 'system', text: 'You are Lathe.' },
      {
        role: 'user',
        parts: [
          { type: 'text', text: 'Grüße, 你好 🙂' },
          { type: 'image', ...image },
        ],
      },
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 'elsewhere', carrier: foreign },
          { type: 'reasoning', text: 'Ich prüfe', carrier },
          { type: 'text', text: 'Both at once.' },
          { type: 'call', callId: 'call_1', name: 'read_file', args: { path: 'ä.ts' } },
          { type: 'call', callId: 'an id of another kind: '.repeat(3), name: longName, args: 'broken' },
        ],
      },
      {
        role: 'tool',
        results: [
          { callId: 'call_1', name: 'read_file', text: '', isError: false, image },
          { callId: 'an id of another kind: '.repeat(3), name: longName, text: 'not valid', isError: true },
        ],
      },
      { role: 'user', parts: [{ type: 'text', text: 'And now?' }] },
    ],
    tools: [
      {
        name: 'read_file',
        description: 'Reads',
        parameters: { $schema: 'x', type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
      },
      { name: longName, description: 'Long', parameters: { type: 'object' } },
    ],
    temperature: 0.2,
  }
}

test.each(Object.keys(wires) as Kind[])('M-34 M-35 M-37 M-38 M-40 the body of %s, byte for byte', async (kind) => {
  const body = wires[kind].body(ask(kind, conversation(kind), { effort: 'high' }))
  await expect(`${JSON.stringify(body, null, 2)}\n`).toMatchFileSnapshot(`golden/${kind}.golden`)
  expect(JSON.stringify(wires[kind].body(ask(kind, conversation(kind), { effort: 'high' })))).toBe(JSON.stringify(body))
})

test.each(Object.keys(wires) as Kind[])(
  'M-8 M-30 %s: the configuration has the last word, except on the conversation',
  (kind) => {
    const extraBody = {
      temperature: 0,
      model: 'x',
      messages: [],
      input: [],
      stream: false,
      tools: [{ mine: true }],
      other: 1,
    }
    const body = wires[kind].body(ask(kind, conversation(kind), { lab: { extraBody } })) as Record<string, any>
    expect(body).toMatchObject({ model: 'm', stream: true, temperature: 0, other: 1 })
    expect((body['messages'] ?? body['input']).length).toBeGreaterThan(2)
    expect(body['tools']).toHaveLength(3)
    const less = JSON.stringify(
      wires[kind].body(
        ask(kind, conversation(kind), {
          effort: 'high',
          without: ['tools', 'images', 'temperature', 'effort', 'usage'],
        }),
      ),
    )
    for (const absent of ['"tools"', 'iVBOR', '0.2', 'high', 'stream_options', '"thinking":{'])
      expect(less).not.toContain(absent)
    expect(less).toContain('An image was attached here')
  },
)

test('M-36 a long tool name is sent short, stays the same, and comes back whole', () => {
  const short = toWireName(longName)
  expect(short).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
  expect(toWireName(`${longName}2`)).not.toBe(short)
  expect(fromWireName([{ name: longName, description: '', parameters: {} }])(short)).toBe(longName)
})

test('M-38 the cache key tells sessions apart, by nothing of their content', () => {
  const key = (sessionId: string, prompt: string) =>
    chatWire.body(ask('openai', { sessionId, messages: [{ role: 'user', parts: [{ type: 'text', text: prompt }] }] }))[
      'prompt_cache_key'
    ]
  expect(key('a', 'same')).not.toBe(key('b', 'same'))
  expect(key('a', 'one')).toBe(key('a', 'two'))
  expect(key('a', 'one')).toMatch(/^[0-9a-f]{32}$/)
})

test("M-39 a tool loop that began without this model's reasoning goes on without thinking", () => {
  const call = { type: 'call' as const, callId: 'c', name: 'read_file', args: {} }
  const loop = (parts: ModelRequest['messages']) =>
    messagesWire.body(
      ask(
        'anthropic',
        { messages: [{ role: 'user', parts: [{ type: 'text', text: 'go' }] }, ...parts] },
        { effort: 'high' },
      ),
    )
  const result = { role: 'tool' as const, results: [{ callId: 'c', name: 'read_file', text: 'x', isError: false }] }
  expect(loop([{ role: 'assistant', parts: [call] }, result])).not.toHaveProperty('thinking')
  expect(loop([])).toHaveProperty('thinking')
})
