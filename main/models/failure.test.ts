import { describe, expect, test } from 'vitest'
import { readProvidersConfig } from './config.ts'
import { classify, modelError, transportFailure, type Failure } from './failure.ts'
import { NetError } from '../platform/net.ts'
import { retryAfter } from './retry-after.ts'

const now = Date.parse('2026-01-01T00:00:00Z')

function failed(
  status: number | undefined,
  body: unknown,
  options: { headers?: Record<string, string>; key?: boolean } = {},
): Failure {
  return classify(
    { status, headers: options.headers ?? {}, body, text: JSON.stringify(body) },
    options.key ?? true,
    now,
  )
}

const error = (fields: Record<string, unknown>) => ({ error: { message: 'no', ...fields } })

describe('M-68 M-69 the code of a failure', () => {
  test.each([
    [429, error({ code: 'insufficient_quota' }), 'provider.quota_exhausted'],
    [401, error({ code: 'insufficient_quota' }), 'provider.quota_exhausted'],
    [402, error({}), 'provider.quota_exhausted'],
    [429, error({ type: 'rate_limit_error' }), 'provider.rate_limited'],
    [401, error({}), 'provider.auth_invalid'],
    [403, error({ type: 'permission_error' }), 'provider.auth_invalid'],
    [404, error({ message: 'The model `x` does not exist' }), 'model.not_found'],
    [400, error({ code: 'model_not_found' }), 'model.not_found'],
    [500, error({ message: 'took 4290 ms' }), 'provider.unavailable'],
    [529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'provider.unavailable'],
    [408, 'timeout', 'provider.unavailable'],
    [400, error({ code: 'context_length_exceeded' }), 'provider.context_overflow'],
    [
      400,
      error({ type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' }),
      'provider.context_overflow',
    ],
    [
      400,
      error({ type: 'exceed_context_size_error', message: 'the request exceeds the available context size' }),
      'provider.context_overflow',
    ],
    [
      400,
      error({ message: 'messages.1.content.0: Invalid `signature` in `thinking` block' }),
      'provider.carrier_rejected',
    ],
    [400, error({ message: 'Your credit balance is too low to access the API' }), 'provider.quota_exhausted'],
    [400, error({ message: 'file not found: a tool said so' }), 'provider.request_rejected'],
    [400, { error: 'this model does not support images' }, 'provider.input_rejected'],
    [undefined, error({ code: 'overloaded' }), 'provider.unavailable'],
    [undefined, error({ code: 429 }), 'provider.rate_limited'],
    [undefined, error({}), 'provider.unavailable'],
  ])('%s %j is %s', (status, body, code) => {
    expect(failed(status, body).code).toBe(code)
  })

  test('without a key a refusal says that one is missing', () => {
    expect(failed(401, error({}), { key: false }).code).toBe('provider.auth_missing')
  })

  test('on this machine a refused connection means the server is off, and no word of a key', () => {
    const { providers } = readProvidersConfig({
      providers: { lab: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1' }, far: { kind: 'openai' } },
    })
    const broken = new NetError('broken', 'connect ECONNREFUSED', 'ECONNREFUSED')
    const local = modelError(transportFailure(broken, providers.get('lab')!), providers.get('lab')!, 'm', null)
    expect(local).toMatchObject({ code: 'provider.local_server_off', providerCode: 'ECONNREFUSED' })
    expect(`${local.message} ${local.hint}`).not.toMatch(/key/i)
    expect(transportFailure(broken, providers.get('far')!).code).toBe('provider.unreachable')
  })
})

test.each([
  [{ param: 'temperature', message: 'no' }, 'temperature'],
  [{ message: "Unsupported parameter: 'reasoning_effort'" }, 'effort'],
  [{ message: 'registry.example/x does not support tools' }, 'tools'],
  [{ message: 'Unknown parameter: `stream_options`' }, 'usage'],
  [{ message: 'image_url is only supported by certain models' }, 'images'],
])('M-30 a refusal that names a parameter says what to leave out: %j', (fields, drop) => {
  expect(failed(400, error(fields)).drop).toBe(drop)
})

test('M-67 an error is bounded, free of markup and keys, and never empty', () => {
  const provider = readProvidersConfig({
    providers: { lab: { kind: 'openai-compatible', baseUrl: 'https://lab.example' } },
  }).providers.get('lab')!
  const page = `<html><style>a{}</style><body>Bad   gateway, key=my-secret-key Bearer abcdefghijkl${'x'.repeat(5_000)}</body></html>`
  const shown = modelError(
    { code: 'provider.unavailable', text: '<b>oh</b>', detail: page, status: 502 },
    provider,
    'm',
    'my-secret-key',
  )
  expect(shown.message).toBe('lab is not available at the moment. oh')
  expect(shown.detail).toMatch(/^Bad gateway, key=\[redacted\] \[redacted\]/)
  expect(shown.detail!.length).toBeLessThanOrEqual(1_200)
  expect(modelError({ code: 'provider.unavailable', text: ' ' }, provider, 'm', null).message).not.toBe('')
  expect(modelError({ code: 'provider.protocol_error' }, provider, 'm', null)).toMatchObject({
    code: 'provider.unavailable',
    reason: 'protocol',
  })
})

test.each([
  [{ 'retry-after-ms': '1500' }, {}, 1_500],
  [{ 'retry-after': '2' }, {}, 2_000],
  [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:07 GMT' }, {}, 7_000],
  [{}, { error: { details: [{ retryDelay: '12s' }] } }, 12_000],
  [
    {
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': '1m2s',
      'x-ratelimit-remaining-requests': '5',
      'x-ratelimit-reset-requests': '9m',
    },
    {},
    62_000,
  ],
  [{ 'retry-after': '-5' }, {}, undefined],
  [{ 'retry-after': '90000' }, {}, undefined],
  [{ 'retry-after': 'soon' }, {}, undefined],
])('M-79 the time a provider names: %j %j', (headers, body, ms) => {
  expect(retryAfter(headers as Record<string, string>, body, now)).toBe(ms)
})
