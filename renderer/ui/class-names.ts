/** Joins class names, leaving out what is absent. A later class does not override an earlier one: pass layout only. */
export function classNames(...names: (string | false | null | undefined)[]): string {
  return names.filter(Boolean).join(' ')
}

/** Squares that show through where a picture is transparent. */
export const transparencySquares =
  'bg-[repeating-conic-gradient(var(--sunken)_0_25%,var(--canvas)_0_50%)] bg-size-[16px_16px]'
