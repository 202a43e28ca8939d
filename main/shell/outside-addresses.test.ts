import { expect, test } from 'vitest'
import { createOutsideAddresses } from './outside-addresses.ts'

function desk() {
  const at = { now: 0, agrees: true }
  const did: string[] = []
  const outside = createOutsideAddresses({
    confirm: async ({ href, host }) => (did.push(`ask ${host} for ${href}`), at.agrees),
    open: async (href) => void did.push(`open ${href}`),
    now: () => at.now,
  })
  return { at, did, outside }
}

test('Z-196 each host is confirmed once, by the whole address, and a no is asked again', async () => {
  const { at, did, outside } = desk()
  at.agrees = false
  await outside.open('https://example.com/a')
  expect(did.splice(0)).toEqual(['ask example.com for https://example.com/a'])
  at.agrees = true
  await outside.open('https://example.com/a')
  at.now = 2_000
  await outside.open('https://example.com/b')
  at.now = 4_000
  await outside.open('https://example.com.evil/c')
  expect(did).toEqual([
    'ask example.com for https://example.com/a',
    'open https://example.com/a',
    'open https://example.com/b',
    'ask example.com.evil for https://example.com.evil/c',
    'open https://example.com.evil/c',
  ])
})

test('Z-196 one opens every 2 s, other schemes never, and nothing is asked beside a question', async () => {
  const { at, did, outside } = desk()
  await outside.open('https://example.com/a')
  at.now = 1_999
  await expect(outside.open('https://example.com/b')).rejects.toMatchObject({ code: 'request.invalid' })
  for (const url of ['file:///etc/passwd', 'javascript:alert(1)', 'lathe://new'])
    await expect(outside.open(url)).rejects.toMatchObject({ code: 'request.invalid' })
  expect(did.splice(0)).toHaveLength(2)

  const answer = Promise.withResolvers<boolean>()
  const busy = createOutsideAddresses({
    confirm: () => answer.promise,
    open: async (href) => void did.push(`open ${href}`),
    now: () => 0,
  })
  const first = busy.open('https://example.com/a')
  await expect(busy.open('https://example.com/b')).rejects.toMatchObject({ code: 'request.invalid' })
  answer.resolve(true)
  await first
  expect(did).toEqual(['open https://example.com/a'])
})
