/** The two ways from a window to its host. */
import { LatheError } from '../../preload/contract/errors.ts'
import type { Connect, Wire } from './connection.ts'

/** How long one try to connect may take. */
const connectMs = 10_000
const tokenKey = 'lathe.token'

/** What the preload script offers a window of the shell. */
export type Bridge = {
  /** Asks the shell for a port; it comes to the page as a message (`lathe:port`). */
  connect(): void
  /** The path of a file dropped on the window; null where it has none. */
  pathForFile(file: File): string | null
}

declare global {
  interface Window {
    readonly lathe?: Bridge
  }
}

/** The host of this page: the shell where there is a preload script, else the web host it was loaded from. */
export function hostOfPage(): Connect {
  return window.lathe ? portFromShell(window.lathe) : socketOfWebHost(thisPage())
}

/**
 * Calls back where a person puts the address of a host that was started again into a tab of before: the token in it is
 * the tab's from then on, and what the tab holds stays.
 */
export function onNewAddress(found: () => void): void {
  addEventListener('hashchange', () => takeToken(thisPage()) && found())
}

/** A port of the shell, one for each load of the page. */
function portFromShell(bridge: Bridge): Connect {
  return async (signal) => {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(connectMs)])
    const done = new AbortController()
    const { promise, resolve, reject } = Promise.withResolvers<MessagePort>()
    const take = ({ source, data, ports }: MessageEvent): void => {
      // Only the preload script of this very page sends itself a port.
      if (source === window && data === 'lathe:port' && ports[0]) resolve(ports[0])
    }
    window.addEventListener('message', take, { signal: done.signal })
    limit.addEventListener('abort', () => reject(limit.reason as Error), { signal: done.signal })
    bridge.connect()
    const port = await promise.finally(() => done.abort())
    port.start()
    return {
      send: (text) => port.postMessage(text),
      close: () => port.close(),
      onMessage: (listener) => port.addEventListener('message', ({ data }) => listener(data as string)),
      onClose: (listener) => port.addEventListener('close', listener),
    }
  }
}

type Page = {
  location: { href: string; origin: string }
  history: Pick<History, 'replaceState'>
  storage: Pick<Storage, 'getItem' | 'setItem'>
}

function thisPage(): Page {
  return { location, history, storage: sessionStorage }
}

/** Takes a token out of the address bar into this tab's storage; false where the address has none. */
function takeToken({ location, history, storage }: Page): boolean {
  const given = /^#token=([A-Za-z0-9_-]+)$/.exec(new URL(location.href).hash)?.[1]
  if (!given) return false
  storage.setItem(tokenKey, given)
  history.replaceState(null, '', location.href.slice(0, location.href.indexOf('#')))
  return true
}

/**
 * A WebSocket of the web host. The token of the address is sent as a bearer header for a ticket of one use, which is all
 * an address ever carries (Z-171, Z-176).
 */
export function socketOfWebHost(page: Page): Connect {
  const { location, storage } = page
  takeToken(page)
  return async (signal) => {
    const token = storage.getItem(tokenKey)
    if (!token) throw denied('This tab has no token.')
    const limit = AbortSignal.any([signal, AbortSignal.timeout(connectMs)])
    const reply = await fetch(`${location.origin}/ticket`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{}',
      signal: limit,
    })
    if (reply.status === 401) throw denied('This browser is not signed in, or not any more.')
    if (!reply.ok) throw new LatheError('host.unreachable', `The host answered ${reply.status}.`)
    const { ticket, token: own } = (await reply.json()) as { ticket: string; token?: string }
    // The address lets a browser in; what it goes on with is its own, and lasts while it is not signed out.
    if (own !== undefined) storage.setItem(tokenKey, own)
    const socket = new WebSocket(
      `${location.origin.replace(/^http/, 'ws')}/socket?ticket=${encodeURIComponent(ticket)}`,
    )
    await opened(socket, limit)
    return wireOf(socket)
  }
}

function denied(message: string): LatheError {
  return new LatheError('access.denied', message, { hint: 'Open the address that “lathe serve” printed last.' })
}

async function opened(socket: WebSocket, limit: AbortSignal): Promise<void> {
  const done = new AbortController()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const fail = (): void => reject(new LatheError('host.unreachable', 'Lathe could not be reached.'))
  socket.addEventListener('open', () => resolve(), { signal: done.signal })
  socket.addEventListener('close', fail, { signal: done.signal })
  limit.addEventListener('abort', fail, { signal: done.signal })
  try {
    await promise
  } catch (error) {
    socket.close()
    throw error
  } finally {
    done.abort()
  }
}

function wireOf(socket: WebSocket): Wire {
  return {
    send: (text) => socket.send(text),
    close: () => socket.close(),
    onMessage: (listener) => socket.addEventListener('message', ({ data }) => listener(data as string)),
    onClose: (listener) => socket.addEventListener('close', listener),
  }
}
