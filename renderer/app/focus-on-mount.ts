/** Ref of a field that appears because a person asked to type into it: it has the focus at once. */
export function focusOnMount(element: HTMLElement | null): void {
  element?.focus()
}
