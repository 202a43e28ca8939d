/** The diff view in our colours, its highlighting in workers. */
import { registerCustomTheme } from '@pierre/diffs'
import type { WorkerInitializationRenderOptions, WorkerPoolOptions } from '@pierre/diffs/react'
import { highlighterTheme } from '../app/theme-palettes.ts'
import { type ShownTheme, shownTheme } from '../app/theme.ts'

const registered = new Set<string>()

/** The name of the shown theme, known to the highlighter from then on. Its colours can be read only while it is shown. */
export function diffTheme(shown: ShownTheme = shownTheme()): string {
  const theme = highlighterTheme()
  const name = `lathe-${shown}`
  if (!registered.has(name)) {
    registered.add(name)
    registerCustomTheme(name, () => Promise.resolve({ ...theme, name }))
  }
  return name
}

export const poolOptions: WorkerPoolOptions = {
  workerFactory: () => new Worker(new URL('./diff-worker.ts', import.meta.url), { type: 'module' }),
  poolSize: 2,
  // A small diff is coloured sooner here than by a round trip.
  mainThreadMaxCharacters: 4_000,
  onWorkerError: (event) => event.preventDefault(),
}

export function highlighterOptions(): WorkerInitializationRenderOptions {
  return { theme: diffTheme(), lineDiffType: 'word', tokenizeMaxLineLength: 1_000, maxLineDiffLength: 1_000 }
}

/** Our tokens under the names the diff view reads. It inherits them through its shadow root. */
export const diffTokens: Record<`--${string}`, string> = {
  '--diffs-font-family': 'var(--font-mono)',
  '--diffs-font-features': '"calt" 0, "liga" 0',
  '--diffs-header-font-family': 'var(--font-sans)',
  '--diffs-font-size': '0.75rem',
  '--diffs-line-height': '1.25rem',
  '--diffs-light-bg': 'var(--canvas)',
  '--diffs-dark-bg': 'var(--canvas)',
  '--diffs-addition-color-override': 'var(--added)',
  '--diffs-deletion-color-override': 'var(--removed)',
  '--diffs-modified-color-override': 'var(--accent)',
  // Lines are tinted with a fifth of these: less than the full colour, so that comments on them can still be read.
  '--diffs-bg-addition-override': 'color-mix(in oklab, var(--added) 62%, var(--canvas))',
  '--diffs-bg-deletion-override': 'color-mix(in oklab, var(--removed) 62%, var(--canvas))',
  '--diffs-bg-selection-override': 'var(--accent-soft)',
  '--diffs-bg-selection-number-override': 'var(--accent)',
  '--diffs-bg-addition-emphasis-override': 'color-mix(in oklab, var(--added-word) 62%, var(--added-line))',
  '--diffs-bg-deletion-emphasis-override': 'color-mix(in oklab, var(--removed-word) 62%, var(--removed-line))',
  '--diffs-bg-separator-override': 'var(--sunken)',
  '--diffs-bg-context-override': 'var(--canvas)',
  '--diffs-bg-context-gutter-override': 'var(--canvas)',
  '--diffs-bg-buffer-override': 'var(--sunken)',
  '--diffs-fg-number-override': 'var(--faint)',
}
