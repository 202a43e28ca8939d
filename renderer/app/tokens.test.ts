/** Contrast of the design tokens in every theme, computed from tokens.css itself. */
import { describe, expect, test } from 'vitest'
import source from './tokens.css?raw'

type Rgb = [red: number, green: number, blue: number]
type Colour = { rgb: Rgb; alpha: number }
const themes = ['light', 'dark', 'contrast'] as const
type Theme = (typeof themes)[number]

const css = source.replace(/\/\*[\s\S]*?\*\//g, '')
const declared = { base: new Map<string, string>(), contrast: new Map<string, string>() }
for (const [, selector = '', body = ''] of css.matchAll(/([^{}]+)\{([^{}]*)\}/g)) {
  const into = selector.includes('contrast') ? declared.contrast : declared.base
  for (const [, name = '', value = ''] of body.matchAll(/--([\w-]+):\s*([^;]+);/g)) into.set(name, value.trim())
}

function valueOf(name: string, theme: Theme): string {
  const value = (theme === 'contrast' ? declared.contrast.get(name) : undefined) ?? declared.base.get(name)
  if (value === undefined) throw new Error(`no token --${name}`)
  const sides = /^light-dark\((.+?\)?), ((?:var|oklch)\(.+\)|transparent)\)$/.exec(value)
  const chosen = sides ? (theme === 'light' ? sides[1]! : sides[2]!) : value
  const reference = /^var\(--([\w-]+)\)$/.exec(chosen)
  return reference ? valueOf(reference[1]!, theme) : chosen
}

function colour(name: string, theme: Theme): Colour {
  const value = valueOf(name, theme)
  const parts =
    /^oklch\(([\d.]+) ([\d.]+) ([\d.]+)(?: \/ ([\d.]+))?\)$/.exec(value) ??
    (value.startsWith('oklch(') ? /^oklch\(([\d.]+) ([\d.]+) ?([\d.]*)\)$/.exec(value) : null)
  if (!parts) throw new Error(`--${name} is not an oklch colour: ${value}`)
  const [lightness, chroma, hue, alpha] = [Number(parts[1]), Number(parts[2]), Number(parts[3]), Number(parts[4] ?? 1)]
  const [a, b] = [chroma * Math.cos((hue * Math.PI) / 180), chroma * Math.sin((hue * Math.PI) / 180)]
  const long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const short = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3
  const clamp = (x: number) => Math.min(1, Math.max(0, x))
  return {
    alpha,
    rgb: [
      clamp(4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short),
      clamp(-1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short),
      clamp(-0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short),
    ],
  }
}

const gamma = (x: number) => (x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055)
const linear = (x: number) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4)

/** Colours are laid over each other in sRGB, as the browser does it. */
function over(top: Colour, below: Rgb): Rgb {
  return top.rgb.map((x, i) => linear(gamma(x) * top.alpha + gamma(below[i]!) * (1 - top.alpha))) as Rgb
}

const luminance = ([red, green, blue]: Rgb) => 0.2126 * red + 0.7152 * green + 0.0722 * blue

function contrast(text: Rgb, ground: Rgb): number {
  const [high, low] = [luminance(text), luminance(ground)].sort((x, y) => y - x) as [number, number]
  return (high + 0.05) / (low + 0.05)
}

const surfaces = ['side', 'canvas', 'sunken', 'raised', 'field']
const states = ['running', 'needs', 'failed', 'ok', 'note']
const terminal = Array.from({ length: 16 }, (_, i) => `term-${i}`)
const code = [...declared.base.keys()].filter((name) => name.startsWith('code-'))

/** Every pair of text and ground that components may use, with WCAG's limit: 4.5 for text, 3 for marks and edges. */
const pairs: [text: string, ground: string, least: number, laid?: string][] = [
  ...surfaces.flatMap((ground) =>
    ['ink', 'muted', 'faint', 'accent-ink', ...states, 'added', 'removed', 'modified'].map(
      (text) => [text, ground, 4.5] as [string, string, number],
    ),
  ),
  ...['side', 'canvas', 'raised'].flatMap((ground) =>
    ['hover', 'pressed', 'selected'].flatMap((laid) =>
      ['ink', 'muted'].map((text) => [text, ground, 4.5, laid] as [string, string, number, string]),
    ),
  ),
  ...['side', 'canvas', 'raised'].flatMap((ground) =>
    ['hover', 'selected'].map((laid) => ['faint', ground, 4.5, laid] as [string, string, number, string]),
  ),
  ...states.flatMap(
    (state) =>
      [
        [state, `${state}-soft`, 4.5],
        ['ink', `${state}-soft`, 4.5],
        ['muted', `${state}-soft`, 4.5],
      ] as [string, string, number][],
  ),
  ['on-accent', 'accent', 4.5],
  ['on-accent', 'accent-hover', 4.5],
  ['on-danger', 'danger', 4.5],
  ['on-danger', 'danger-hover', 4.5],
  ['ink', 'text-selection', 4.5],
  ['ink', 'match', 4.5],
  ['ink', 'match-current', 4.5],
  ...['accent-soft'].flatMap((ground) =>
    ['ink', 'muted', 'accent-ink'].map((text) => [text, ground, 4.5] as [string, string, number]),
  ),
  ...['added-line', 'removed-line', 'added-word', 'removed-word'].map(
    (ground) => ['code-ink', ground, 4.5] as [string, string, number],
  ),
  ...code.flatMap((text) =>
    ['canvas', 'sunken', 'added-line', 'removed-line'].map((ground) => [text, ground, 4.5] as [string, string, number]),
  ),
  ...['term-foreground', ...terminal.slice(1, 7), ...terminal.slice(9, 16)].map(
    (text) => [text, 'term-background', 4.5] as [string, string, number],
  ),
  ['term-foreground', 'term-selection', 4.5],
  ...surfaces.flatMap((ground) =>
    ['focus', 'line-control'].map((text) => [text, ground, 3] as [string, string, number]),
  ),
]

describe.each(themes)('%s theme', (theme) => {
  test('S-150 every text, mark and edge meets WCAG 2.2 AA on the surfaces it may lie on', () => {
    const poor = pairs.flatMap(([text, ground, least, laid]) => {
      const base = colour(ground, theme).rgb
      const under = laid ? over(colour(laid, theme), base) : base
      const ratio = contrast(over(colour(text, theme), under), under)
      return ratio < least
        ? [`${text} on ${ground}${laid ? ` (${laid})` : ''}: ${ratio.toFixed(2)}, needs ${least}`]
        : []
    })
    expect(poor).toEqual([])
  })
})
