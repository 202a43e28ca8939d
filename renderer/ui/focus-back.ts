import { useState } from 'react'

/**
 * For surfaces that a key or a command opened: the focus returns to where it was. Left to itself it would go to the
 * button that opened the surface, and be lost where there is none.
 */
export function useFocusBack(open: boolean): (event: Event) => void {
  const [seen, setSeen] = useState(() => ({ open, from: open ? document.activeElement : null }))
  if (open !== seen.open) setSeen({ open, from: open ? document.activeElement : seen.from })
  return (event) => {
    event.preventDefault()
    if (seen.from instanceof HTMLElement && seen.from.isConnected) seen.from.focus()
  }
}
