import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
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
