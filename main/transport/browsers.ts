/**
 * Who signed in to the web host (security.md 12). An address lets a browser in once; from then on it has a token of its own
 * and rights that a person narrows, widens or ends. The address a narrowed browser came by lets nobody in any more, so
 * what was taken from it cannot be had again by it.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Browser, BrowserRights } from '../../preload/contract/browsers.ts'
import { LatheError } from '../../preload/contract/errors.ts'
import { newId } from '../../preload/contract/ids.ts'
import { onlyWatches, type Rights } from '../turns/requests.ts'
import { closeCodes, type Wire } from './connections.ts'

/** Beyond it the one that was away longest is signed out. */
const browsersMax = 64

type SignedIn = {
  id: string
  name: string
  /** SHA-256 of its token: that itself is kept by nobody but the browser. */
  digest: Buffer
  /** `none` once it is signed out: what it had on its way is refused. */
  rights: BrowserRights | 'none'
  /** Aborted once it may only watch; another one where it may act again. */
  acting: AbortController
  /** The address it came by. */
  link: string
  signedInAt: number
  seenAt: number
  wires: Set<Wire>
}

export type Admitted = { id: string; rights: Rights; connected(wire: Wire): void }

export class Browsers {
  readonly #byId = new Map<string, SignedIn>()
  readonly #links = new Map<BrowserRights, string>([
    ['full', newToken()],
    ['watch', newToken()],
  ])
  readonly #now: () => number
  readonly #listeners = new Set<() => void>()
  /** Told of each new address of full rights, as the one before it lets nobody in any more. */
  onNewLink: (rights: BrowserRights) => void = () => {}

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** What an address of these rights carries in its fragment (Z-171). */
  link(rights: BrowserRights): string {
    return this.#links.get(rights)!
  }

  /** Whether a token is that of an address, or of a browser that is signed in. Signs nobody in. */
  knows(given: string): boolean {
    const digest = digestOf(given)
    const known = [...this.#byId.values()].map((one) => one.digest)
    // All of them, so that the time tells nothing.
    return (
      [...known, ...[...this.#links.values()].map(digestOf)].filter((one) => timingSafeEqual(one, digest)).length > 0
    )
  }

  /** The browser this token is of; one that comes with an address is signed in, and `token` is its own. Null: nobody's. */
  admit(given: string, userAgent: string | undefined): { browser: Admitted; token: string | null } | null {
    const digest = digestOf(given)
    for (const one of this.#byId.values())
      if (timingSafeEqual(one.digest, digest)) return { browser: this.#admitted(one), token: null }
    for (const [rights, link] of this.#links) {
      if (!timingSafeEqual(digestOf(link), digest)) continue
      const token = newToken()
      return { browser: this.#admitted(this.#signIn(rights, link, token, nameOf(userAgent))), token }
    }
    return null
  }

  /** By its id, as it is now. */
  get(id: string): Browser | null {
    const found = this.#byId.get(id)
    return found ? shown(found, this.#now()) : null
  }

  /** Newest first. */
  list(): Browser[] {
    return [...this.#byId.values()].map((one) => shown(one, this.#now())).toReversed()
  }

  /** Throws `request.invalid` where it is not signed in. */
  setRights(id: string, rights: BrowserRights): void {
    const one = this.#signedIn(id)
    if (one.rights === rights) return
    one.rights = rights
    if (rights === 'full') one.acting = new AbortController()
    else {
      one.acting.abort(onlyWatches())
      this.#retire(one.link)
    }
    this.#changed()
  }

  /** Ends its connections and its token. Throws `request.invalid` where it is not signed in. */
  signOut(id: string): void {
    const one = this.#signedIn(id)
    this.#forget(one)
    this.#retire(one.link)
    this.#changed()
  }

  /** Called back after each change, until the answered function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #signIn(rights: BrowserRights, link: string, token: string, name: string): SignedIn {
    const at = this.#now()
    const one: SignedIn = {
      id: newId(),
      name,
      digest: digestOf(token),
      rights,
      acting: new AbortController(),
      link,
      signedInAt: at,
      seenAt: at,
      wires: new Set(),
    }
    if (rights === 'watch') one.acting.abort(onlyWatches())
    this.#byId.set(one.id, one)
    if (this.#byId.size > browsersMax) {
      // Who may only watch signs out nobody who may do more, however often they come.
      const away = [...this.#byId.values()].filter(
        (other) => other !== one && other.wires.size === 0 && (rights === 'full' || other.rights === 'watch'),
      )
      const longest = away.sort((a, b) => a.seenAt - b.seenAt)[0]
      if (longest) this.#forget(longest)
    }
    this.#changed()
    return one
  }

  #admitted(one: SignedIn): Admitted {
    return {
      id: one.id,
      rights: {
        mayAct: () => one.rights === 'full',
        get narrowed() {
          return one.acting.signal
        },
      },
      connected: (wire) => {
        // Signed out between its ticket and its connection.
        if (one.rights === 'none') return wire.close(closeCodes.brokeRules, 'signed out')
        one.wires.add(wire)
        wire.onClose(() => {
          one.wires.delete(wire)
          one.seenAt = this.#now()
          this.#changed()
        })
        this.#changed()
      },
    }
  }

  #forget(one: SignedIn): void {
    one.rights = 'none'
    one.acting.abort(onlyWatches())
    this.#byId.delete(one.id)
    for (const wire of one.wires) wire.close(closeCodes.brokeRules, 'signed out')
  }

  #retire(link: string): void {
    for (const [rights, current] of this.#links) {
      if (current !== link) continue
      this.#links.set(rights, newToken())
      this.onNewLink(rights)
    }
  }

  #signedIn(id: string): SignedIn {
    const found = this.#byId.get(id)
    if (!found) throw new LatheError('request.invalid', 'That browser is not signed in any more.')
    return found
  }

  #changed(): void {
    for (const listener of this.#listeners) listener()
  }
}

function shown({ id, name, rights, signedInAt, seenAt, wires }: SignedIn, now: number): Browser {
  const connected = wires.size > 0
  return {
    id,
    name,
    rights: rights === 'full' ? 'full' : 'watch',
    signedInAt,
    seenAt: connected ? now : seenAt,
    connected,
  }
}

const programs = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrome\//, 'Chrome'],
  [/Safari\//, 'Safari'],
] as const
const systems = [
  [/Windows/, 'Windows'],
  [/Android/, 'Android'],
  [/iPhone|iPad/, 'iOS'],
  [/Mac OS X/, 'macOS'],
  [/Linux/, 'Linux'],
] as const

/** Words of ours alone: what a browser says of itself is untrusted text. */
function nameOf(userAgent = ''): string {
  const of = (known: readonly (readonly [RegExp, string])[]) => known.find(([says]) => says.test(userAgent))?.[1]
  return [of(programs) ?? 'A browser', of(systems)].filter(Boolean).join(' on ')
}

function newToken(): string {
  return randomBytes(32).toString('base64url')
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
