/** Keys typed while a new session is being made: they are its message, not that of the session still on screen (S-101). */

/** Takes the keyboard; the answered function gives it back and answers what was typed meanwhile. */
export function typeAhead(): () => string {
  const before = document.activeElement
  const field = document.createElement('textarea')
  field.className = 'sr-only'
  field.ariaLabel = 'Text for the new session'
  document.body.append(field)
  field.focus({ preventScroll: true })
  return () => {
    const hadKeyboard = field === document.activeElement
    field.remove()
    if (hadKeyboard && before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true })
    return field.value
  }
}
