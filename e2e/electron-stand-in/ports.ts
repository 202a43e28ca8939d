/** `MessageChannelMain`: two ports, one of which may be given to a page, after which it is used there only. */
import { EventEmitter } from 'node:events'
import { strict } from './strict.ts'

/** Where a port's messages go: the other port here, or a page. */
type Far = { take(data: unknown): void; closed(): void }

export class Port extends EventEmitter {
  #far: Far | null = null
  #started = false
  #open = true
  #given = false
  readonly #queue: unknown[] = []

  /** For the stand-in itself; the shell sees only Electron's members, through `strict`. */
  connect(far: Far): void {
    this.#far = far
  }

  postMessage(data: unknown, transfer: readonly unknown[] = []): void {
    if (this.#given) throw new Error('This port was given away.')
    if (transfer.length > 0) throw new Error('The stand-in gives no ports through ports.')
    if (this.#open) this.#far?.take(structuredClone(data))
  }

  start(): void {
    this.#started = true
    for (const data of this.#queue.splice(0)) this.emit('message', { data, ports: [] })
  }

  close(): void {
    if (!this.#open) return
    this.#open = false
    this.#far?.closed()
    queueMicrotask(() => this.emit('close'))
  }

  /** What comes from the other end. */
  take(data: unknown): void {
    if (!this.#open) return
    if (this.#started) this.emit('message', { data, ports: [] })
    else this.#queue.push(data)
  }

  /** The other end is gone. */
  end(): void {
    if (!this.#open) return
    this.#open = false
    this.emit('close')
  }

  /** Makes the port unusable here and answers what was sent to it before. */
  giveAway(): void {
    if (this.#given) throw new Error('This port was given away before.')
    this.#given = true
  }
}

/** The real ports behind those the shell holds. */
const behind = new WeakMap<object, Port>()

export function portBehind(shown: unknown): Port {
  const port = typeof shown === 'object' && shown !== null ? behind.get(shown) : undefined
  if (!port) throw new TypeError('Only ports of a MessageChannelMain can be transferred.')
  return port
}

export class MessageChannelMain {
  readonly port1: Port
  readonly port2: Port

  constructor() {
    const one = new Port()
    const two = new Port()
    one.connect({ take: (data) => two.take(data), closed: () => two.end() })
    two.connect({ take: (data) => one.take(data), closed: () => one.end() })
    this.port1 = strict('MessagePortMain', one)
    this.port2 = strict('MessagePortMain', two)
    behind.set(this.port1, one)
    behind.set(this.port2, two)
    peers.set(two, one).set(one, two)
  }
}

const peers = new WeakMap<Port, Port>()

/** The end that stays when the other is given to a page. */
export function peerOf(port: Port): Port {
  return peers.get(port)!
}
