import { expect, test } from 'vitest'
import { CurrentRedaction } from './current-redaction.ts'

test('Z-100 keys that are stored, configured or named while Lathe runs are known from then on', async () => {
  const stored = new Map<string, string>()
  const configured = { variables: [] as string[], keys: [] as { name: string; value: string }[] }
  const current = new CurrentRedaction({
    env: { SHOP_TOKEN: 'tok-of-the-shop', LABPASS: 'pass-of-the-lab' },
    configured: () => configured,
    stored: { list: async () => [...stored.keys()], get: async (name) => stored.get(name) ?? null },
  })
  const text = 'tok-of-the-shop pass-of-the-lab key-in-the-file key-in-the-chain'
  expect(current.get().text(text)).toBe('[redacted:SHOP_TOKEN] pass-of-the-lab key-in-the-file key-in-the-chain')

  stored.set('provider.far', 'key-in-the-chain')
  configured.variables.push('LABPASS')
  configured.keys.push({ name: 'provider.near', value: 'key-in-the-file' })
  await current.refresh()
  expect(current.get().text(text)).toBe(
    '[redacted:SHOP_TOKEN] [redacted:LABPASS] [redacted:provider.near] [redacted:provider.far]',
  )
})

test('Z-100 a store that cannot be read leaves the rest known', async () => {
  const current = new CurrentRedaction({
    env: { SHOP_TOKEN: 'tok-of-the-shop' },
    configured: () => ({ variables: [], keys: [] }),
    stored: { list: () => Promise.reject(new Error('locked')), get: async () => null },
  })
  await current.refresh()
  expect(current.get().text('tok-of-the-shop')).toBe('[redacted:SHOP_TOKEN]')
})
