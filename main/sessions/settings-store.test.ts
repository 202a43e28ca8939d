import { expect, test } from 'vitest'
import { SettingsStore } from './settings-store.ts'

/** Values kept in memory, each stored a moment later. */
function slowValues() {
  const values = new Map<string, unknown>()
  return {
    values,
    value: async (name: string) => values.get(name) ?? null,
    setValue: async (name: string, value: unknown) => {
      await new Promise((resolve) => setImmediate(resolve))
      values.set(name, value)
    },
  }
}

test('S-123 two changes in one instant both stand, in memory and on disk', async () => {
  const storage = slowValues()
  const store = new SettingsStore(storage, () => {})
  await Promise.all([store.set({ effort: 'high' }), store.set({ 'app.zoom': 120 })])
  await Promise.all([store.setPreferences({ one: 1 }), store.setPreferences({ two: 2 })])
  expect(store.get()).toMatchObject({ effort: 'high', 'app.zoom': 120 })
  expect(storage.values.get('settings')).toEqual(store.get())
  expect(storage.values.get('preferences')).toEqual({ one: 1, two: 2 })
})

test('S-7 S-33 S-123 a change that does not fit is refused and changes nothing; a stored one takes its default', async () => {
  const storage = slowValues()
  storage.values.set('settings', { 'app.zoom': 9_000, effort: 'low' })
  const store = new SettingsStore(storage, () => {})
  await store.load()
  expect(store.get()).toMatchObject({ 'app.zoom': 100, effort: 'low' })
  await expect(store.set({ 'app.zoom': 1 })).rejects.toMatchObject({ code: 'request.invalid' })
  await expect(store.setPreferences({ much: 'x'.repeat(300_000) })).rejects.toMatchObject({ code: 'request.invalid' })
  expect(await store.set({ effort: 'high' })).toMatchObject({ 'app.zoom': 100, effort: 'high' })
})
