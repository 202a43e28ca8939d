import { afterEach, expect, test } from 'vitest'
import { startModelServer, type ModelServer, type Step } from './server.ts'

let server: ModelServer

afterEach(async () => {
  await server.close().catch(() => {})
})

async function ask(path: string, body: Record<string, unknown>): Promise<Response> {
  return fetch(`${server.url}${path}`, { method: 'POST', body: JSON.stringify({ model: 'm', stream: true, ...body }) })
}

const user = (content: string) => ({ messages: [{ role: 'user', content }] })
const spoken: Step = { emit: [{ text: 'Hi ' }, { text: 'you' }], usage: { input: 3, output: 2 } }

test('M-129 one script is spoken in each protocol', async () => {
  server = await startModelServer({ script: [{ ...spoken, repeat: 3 }] })
  const chat = await (await ask('/v1/chat/completions', user('a'))).text()
  expect(chat).toContain('"delta":{"content":"Hi "}')
  expect(chat.endsWith('data: [DONE]\n\n')).toBe(true)
  const messages = await (await ask('/v1/messages', user('a'))).text()
  expect(messages).toContain('"delta":{"type":"text_delta","text":"you"}')
  expect(messages).toContain('"stop_reason":"end_turn"')
  const ollama = (await (await ask('/api/chat', user('a'))).text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(ollama.at(-1)).toMatchObject({ done: true, done_reason: 'stop', prompt_eval_count: 3, eval_count: 2 })
})

test('M-129 requests are recorded, and one without a step fails the test by its text', async () => {
  server = await startModelServer()
  const response = await ask('/v1/chat/completions', user('nobody planned this'))
  expect(response.status).toBe(501)
  expect(server.asked()[0]).toMatchObject({ method: 'POST', protocol: 'chat', body: { model: 'm' } })
  await expect(server.close()).rejects.toThrow('nobody planned this')
})

test('M-130 each request takes the first step whose condition fits, as often as it repeats', async () => {
  server = await startModelServer({
    script: [
      { when: { lastUserContains: 'fix' }, emit: [{ text: 'fixed' }] },
      { repeat: 2, emit: [{ text: 'other' }] },
    ],
  })
  const answers = []
  for (const prompt of ['hello', 'fix it', 'fix it'])
    answers.push(/fixed|other/.exec(await (await ask('/v1/chat/completions', user(prompt))).text())?.[0])
  expect(answers).toEqual(['other', 'fixed', 'other'])
})

test('M-130 a cut destroys the connection, also inside a character, and an error answers with status and headers', async () => {
  const opening = 'data: {"text":"'
  server = await startModelServer({
    script: [
      { emit: [{ raw: `${opening}é"}\n\n` }], cutAfterBytes: 400 },
      { error: { status: 429, code: 'rate_limit_exceeded', headers: { 'retry-after': '2' } } },
    ],
  })
  const cut = await ask('/v1/chat/completions', user('a'))
  await expect(cut.text()).rejects.toThrow()
  const limited = await ask('/v1/chat/completions', user('a'))
  expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '2'])
  expect(await limited.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } })
})

test('M-130 a hanging reply ends when the client leaves, and is recorded as aborted', async () => {
  server = await startModelServer({ script: [{ emit: [{ text: 'a' }, { hang: true }] }] })
  const stop = new AbortController()
  const response = await fetch(`${server.baseUrl}/chat/completions`, {
    method: 'POST',
    body: '{"stream":true}',
    signal: stop.signal,
  })
  await response.body!.getReader().read()
  stop.abort()
  await expect.poll(() => server.asked()[0]?.aborted).toBe(true)
})

test('fifty thousand tokens are one frame each and all arrive', async () => {
  server = await startModelServer({ script: [{ emit: [{ words: 50_000 }] }] })
  const text = await (await ask('/v1/chat/completions', user('a'))).text()
  expect(text.split('"content":"word "').length - 1).toBe(50_000)
})
