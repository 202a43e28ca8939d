/** Sums of tokens as reported: a missing report never lowers or clears one (T-87). */
import type { Usage } from '../../preload/contract/usage.ts'
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

/** What was used between two sums; null where nothing was. */
export function usageSince(before: Usage, now: Usage): Usage | null {
  const less = (a: number | null, b: number | null) => (b === null ? null : b - (a ?? 0))
  const more: Usage = {
    input: less(before.input, now.input),
    output: less(before.output, now.output),
    reasoning: less(before.reasoning, now.reasoning),
    cacheRead: less(before.cacheRead, now.cacheRead),
    cacheWrite: less(before.cacheWrite, now.cacheWrite),
    total: less(before.total, now.total),
    cost: less(before.cost, now.cost),
  }
  return Object.values(more).some((amount) => amount) ? more : null
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
