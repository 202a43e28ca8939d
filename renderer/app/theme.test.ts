// @vitest-environment happy-dom
import { afterEach, expect, test, vi } from 'vitest'
import { onThemeChange, setTheme, shownTheme } from './theme.ts'

/** The operating system's wishes, as `matchMedia` reports them. */
function system() {
  const wishes = new Map<string, { matches: boolean; listeners: Set<() => void> }>()
  const query = (media: string) => {
    const known = wishes.get(media) ?? { matches: false, listeners: new Set<() => void>() }
    wishes.set(media, known)
    return known
  }
  vi.stubGlobal('matchMedia', (media: string) => ({
    get matches() {
      return query(media).matches
    },
    addEventListener: (_: string, listener: () => void) => query(media).listeners.add(listener),
  }))
  return (media: string, matches: boolean) => {
    query(media).matches = matches
    for (const listener of query(media).listeners) listener()
  }
}

afterEach(() => void vi.unstubAllGlobals())

test('S-176 the system is followed as it changes, a choice overrides it, and every listener hears once', () => {
  const wish = system()
  const seen: string[] = []
  setTheme('system')
  const end = onThemeChange(() => seen.push(shownTheme()))
  const root = document.documentElement
  expect(root.dataset['theme']).toBe('light')
  wish('(prefers-color-scheme: dark)', true)
  expect(root.dataset['theme']).toBe('dark')
  wish('(prefers-contrast: more)', true)
  expect(root.dataset['theme']).toBe('contrast')
  setTheme('light')
  setTheme('light')
  wish('(prefers-contrast: more)', false)
  expect(root.dataset['theme']).toBe('light')
  end()
  setTheme('dark')
  expect(seen).toEqual(['dark', 'contrast', 'light'])
})
