/** Sums of tokens as reported: a missing report never lowers or clears one (T-87). */
import type { Usage } from '../../preload/contract/session.ts'

export function addUsage(one: Usage, other: Usage): Usage {
  const sum = (a: number | null, b: number | null) => (a === null ? b : b === null ? a : a + b)
  return {
    input: sum(one.input, other.input),
    output: sum(one.output, other.output),
    reasoning: sum(one.reasoning, other.reasoning),
    cacheRead: sum(one.cacheRead, other.cacheRead),
    cacheWrite: sum(one.cacheWrite, other.cacheWrite),
    total: sum(one.total, other.total),
    cost: sum(one.cost, other.cost),
  }
}
