import { expect, test } from 'vitest'
import { readProvidersConfig, splitName } from './config.ts'

const compatible = { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1/' }

test('M-1 a bad entry is off with its reason, the others work, unknown keys are only reported', () => {
  const config = readProvidersConfig({
    providers: {
      good: { ...compatible, colour: 'red' },
      bad: { kind: 'openai-compatible' },
      worse: { kind: 'nonsense' },
      Wrong: compatible,
    },
    presets: { careful: { model: 'good/m' }, broken: { effort: 'high' } },
    fallback: 'not a list',
  })
  expect([...config.providers.keys()]).toEqual(['good', 'demo'])
  expect(config.off.get('bad')).toBe('baseUrl is missing.')
  expect(config.off.get('worse')).toMatch(/^kind is not one of openai, /)
  expect(config.off.has('Wrong')).toBe(true)
  expect([...config.presets.keys()]).toEqual(['careful'])
  expect(config.problems.map(({ where }) => where)).toEqual(
    expect.arrayContaining([
      'providers.good.colour',
      'providers.bad',
      'providers.worse',
      'providers.Wrong',
      'presets.broken',
      'fallback',
    ]),
  )
  expect(readProvidersConfig('nothing at all').model).toBeNull()
})

test('M-2 a model name is split at the first slash only', () => {
  expect(splitName('lab/org/m:7b')).toEqual({ provider: 'lab', model: 'org/m:7b' })
})

test('M-6 trailing slashes and a pasted version part of the address do not matter', () => {
  const { providers } = readProvidersConfig({
    providers: {
      a: compatible,
      b: { kind: 'anthropic', baseUrl: 'https://proxy.example/v1/' },
      c: { kind: 'ollama', baseUrl: 'http://box:11434/' },
    },
  })
  expect(['a', 'b', 'c'].map((id) => providers.get(id)?.baseUrl)).toEqual([
    'http://127.0.0.1:9/v1',
    'https://proxy.example',
    'http://box:11434',
  ])
})

test('M-84 limits are whole seconds: invalid ones are ignored, long ones clamped, only total may be 0', () => {
  const timeouts = (given: unknown, baseUrl = 'https://remote.example/v1') =>
    readProvidersConfig({ providers: { a: { ...compatible, baseUrl, timeouts: given } } }).providers.get('a')!.timeouts
  expect(timeouts({ idle: 'abc', firstToken: -1, plain: 9_999, total: 0, connect: 1.5 })).toEqual({
    connect: 10,
    firstToken: 300,
    idle: 90,
    total: 0,
    plain: 3_600,
  })
  expect(timeouts({ total: 90_000 }).total).toBe(86_400)
  expect(timeouts({}, 'http://192.168.1.4:8080')).toEqual({
    connect: 5,
    firstToken: 1_200,
    idle: 90,
    total: 3_600,
    plain: 1_200,
  })
})

test('M-128 the demo needs no entry', () => {
  expect(readProvidersConfig({}).providers.get('demo')).toMatchObject({ kind: 'demo', label: 'Demo' })
})
