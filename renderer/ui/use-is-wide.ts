import { useEffect, useState, type RefObject } from 'react'

/** Whether the element has at least so many pixels of width; false before it is measured. */
export function useIsWide(element: RefObject<HTMLElement | null>, fromPx: number): boolean {
  const [isWide, setIsWide] = useState(false)
  useEffect(() => {
    if (!element.current) return
    const observer = new ResizeObserver(([entry]) => entry && setIsWide(entry.contentRect.width >= fromPx))
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [element, fromPx])
  return isWide
}
