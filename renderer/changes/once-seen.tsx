/** What is drawn only once it comes near the screen: a diff of a thousand hunks has as many bars, and a dozen in sight. */
import { type ReactNode, useEffect, useRef, useState } from 'react'

const nearPx = 600
const waiting = new WeakMap<Element, () => void>()
let observer: IntersectionObserver | undefined

function observe(element: Element, seen: () => void): () => void {
  observer ??= new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) waiting.get(target)?.()
    },
    { rootMargin: `${nearPx}px` },
  )
  waiting.set(element, seen)
  observer.observe(element)
  return () => {
    waiting.delete(element)
    observer?.unobserve(element)
  }
}

/** Keeps `className`, which gives its height, as its place until then. What was drawn stays, with all it holds. */
export function OnceSeen({ className, children }: { className: string; children: ReactNode }) {
  const place = useRef<HTMLDivElement>(null)
  const [seen, setSeen] = useState(false)
  useEffect(() => {
    if (!seen && place.current) return observe(place.current, () => setSeen(true))
  }, [seen])
  return seen ? children : <div ref={place} className={className} />
}
