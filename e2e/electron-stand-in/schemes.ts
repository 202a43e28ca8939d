/** A scheme of the application's own, served on a loopback port: Chromium itself knows no `app:`. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onlyBeforeReady, tooEarly } from './state.ts'

type Handler = (request: Request) => Response | Promise<Response>

const handlers = new Map<string, Handler>()
const privileged = new Map<string, Record<string, boolean>>()
let origin = ''
/** The one origin the shell's page has. */
const own = 'app://lathe'

export async function openSchemes(): Promise<void> {
  const server = createServer((request, response) => {
    void answer(`${own}${request.url ?? '/'}`, request.method ?? 'GET', response)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  server.unref()
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function answer(url: string, method: string, response: ServerResponse): Promise<void> {
  const handler = handlers.get('app')
  if (!handler) return void response.writeHead(503).end()
  try {
    const given = await handler(new Request(url, { method }))
    response.writeHead(given.status, Object.fromEntries(given.headers))
    response.end(Buffer.from(await given.arrayBuffer()))
  } catch {
    response.writeHead(500).end()
  }
}

/** As Chromium knows an address of the application. */
export function toLoopback(url: string): string {
  return url.startsWith(own) ? origin + url.slice(own.length) : url
}

/** As the shell knows an address of Chromium. */
export function fromLoopback(url: string): string {
  if (url.startsWith(`blob:${origin}`)) return `blob:${own}${url.slice(`blob:${origin}`.length)}`
  return url === origin || url.startsWith(`${origin}/`) ? own + url.slice(origin.length) : url
}

export function loopbackOrigin(): string {
  return origin
}

export function registerSchemes(schemes: { scheme: string; privileges: Record<string, boolean> }[]): void {
  onlyBeforeReady('protocol.registerSchemesAsPrivileged')
  for (const { scheme, privileges } of schemes) privileged.set(scheme, privileges)
}

export function handleScheme(scheme: string, handler: Handler): void {
  if (tooEarly()) throw new Error('protocol.handle cannot be used before the app is ready.')
  if (handlers.has(scheme)) throw new Error(`${scheme}: has a handler already.`)
  const { standard, secure } = privileged.get(scheme) ?? {}
  if (scheme !== 'app' || !standard || !secure)
    throw new Error(`The stand-in serves app:, registered as standard and secure, and not ${scheme}:.`)
  handlers.set(scheme, handler)
}
