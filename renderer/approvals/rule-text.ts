/** A rule as a person reads it before it is stored (Z-87); places in `workspace` are named from there. */
import type { RuleMatch } from '../../preload/contract/items.ts'

export function ruleText({ tool, command, path, host }: RuleMatch, workspace?: string): string {
  const parts: string[] = []
  if (command) parts.push(command.map(shellWord).join(' '))
  if (path) parts.push(`${path.access === 'write' ? 'write' : 'read'} ${placeText(path.glob, workspace)}`)
  if (host) parts.push(host)
  if (parts.length === 0) return tool ? `every call of ${tool}` : 'every call'
  return tool && !command ? `${tool}: ${parts.join(', ')}` : parts.join(', ')
}

/** A word that would be taken apart is quoted, so that one word reads as one. */
function shellWord(word: string): string {
  return /[\s"'\\]/.test(word) || word === '' ? `'${word.replaceAll("'", "'\\''")}'` : word
}

function placeText(glob: string, workspace: string | undefined): string {
  if (workspace === undefined || workspace === '' || !glob.startsWith(`${workspace}/`)) return glob
  const inside = glob.slice(workspace.length + 1)
  return inside === '**' ? 'any file of the workspace' : inside
}
