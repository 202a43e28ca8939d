/**
 * Themes: which one is shown, and its colours as plain values for what draws outside the page's style sheets
 * (terminal, editor, diffs). All of them read the tokens of tokens.css, so one change reaches everything (S-176).
 */
import { useSyncExternalStore } from 'react'

const themes = ['system', 'light', 'dark', 'contrast'] as const
/** What a person chose; `system` follows the operating system, its wish for more contrast included. */
export type Theme = (typeof themes)[number]
/** What is on screen. */
export type ShownTheme = Exclude<Theme, 'system'>

const darkQuery = () => matchMedia('(prefers-color-scheme: dark)')
const contrastQuery = () => matchMedia('(prefers-contrast: more)')

let chosen: Theme = 'system'
let shown: ShownTheme | undefined
const listeners = new Set<() => void>()

function resolve(theme: Theme): ShownTheme {
  if (theme !== 'system') return theme
  if (contrastQuery().matches) return 'contrast'
  return darkQuery().matches ? 'dark' : 'light'
}

function show(): void {
  const next = resolve(chosen)
  if (next === shown) return
  shown = next
  document.documentElement.dataset['theme'] = next
  colours.clear()
  for (const listener of listeners) listener()
}

/** Shows a theme at once, everywhere. Call once at start with the stored choice; later calls switch without a reload. */
export function setTheme(theme: Theme): void {
  if (shown === undefined) for (const query of [darkQuery(), contrastQuery()]) query.addEventListener('change', show)
  chosen = theme
  show()
}

export function shownTheme(): ShownTheme {
  return shown ?? resolve(chosen)
}

/** Calls back after every change of the shown theme; answers the function that ends it. */
export function onThemeChange(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export function useShownTheme(): ShownTheme {
  return useSyncExternalStore(onThemeChange, shownTheme)
}

const colours = new Map<string, string>()
let canvas: CanvasRenderingContext2D | null | undefined

/**
 * A colour token of the shown theme as `#rrggbb`, or `#rrggbbaa` where it is translucent: the only notation that the
 * terminal, the editor and the highlighter all accept. Resolved by the browser itself, then kept until the theme changes.
 */
export function colour(token: string): string {
  const known = colours.get(token)
  if (known) return known
  const probe = document.createElement('span')
  probe.style.color = `var(--${token})`
  document.body.append(probe)
  const computed = getComputedStyle(probe).color
  probe.remove()
  canvas ??= Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d', {
    willReadFrequently: true,
  })
  if (!canvas) return computed
  canvas.clearRect(0, 0, 1, 1)
  canvas.fillStyle = computed
  canvas.fillRect(0, 0, 1, 1)
  const [red = 0, green = 0, blue = 0, alpha = 255] = canvas.getImageData(0, 0, 1, 1).data
  const hex = [red, green, blue, ...(alpha < 255 ? [alpha] : [])]
    .map((part) => part.toString(16).padStart(2, '0'))
    .join('')
  colours.set(token, `#${hex}`)
  return `#${hex}`
}

/** A font stack token (`mono`, `sans`) as written in tokens.css. */
export function fontStack(token: 'mono' | 'sans'): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${token}`).trim()
}
