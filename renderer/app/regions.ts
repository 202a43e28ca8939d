/** The window's regions, in the order F6 walks them (S-149). A region is an element with `data-region`. */
const regions = ['sessions', 'transcript', 'composer', 'inspector', 'terminal'] as const
type Region = (typeof regions)[number]

const focusable =
  '[data-region-focus], textarea:not(:disabled), [tabindex="0"], a[href], button:not(:disabled), input:not(:disabled)'
/** Where the focus was in each region when it was left. */
const left = new Map<Region, WeakRef<HTMLElement>>()

function element(region: Region): HTMLElement | null {
  return document.querySelector<HTMLElement>(`[data-region="${region}"]`)
}

export function regionOf(target: Element | null): Region | null {
  const name = target?.closest<HTMLElement>('[data-region]')?.dataset['region']
  return regions.find((region) => region === name) ?? null
}

/** Remembers where the focus was; called for every focus that moves. */
export function rememberFocus(event: FocusEvent): void {
  if (!(event.target instanceof HTMLElement)) return
  const region = regionOf(event.target)
  if (region) left.set(region, new WeakRef(event.target))
}

/** Moves the focus into a region: to where it was, else to its main control. Answers whether the region is there. */
export function focusRegion(region: Region): boolean {
  const place = element(region)
  if (!place) return false
  const before = left.get(region)?.deref()
  const main = place.querySelector<HTMLElement>('[data-region-focus]')
  const target =
    before?.isConnected && place.contains(before)
      ? before
      : (main ?? place.querySelector<HTMLElement>(focusable) ?? place)
  target.focus()
  return true
}

/** F6 and Shift+F6: the next region that is on screen. */
export function focusNextRegion(direction: 1 | -1): void {
  const now = regionOf(document.activeElement)
  const from = now === null ? (direction === 1 ? -1 : 0) : regions.indexOf(now)
  for (let step = 1; step <= regions.length; step += 1) {
    const next = regions[(from + direction * step + regions.length * 2) % regions.length]
    if (next && focusRegion(next)) return
  }
}
