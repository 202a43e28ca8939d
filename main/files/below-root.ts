import { sep } from 'node:path'

/** A path as the search program prints it, below the root, with `/`. */
export function belowRoot(printed: string): string {
  const path = printed.startsWith('./') || printed.startsWith('.\\') ? printed.slice(2) : printed
  return sep === '/' ? path : path.replaceAll('\\', '/')
}
