/** Who may be contacted (security.md 2.1): what an address says of itself, and what its name leads to. */
import { lookup as systemLookup } from 'node:dns/promises'
import { LatheError } from '../../preload/contract/errors.ts'
import { classOfAddress, holdsAddress } from './addresses.ts'

export type NetworkSettings = {
  /** Addresses, ranges, `host:port` (Z-17). */
  allow: readonly string[]
  deny: readonly string[]
  /** Replaces the environment's proxies. */
  proxy: string | null
  /** Names are left to the proxy unseen (Z-26). */
  proxyResolves: boolean
}

export type BlockedReason =
  | 'scheme'
  | 'no_host'
  | 'port'
  | 'too_long'
  | 'credentials'
  | 'denied'
  | 'private_address'
  | 'dns_timeout'
  | 'dns_not_found'
  | 'downgrade'
  | 'redirect_blocked'
  | 'too_many_redirects'

/** An address that may be contacted as far as it says itself. `host` is in lower case, without brackets or a final dot. */
export type Destination = { url: URL; host: string; port: number; loopback: boolean; literal: boolean }

export type ResolvedAddress = { address: string; family: number }
export type Lookup = (host: string) => Promise<ResolvedAddress[]>

const urlCharsMax = 8_192
const lookupMs = 5_000
const lookupsAtOnce = 8

/** Ports that no browser contacts either: a protocol there could take a request for its own (Fetch standard). */
const badPorts = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
])

export class NetworkPolicy {
  readonly #settings: () => NetworkSettings
  readonly #lookup: Lookup
  #running = 0
  readonly #waiting: (() => void)[] = []

  constructor(
    settings: () => NetworkSettings,
    lookup: Lookup = (host) => systemLookup(host, { all: true, order: 'verbatim' }),
  ) {
    this.#settings = settings
    this.#lookup = lookup
  }

  get settings(): NetworkSettings {
    return this.#settings()
  }

  /** What can be told without asking anybody. Throws `network.blocked` (Z-11 to Z-18). */
  judge(text: string): Destination {
    const given = text.trim().replace(/^["'`]+|["'`]+$/g, '')
    if (given.length > urlCharsMax) throw blocked('too_long', given.slice(0, 80), 'It is longer than 8,192 characters.')
    if (!URL.canParse(given)) throw blocked('no_host', given.slice(0, 80), 'It is no address of a host.')
    const url = new URL(given)
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      throw blocked('scheme', `${url.protocol}...`, 'Only http and https are contacted.')
    const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
    const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
    const named = `${url.protocol}//${url.host}`
    if (host === '') throw blocked('no_host', named, 'It names no host.')
    if (url.username !== '' || url.password !== '')
      throw blocked('credentials', named, 'An address may not carry a name and password.')
    if (badPorts.has(port)) throw blocked('port', named, `Port ${port} belongs to another protocol.`)
    const { deny } = this.#settings()
    if (deny.some((entry) => namesHost(entry, host, port)))
      throw blocked('denied', named, 'network.deny refuses this host.')
    const destination = { url, host, port, loopback: isLocalName(host), literal: false }
    const literal = classOfAddress(host)
    if (literal === null) return destination
    const loopback = literal === 'loopback'
    this.#check({ ...destination, loopback }, host)
    return { ...destination, loopback, literal: true }
  }

  /**
   * The addresses a destination may be reached at: all that its name has, each judged (Z-14, Z-15). With `proxied`, a name
   * that is not found is left to the proxy and answers none (Z-26). Throws `network.blocked`, or the signal's reason.
   */
  async resolve(destination: Destination, signal: AbortSignal, proxied = false): Promise<ResolvedAddress[]> {
    const { host, url } = destination
    if (destination.literal) return [{ address: host, family: host.includes(':') ? 6 : 4 }]
    // Never asked of anybody (Z-13).
    if (isLocalName(host))
      return [
        { address: '127.0.0.1', family: 4 },
        { address: '::1', family: 6 },
      ]
    if (proxied && this.#settings().proxyResolves) return []
    const found = await this.#ask(host, url.host, signal)
    if (found.length === 0) {
      if (proxied) return []
      throw blocked('dns_not_found', url.host, `The name ${host} was not found.`)
    }
    for (const { address } of found) this.#check(destination, address)
    return found
  }

  /** One address of a destination, which is its own where it is a literal. */
  #check({ host, port, loopback, url }: Destination, address: string): void {
    const { allow, deny } = this.#settings()
    if (deny.some((entry) => holdsAddress(entry, address)))
      throw blocked('denied', url.host, `network.deny refuses ${address}.`)
    const kind = classOfAddress(address)
    if (kind === 'public' || (kind === 'loopback' && loopback)) return
    // A link-local address is where clouds keep their credentials: only its exact self opens it (Z-17).
    const opened = allow.some((entry) =>
      kind === 'link_local'
        ? !entry.includes('/') && holdsAddress(entry, address)
        : holdsAddress(entry, address) || (/:\d+$/.test(entry) && namesHost(entry, host, port)),
    )
    if (opened && kind !== null) return
    throw blocked(
      'private_address',
      url.host,
      address === host ? `${address} is a private address.` : `It resolves to a private address ${address}.`,
    )
  }

  async #ask(host: string, shown: string, signal: AbortSignal): Promise<ResolvedAddress[]> {
    signal.throwIfAborted()
    const timedOut = Promise.withResolvers<never>()
    const timer = setTimeout(
      () => timedOut.reject(blocked('dns_timeout', shown, `The name ${host} was not resolved within 5 s.`)),
      lookupMs,
    )
    const onAbort = () => timedOut.reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    timedOut.promise.catch(() => {})
    try {
      return await Promise.race([this.#inTurn(() => this.#lookup(host)), timedOut.promise])
    } catch (error) {
      if (error instanceof LatheError || signal.aborted) throw error
      return []
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    }
  }

  /** At most eight at a time; one that hangs keeps its place no longer than a look-up may take. */
  async #inTurn(work: () => Promise<ResolvedAddress[]>): Promise<ResolvedAddress[]> {
    if (this.#running >= lookupsAtOnce) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#running += 1
    let left = false
    const leave = () => {
      if (left) return
      left = true
      this.#running -= 1
      this.#waiting.shift()?.()
    }
    const timer = setTimeout(leave, lookupMs)
    try {
      return await work()
    } finally {
      clearTimeout(timer)
      leave()
    }
  }
}

/** A refusal of the policy, with the one thing the model is told about all of them (Z-19). */
export function blocked(reason: BlockedReason, shown: string, message: string): LatheError {
  const passing = reason === 'dns_timeout' || reason === 'dns_not_found'
  return new LatheError('network.blocked', `Blocked: ${message} (${reason})`, {
    reason,
    hint: passing
      ? undefined
      : 'Other spellings, tools, redirects or proxies do not get around this. The person can allow a host or address by network.allow in config.json.',
    data: { url: shown },
  })
}

/** `localhost` and the names below it are this computer, whatever a resolver says (Z-13). */
function isLocalName(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost')
}

/** Whether `host` or `host:port` of a setting is this one. */
function namesHost(entry: string, host: string, port: number): boolean {
  const [, name, named] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase())!
  return name === host && (named === undefined || Number(named) === port)
}
