/** Sums of tokens as reported: a missing report never lowers or clears one (T-87). */
import type { Usage } from '../../preload/contract/session.ts'
import type { ModelInfo, ModelUsage } from '../models/model.ts'

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

/** What one request cost, as far as the model's price is known. */
export function usageOf(usage: ModelUsage, model: ModelInfo): Usage {
  const { price } = model
  const cost =
    price && usage.input !== null && usage.output !== null
      ? ((usage.input - (usage.cacheRead ?? 0)) * price.input +
          (usage.cacheRead ?? 0) * (price.cacheRead ?? price.input) +
          usage.output * price.output) /
        1_000_000
      : null
  const { estimated: _, ...counts } = usage
  return { ...counts, cost }
}
