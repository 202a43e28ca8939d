import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { LatheError } from '../../preload/contract/errors.ts'
import { classOfAddress } from './addresses.ts'
import { NetworkPolicy, type NetworkSettings, type ResolvedAddress } from './network-policy.ts'
import { networkSettings } from './network-settings.ts'

const never = new AbortController().signal

function policy(names: Record<string, string[]> = {}, settings: Partial<NetworkSettings> = {}) {
  const asked: string[] = []
  const made = new NetworkPolicy(
    () => ({ allow: [], deny: [], proxy: null, proxyResolves: false, ...settings }),
    async (host): Promise<ResolvedAddress[]> => {
      asked.push(host)
      if (!names[host]) throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' })
      return names[host].map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    },
  )
  return { policy: made, asked }
}

/** The reason of a refusal; `loopback`, or the addresses that would be connected to. */
async function outcome(url: string, given = policy()): Promise<string> {
  try {
    const destination = given.policy.judge(url)
    if (destination.loopback) return `loopback ${destination.host}:${destination.port}`
    return (await given.policy.resolve(destination, never)).map(({ address }) => address).join(' ')
  } catch (error) {
    if (!(error instanceof LatheError) || error.code !== 'network.blocked') throw error
    return error.reason!
  }
}

describe('what an address says of itself', () => {
  test.each([
    ['http://2130706433/', 'loopback 127.0.0.1:80'],
    ['http://0x7f.1/', 'loopback 127.0.0.1:80'],
    ['http://0177.0.0.1/', 'loopback 127.0.0.1:80'],
    ['http://127.1/', 'loopback 127.0.0.1:80'],
    ['http://%31%32%37.0.0.1/', 'loopback 127.0.0.1:80'],
    ['http://localhost./', 'loopback localhost:80'],
    ['http://[::ffff:7f00:1]/', 'loopback ::ffff:7f00:1:80'],
    ['http://[::7f00:1]/', 'private_address'],
    ['http://[64:ff9b::7f00:1]/', 'private_address'],
    ['http://[2002:7f00:1::]/', 'private_address'],
    ['http://0/', 'private_address'],
  ])('ZA-1 Z-13 Z-16 Z-18 %s is %s, and nobody is asked for a name', async (url, expected) => {
    const given = policy()
    expect(await outcome(url, given)).toBe(expected)
    expect(given.asked).toEqual([])
  })

  test.each([
    ['ftp://a.test/', 'scheme'],
    ['file:///etc/passwd', 'scheme'],
    ['javascript:alert(1)', 'scheme'],
    ['http://', 'no_host'],
    ['a.test/x', 'no_host'],
    ['http://a.test:22/', 'port'],
    ['https://a.test:6667/', 'port'],
    [`http://a.test/${'x'.repeat(8_192)}`, 'too_long'],
    ['http://user:pw@a.test/', 'credentials'],
    ['http://user@a.test/', 'credentials'],
  ])('Z-11 Z-12 %s is refused: %s', async (url, expected) => {
    expect(await outcome(url, policy({ 'a.test': ['93.184.216.34'] }))).toBe(expected)
  })

  test('ZA-8 Z-12 Z-19 a refusal says nothing of the password in it, and how it can be allowed', () => {
    try {
      policy().policy.judge('http://user:hunter2@a.test/?token=hunter2')
      expect.unreachable()
    } catch (error) {
      const body = (error as LatheError).toBody()
      expect(JSON.stringify(body)).not.toContain('hunter2')
      expect(body).toMatchObject({
        code: 'network.blocked',
        reason: 'credentials',
        hint: expect.stringContaining('network.allow'),
      })
    }
  })

  test('Z-11 blanks, quotes and backticks around it are no part of it; what is used is what was parsed', () => {
    const { url, host, port } = policy().policy.judge(' `"https://A.Test:8443/x/../y"` ')
    expect([url.href, host, port]).toEqual(['https://a.test:8443/y', 'a.test', 8443])
  })
})

describe('what a name leads to', () => {
  test('ZA-2 Z-15 one address that is not allowed refuses the name, and is named', async () => {
    const given = policy({ 'mixed.test': ['93.184.216.34', '10.0.0.5'] })
    expect(await outcome('http://mixed.test/', given)).toBe('private_address')
    await expect(given.policy.resolve(given.policy.judge('http://mixed.test/'), never)).rejects.toThrow('10.0.0.5')
    expect(await outcome('http://[64:ff9b::5db8:d822]/')).toBe('64:ff9b::5db8:d822')
  })

  test('Z-14 none found is dns_not_found; a name below localhost is never asked for', async () => {
    const given = policy({ 'empty.test': [] })
    expect(await outcome('http://nobody.test/', given)).toBe('dns_not_found')
    expect(await outcome('http://empty.test/', given)).toBe('dns_not_found')
    expect(await outcome('http://app.localhost:3000/', given)).toBe('loopback app.localhost:3000')
    expect(given.asked).toEqual(['nobody.test', 'empty.test'])
  })

  test('Z-18 a name that is not this computer’s but leads to it is refused', async () => {
    expect(await outcome('http://rebound.test/', policy({ 'rebound.test': ['127.0.0.1'] }))).toBe('private_address')
  })

  test('ZA-7 Z-17 ranges, addresses and hosts the person allowed; link-local only by its exact self; deny wins', async () => {
    const names = { 'nas.test': ['192.168.1.9'], 'meta.test': ['169.254.169.254'] }
    const range = { allow: ['10.0.0.0/8', '169.254.0.0/16'] }
    expect(await outcome('http://10.0.0.5/', policy({}, range))).toBe('10.0.0.5')
    expect(await outcome('http://169.254.169.254/', policy({}, range))).toBe('private_address')
    expect(await outcome('http://169.254.169.254/', policy({}, { allow: ['169.254.169.254'] }))).toBe('169.254.169.254')
    expect(await outcome('http://10.0.0.5/', policy({}, { ...range, deny: ['10.0.0.5'] }))).toBe('denied')
    expect(await outcome('http://nas.test:8080/', policy(names, { allow: ['nas.test:8080'] }))).toBe('192.168.1.9')
    expect(await outcome('http://nas.test/', policy(names, { allow: ['nas.test:8080'] }))).toBe('private_address')
    expect(await outcome('http://nas.test:8080/', policy(names, { allow: ['nas.test'] }))).toBe('private_address')
    expect(await outcome('http://meta.test:80/', policy(names, { allow: ['meta.test:80'] }))).toBe('private_address')
    expect(await outcome('http://nas.test/', policy(names, { deny: ['nas.test'] }))).toBe('denied')
  })

  test('Z-17 Z-25 Z-26 the settings are read from the configuration, and what is none is left out', () => {
    expect(networkSettings({ 'network.allow': [' 10.0.0.1 ', 7], 'network.proxy': 'not a url' })).toEqual({
      allow: ['10.0.0.1'],
      deny: [],
      proxy: null,
      proxyResolves: false,
    })
  })

  test('Z-26 through a proxy a private answer refuses, what is not found is the proxy’s, and with proxyResolves nobody is asked', async () => {
    const given = policy({ 'inside.test': ['10.0.0.5'] })
    const resolve = (url: string, of = given) => of.policy.resolve(of.policy.judge(url), never, true)
    await expect(resolve('http://inside.test/')).rejects.toMatchObject({ reason: 'private_address' })
    expect(await resolve('http://nobody.test/')).toEqual([])
    const blind = policy({}, { proxyResolves: true })
    expect(await resolve('http://inside.test/', blind)).toEqual([])
    expect(blind.asked).toEqual([])
    expect(() => blind.policy.judge('http://10.0.0.5/')).toThrow('private')
  })

  test('ZA-4 Z-14 a resolver that never answers is given up after 5 s, eight at a time; a Stop ends the wait at once', async () => {
    vi.useFakeTimers()
    try {
      let running = 0
      const hanging = new NetworkPolicy(
        () => ({ allow: [], deny: [], proxy: null, proxyResolves: false }),
        () => {
          running += 1
          return new Promise(() => {})
        },
      )
      const stop = new AbortController()
      const ask = (at: number, signal: AbortSignal) => hanging.resolve(hanging.judge(`http://n${at}.test/`), signal)
      const all = Array.from({ length: 20 }, (_, at) => ask(at, never).catch((error: LatheError) => error.reason))
      const stopped = ask(20, stop.signal).catch((error: Error) => error.message)
      await vi.advanceTimersByTimeAsync(4_999)
      expect(running).toBe(8)
      stop.abort(new Error('stopped'))
      expect(await stopped).toBe('stopped')
      await vi.advanceTimersByTimeAsync(1)
      expect(await Promise.all(all)).toEqual(Array(20).fill('dns_timeout'))
    } finally {
      vi.useRealTimers()
    }
  })
})

/** First and last address of IPv4 ranges nobody outside may be reached at, from the registry of special addresses. */
const special4 = [
  ['0.0.0.0', '0.255.255.255'],
  ['10.0.0.0', '10.255.255.255'],
  ['100.64.0.0', '100.127.255.255'],
  ['127.0.0.0', '127.255.255.255'],
  ['169.254.0.0', '169.254.255.255'],
  ['172.16.0.0', '172.31.255.255'],
  ['192.0.0.0', '192.0.0.255'],
  ['192.0.2.0', '192.0.2.255'],
  ['192.168.0.0', '192.168.255.255'],
  ['198.18.0.0', '198.19.255.255'],
  ['198.51.100.0', '198.51.100.255'],
  ['203.0.113.0', '203.0.113.255'],
  ['224.0.0.0', '255.255.255.255'],
].map((range) => range.map(numberOf) as [number, number])

function numberOf(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
}

const dotted = (number: number) => [24, 16, 8, 0].map((bits) => (number >>> bits) & 255).join('.')
const hex = (number: number) => `${(number >>> 16).toString(16)}:${(number & 0xffff).toString(16)}`

test('Z-260 Z-16 no spelling of a private IPv4 address is public, also inside IPv6; nothing throws', () => {
  const number = fc.oneof(
    fc.nat({ max: 0xffffffff }),
    fc.constantFrom(...special4).chain(([first, last]) => fc.integer({ min: first, max: last })),
  )
  fc.assert(
    fc.property(number, (address) => {
      const isSpecial = special4.some(([first, last]) => address >= first && address <= last)
      const hosts = [
        String(address),
        `0x${address.toString(16)}`,
        `0${address.toString(8)}`,
        dotted(address),
        `${address >>> 24}.${address & 0xffffff}`,
        `[::ffff:${hex(address)}]`,
        `[64:ff9b::${hex(address)}]`,
      ]
      for (const host of hosts) {
        const { hostname } = new URL(`http://${host}/`)
        if (isSpecial) expect(classOfAddress(hostname)).not.toBe('public')
      }
      // The old forms that hold IPv4 addresses are never public, whatever is inside.
      for (const host of [`::${hex(address)}`, `2002:${hex(address)}::`, `64:ff9b:1::${hex(address)}`])
        expect(classOfAddress(host)).not.toBe('public')
    }),
    { numRuns: 2_000 },
  )
})

test('Z-260 Z-16 of IPv6 only what is global unicast is public', () => {
  const group = fc.nat({ max: 0xffff }).map((one) => one.toString(16))
  fc.assert(
    fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
      const first = Number.parseInt(groups[0]!, 16)
      if (classOfAddress(groups.join(':')) === 'public') expect(first >= 0x2000 && first <= 0x3fff).toBe(true)
    }),
    { numRuns: 2_000 },
  )
  for (const address of [
    'fe80::1',
    'fc00::1',
    'fec0::1',
    'ff02::1',
    '2001::1',
    '2001:db8::1',
    '2001:20::1',
    '100::1',
    '5f00::1',
    '::',
    '::1',
  ])
    expect(classOfAddress(address)).not.toBe('public')
  expect(classOfAddress('2606:2800:220:1:248:1893:25c8:1946')).toBe('public')
})
