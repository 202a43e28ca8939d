import { expect, test } from 'vitest'
import { chooseEffort, knownModel } from './catalog.ts'
import { readProvidersConfig } from './config.ts'

const provider = (entry: Record<string, unknown>) =>
  readProvidersConfig({ providers: { p: entry } }).providers.get('p')!

test('M-12 M-20 each field comes from the best source, and an unknown context length is marked assumed', () => {
  const openai = provider({ kind: 'openai', models: [{ id: 'gpt-4o', maxOutput: 100 }] })
  expect(knownModel(openai, 'gpt-4o', { contextLength: 99_999 })).toMatchObject({
    contextLength: 99_999,
    contextLengthSource: 'server',
    maxOutput: 100,
    vision: true,
  })
  expect(knownModel(openai, 'gpt-4o-2024-11-20', undefined)).toMatchObject({
    contextLength: 128_000,
    contextLengthSource: 'catalog',
    price: { input: 2.5 },
  })
  expect(knownModel(openai, 'gpt-99', undefined)).toMatchObject({
    contextLength: 128_000,
    contextLengthSource: 'assumed',
    tools: null,
    price: null,
  })
})

test('M-111 a server of this machine has 8,192 tokens unless it says more, and costs nothing', () => {
  const local = provider({ kind: 'openai-compatible', baseUrl: 'http://localhost:8080/v1' })
  expect(knownModel(local, 'x', undefined)).toMatchObject({
    contextLength: 8_192,
    contextLengthSource: 'assumed',
    price: { input: 0, output: 0 },
    local: true,
  })
})

test.each([
  ['high', ['low', 'medium'], 'medium'],
  ['low', ['medium', 'high'], 'medium'],
  ['high', ['high', 'low'], 'high'],
  ['xhigh', null, 'xhigh'],
  ['high', [], undefined],
  ['loud', null, undefined],
  [undefined, ['low'], undefined],
])('M-32 effort %s of %j is sent as %s', (wanted, offered, sent) => {
  expect(chooseEffort(wanted, offered)).toBe(sent)
})
