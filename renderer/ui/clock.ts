import { useSyncExternalStore } from 'react'

const second = 1_000
const readers = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined
let shown = 0

/** One timer for all that shows passing time; while nobody looks, nothing ticks. */
function subscribe(reader: () => void): () => void {
  if (readers.size === 0) shown = Date.now()
  readers.add(reader)
  timer ??= setInterval(() => {
    shown = Date.now()
    for (const each of readers) each()
  }, second)
  return () => {
    readers.delete(reader)
    if (readers.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

const subscribeNever = () => () => {}

/** Whole seconds before the first tick, so that two readings during one render agree. */
const now = () => (readers.size > 0 ? shown : Math.floor(Date.now() / second) * second)

/** `text(now)`, kept current to the second. A component is drawn again only when its text changes; `live: false` freezes it. */
export function useTime(text: (now: number) => string, live = true): string {
  return useSyncExternalStore(live ? subscribe : subscribeNever, () => text(now()))
}
