/** Where a key moves the focus in a list of `count` rows, `page` of which show at once; undefined for other keys. */
export function steppedTo(key: string, from: number, count: number, page: number): number | undefined {
  const steps: Record<string, number> = {
    ArrowDown: from + 1,
    ArrowUp: from - 1,
    Home: 0,
    End: count - 1,
    PageDown: from + page,
    PageUp: from - page,
  }
  return steps[key]
}
