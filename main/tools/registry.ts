/** The tools of a turn by exact name. */
import { LatheError } from '../../preload/contract/errors.ts'
import type { Tool } from './tool.ts'

export type Registry = {
  tools: readonly Tool[]
  /** Throws `tool.unknown` with up to three close names. */
  get(name: string): Tool
}

export function createRegistry(tools: readonly Tool[]): Registry {
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  return {
    tools,
    get: (name) => {
      const tool = byName.get(name)
      if (tool) return tool
      const close = [...byName.keys()].filter((known) => distance(known, name) <= 4).slice(0, 3)
      throw new LatheError('tool.unknown', `There is no tool "${name}".`, {
        hint: close.length > 0 ? `Did you mean ${close.join(', ')}?` : `There are: ${[...byName.keys()].join(', ')}.`,
      })
    },
  }
}

/** Edit distance of two short names. */
function distance(one: string, other: string): number {
  if (other.length > 64) return Number.POSITIVE_INFINITY
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      next.push(Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (one[i - 1] === other[j - 1] ? 0 : 1)))
    }
    row = next
  }
  return row.at(-1)!
}
