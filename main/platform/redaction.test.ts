import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { secretVariables } from './known-values.ts'
import { addsPlaceholder, createRedaction } from './redaction.ts'
import { cpuMs } from './test-loop.ts'

const known = [
  { name: 'LAB_KEY', value: 'p@ss "word"/42' },
  { name: 'LONG_KEY', value: 'abcdefgh-and-more' },
  { name: 'SHORT_KEY', value: 'abcdefgh' },
  { name: 'OVERLAP_KEY', value: 'efghijkl' },
]
const sure = createRedaction({ known, loose: false })
const loose = createRedaction({ known: [], loose: true })

const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U'
const key = `-----BEGIN RSA PRIVATE KEY-----\n${'MIIEpAIBAAKCAQEA7\n'.repeat(20)}-----END RSA PRIVATE KEY-----`

describe('Z-100 sure patterns', () => {
  test.each([
    [`before ${key} after`, 'before [redacted:private-key] after'],
    ['-----BEGIN PUBLIC KEY-----', '-----BEGIN PUBLIC KEY-----'],
    [`token ${jwt}.`, 'token [redacted:jwt]'],
    ['Authorization: Bearer abc123def', 'Authorization: Bearer [redacted:authorization]'],
    [`curl -H "authorization: Basic dXNlcjpwYXNz" x`, 'curl -H "authorization: Basic [redacted:authorization]" x'],
    [`{"Authorization":"Bearer sk12345678"}`, '{"Authorization":"Bearer [redacted:authorization]"}'],
    ['headers: { Authorization: `Bearer ${key}` }', 'headers: { Authorization: `Bearer ${key}` }'],
    ['Authorization: required for all routes', 'Authorization: required for all routes'],
    ['Set-Cookie: session=abcdef123; Path=/\r\nDate: x', 'Set-Cookie: [redacted:cookie]\r\nDate: x'],
    ['postgres://app:hunter2@db.local/shop', 'postgres://app:[redacted:url-password]@db.local/shop'],
    ['ssh://git@github.com/a/b http://localhost:3000/@scope', 'ssh://git@github.com/a/b http://localhost:3000/@scope'],
    ['//registry.npmjs.org/:_authToken=abcd-1234', '//registry.npmjs.org/:_authToken=[redacted:npm-token]'],
    ['//registry.npmjs.org/:_authToken=${NPM_TOKEN}', '//registry.npmjs.org/:_authToken=${NPM_TOKEN}'],
    [
      'AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
      'AWS_SECRET_ACCESS_KEY=[redacted:aws-secret-key]',
    ],
    ['aws_secret_access_key = "wJalrXUtnFEMI/K7MDENG"', 'aws_secret_access_key = "[redacted:aws-secret-key]"'],
    ['id AKIAIOSFODNN7EXAMPLE.', 'id [redacted:aws-key-id].'],
    ['ghp_0123456789zyxwvutsrqABCDEFGHIJ012345', '[redacted:github-token]'],
    ['sk-proj-abcDEF0123456789abcDEF0123456789', '[redacted:api-key]'],
    ['.sk-loading-indicator-container { task-sk-1 }', '.sk-loading-indicator-container { task-sk-1 }'],
  ])('%j', (text, redacted) => {
    expect(sure.text(text)).toBe(redacted)
    expect(sure.text(redacted)).toBe(redacted)
  })
})

test('Z-101 loose patterns are for logs and exports only', () => {
  const text = 'db_password = "correct-horse-battery" token: shorty'
  expect(sure.text(text)).toBe(text)
  expect(loose.text(text)).toBe('db_password = "[redacted:password]" token: shorty')
})

test('Z-100 a known value is found in every spelling', () => {
  const value = known[0]!.value
  const spellings = [value, encodeURIComponent(value), Buffer.from(value).toString('base64'), JSON.stringify(value)]
  for (const spelling of spellings) expect(sure.text(`<${spelling}>`)).toMatch(/^<"?\[redacted:LAB_KEY\]"?=?=?>$/)
})

test('Z-100 of overlapping known values nothing stays, and the longer one names the place', () => {
  expect(sure.text('abcdefgh-and-more')).toBe('[redacted:LONG_KEY]')
  expect(sure.text('abcdefgh-and-less')).toBe('[redacted:SHORT_KEY]-and-less')
  expect(sure.text('abcdefghijkl')).toBe('[redacted:SHORT_KEY]')
})

test('Z-100 variables count by their name and a length of 8', () => {
  const env = { LAB_KEY: '12345678', NPM_TOKEN: 'short', PATH: '/usr/local/bin', DB_PASSWORD: 'correct horse' }
  expect(secretVariables(env).map(({ name }) => name)).toEqual(['LAB_KEY', 'DB_PASSWORD'])
})

test('Z-103 K-24 no split of the input changes the output', () => {
  const words = fc.constantFrom(
    ...known.map(({ value }) => value),
    'abcdefgh-and',
    'abcdef',
    jwt,
    key,
    key.slice(0, 60),
    'Authorization: Bearer ',
    'authorization',
    'abc123def456ghi789',
    'eyJ',
    '.eyJ',
    '://',
    'user:',
    'pw@',
    '_authToken=',
    'AWS_SECRET_ACCESS_KEY',
    '=',
    ': ',
    '"',
    ' ',
    '\n',
    'sk-',
    '0123456789abcdefghij',
    'Cookie: a=',
    '-----BEGIN ',
    'x'.repeat(300),
    'é',
    '日本',
  )
  const pieces = fc.array(fc.oneof(words, fc.string({ maxLength: 6 })), { maxLength: 12 })
  fc.assert(
    fc.property(pieces, fc.array(fc.nat(60), { maxLength: 60 }), fc.boolean(), (parts, sizes, withLoose) => {
      const redaction = createRedaction({ known, loose: withLoose })
      const text = parts.join('')
      const stream = redaction.stream()
      let out = ''
      let at = 0
      for (const size of sizes) {
        out += stream.push(text.slice(at, at + size))
        at += size
      }
      out += stream.push(text.slice(at)) + stream.end()
      expect(out).toBe(redaction.text(text))
      for (const { value } of known) expect(out).not.toContain(value)
    }),
    { numRuns: 2_000 },
  )
})

test('Z-103 what cannot begin a secret is not held back, and at most 8 KiB is', () => {
  const stream = sure.stream()
  expect(stream.push('hello world, ')).toBe('hello world, ')
  expect(stream.push('Authorization: Bea')).toBe('')
  expect(stream.push('n soup ')).toBe('Authorization: Bean soup ')
  const block = sure.stream()
  const out = block.push(`-----BEGIN PRIVATE KEY-----\n${'A'.repeat(8_192)}`)
  expect(out).toMatch(/^\[redacted:private-key\]/)
})

test('Z-107 1 MiB of worst input stays quick, for each pattern', () => {
  const size = 1024 * 1024
  const worst = [
    'eyJ',
    'eyJaaaaaaaaa.',
    '-----BEGIN ',
    '-----BEGIN A PRIVATE KEY',
    '://a:',
    '://',
    'authorization:',
    'authorization: bearer ',
    'cookie:a',
    'abcdefgh',
    'abcdefg',
    'password',
    'password=',
    'sk-',
    '_auth',
    'AKIA',
    'a',
  ]
  const both = createRedaction({ known, loose: true })
  for (const part of worst) {
    const text = part.repeat(size / part.length)
    const start = process.threadCpuUsage()
    both.text(text)
    expect([part, cpuMs(start) < 2_000]).toEqual([part, true])
  }
})

test('values are redacted in depth and kept as they are where nothing is found', () => {
  const clean = { a: ['x', { b: 1 }] }
  expect(sure.value(clean)).toBe(clean)
  expect(sure.value({ a: ['abcdefgh', 1, null], 'k-abcdefgh': true })).toEqual({
    a: ['[redacted:SHORT_KEY]', 1, null],
    'k-[redacted:SHORT_KEY]': true,
  })
})

test('Z-104 a placeholder that was there may stay, a new one is noticed', () => {
  expect(addsPlaceholder('a=[redacted:K]', 'b=[redacted:K]')).toBe(false)
  expect(addsPlaceholder('a=1', 'a=[redacted:K]')).toBe(true)
})
