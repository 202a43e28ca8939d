import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { describe, expect, test, vi } from 'vitest'
import { send } from './net.ts'

test('Z-242 between pieces of a flood that take long to work on, the loop has its turns', async () => {
  const server = createServer((_, response) => response.end(Buffer.alloc(2 * 1024 * 1024)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const response = await send({
    url,
    method: 'GET',
    headers: {},
    signal: AbortSignal.timeout(10_000),
    connectMs: 5_000,
  })

  let turns = 0
  let next = setImmediate(function turn() {
    turns += 1
    next = setImmediate(turn)
  })
  let bytes = 0
  let withoutTurn = 0
  let turnsBefore = -1
  for await (const piece of response.body) {
    bytes += piece.length
    if (turns === turnsBefore) withoutTurn += 1
    turnsBefore = turns
    for (const end = performance.now() + 6; performance.now() < end;);
  }
  clearImmediate(next)
  server.close()
  expect(bytes).toBe(2 * 1024 * 1024)
  expect(withoutTurn).toBe(0)
})

/** A server that counts its connections, and the URL of what `answer` answers. */
async function serving(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const sockets = new Set<Socket>()
  let accepted = 0
  const server = createServer(answer)
  server.on('connection', (socket) => {
    accepted += 1
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    accepted: () => accepted,
    open: () => sockets.size,
    /** Closes the connections as a server does that has waited long enough. */
    hangUp: () => sockets.forEach((socket) => socket.destroy()),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function post(url: string, body: string, signal = AbortSignal.timeout(10_000)) {
  const response = await send({ url, method: 'POST', headers: {}, body, signal, connectMs: 5_000 })
  let text = ''
  for await (const piece of response.body) {
    text += Buffer.from(piece).toString()
    if (!text.includes('[DONE]')) continue
    response.complete()
    break
  }
  return text
}

describe('M-86 a connection serves the next request', () => {
  test('after an answer left at its end mark', async () => {
    await using server = await serving((_, response) => {
      response.write('data: a\n\n')
      response.write('data: [DONE]\n\n')
      setTimeout(() => response.end(': bye\n\n'), 5)
    })
    expect(await post(server.url, 'x')).toContain('[DONE]')
    // What follows the end mark is read behind the caller's back, which takes its moment.
    await vi.waitFor(
      async () => {
        const before = server.accepted()
        expect(await post(server.url, 'x')).toContain('[DONE]')
        expect(server.accepted()).toBe(before)
      },
      { timeout: 10_000 },
    )
  })

  test('not where the answer goes on after its end mark: it is closed, and no timer is left', async () => {
    await using server = await serving((_, response) => void response.write('data: [DONE]\n\n'))
    await post(server.url, 'x')
    await vi.waitFor(() => expect(server.open()).toBe(0), { timeout: 10_000 })
    await using flood = await serving((_, response) => {
      response.write('[DONE]')
      const more = setInterval(() => response.write(Buffer.alloc(64 * 1024)), 1)
      response.on('close', () => clearInterval(more))
    })
    await post(flood.url, 'x')
    await vi.waitFor(() => expect(flood.open()).toBe(0), { timeout: 10_000 })
  })

  test('not where it was stopped, or left without having been complete', async () => {
    await using server = await serving((_, response) => void response.write('data: a\n\n'))
    const stop = new AbortController()
    const response = await send({ url: server.url, method: 'GET', headers: {}, signal: stop.signal, connectMs: 5_000 })
    for await (const _ of response.body) break
    await vi.waitFor(() => expect(server.open()).toBe(0), { timeout: 10_000 })
    const stopped = post(server.url, 'x', stop.signal)
    setTimeout(() => stop.abort(), 20)
    await expect(stopped).rejects.toMatchObject({ fault: 'stopped' })
    await vi.waitFor(() => expect(server.open()).toBe(0), { timeout: 10_000 })
  })

  test('one that its server had closed meanwhile is replaced: the request is sent once more, with its whole body', async () => {
    const bodies: string[] = []
    await using server = await serving((request, response) => {
      let body = ''
      request.on('data', (part: Buffer) => (body += part.toString()))
      request.on('end', () => {
        bodies.push(body)
        if (body === 'cut') return void request.socket.destroy()
        response.end('fine')
      })
    })
    expect(await post(server.url, 'one')).toBe('fine')
    // Closed on the other side, and this side has not noticed yet: the loop does not turn between the two.
    server.hangUp()
    expect(await post(server.url, 'x'.repeat(100_000))).toBe('fine')
    expect(bodies).toEqual(['one', 'x'.repeat(100_000)])
    expect(server.accepted()).toBe(2)
    // On a connection of its own nothing is sent twice.
    server.hangUp()
    await vi.waitFor(() => expect(server.open()).toBe(0), { timeout: 10_000 })
    await expect(post(server.url, 'cut')).rejects.toMatchObject({ fault: 'broken', transportCode: 'ECONNRESET' })
    expect(bodies.filter((body) => body === 'cut')).toHaveLength(1)
  })
})
