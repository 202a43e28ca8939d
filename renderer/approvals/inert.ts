import { useEffect, useState } from 'react'
import { cardInertMs } from '../../preload/contract/limits.ts'

/**
 * True for the first 500 ms of a card (which is keyed by its item), and again after its window got the focus: neither a key meant for the text before
 * it nor the click that only fetched the window may answer (Z-201).
 */
export function useInert(): boolean {
  const [inert, setInert] = useState(true)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>
    const hold = () => {
      setInert(true)
      clearTimeout(timer)
      timer = setTimeout(() => setInert(false), cardInertMs)
    }
    hold()
    addEventListener('focus', hold)
    return () => {
      clearTimeout(timer)
      removeEventListener('focus', hold)
    }
  }, [])
  return inert
}
