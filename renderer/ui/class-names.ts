/** Joins class names, leaving out what is absent. A later class does not override an earlier one: pass layout only. */
export function classNames(...names: (string | false | null | undefined)[]): string {
  return names.filter(Boolean).join(' ')
}
