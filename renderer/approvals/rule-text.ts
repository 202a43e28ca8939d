/** A rule as a person reads it before it is stored (Z-87). */
import type { RuleMatch } from '../../preload/contract/items.ts'

export function ruleText({ tool, command, path, host }: RuleMatch): string {
  const parts: string[] = []
  if (command) parts.push(command.map(shellWord).join(' '))
  if (path) parts.push(`${path.access === 'write' ? 'write' : 'read'} ${path.glob}`)
  if (host) parts.push(host)
  if (parts.length === 0) return tool ? `every call of ${tool}` : 'every call'
  return tool && !command ? `${tool}: ${parts.join(', ')}` : parts.join(', ')
}

/** A word that would be taken apart is quoted, so that one word reads as one. */
function shellWord(word: string): string {
  return /[\s"'\\]/.test(word) || word === '' ? `'${word.replaceAll("'", "'\\''")}'` : word
}
