/** Moves the focus to the card that waits, not to one of its buttons: nothing is answered by arriving. */
export function focusPending(): void {
  document.querySelector<HTMLElement>('[data-pending]')?.focus()
}
