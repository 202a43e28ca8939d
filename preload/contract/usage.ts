import { z } from 'zod'

const Count = z.number().nonnegative().nullable()

/** Token sums as reported; null where nothing was reported (T-87). `cost` in US dollars. */
export const Usage = z.object({
  input: Count,
  output: Count,
  reasoning: Count,
  cacheRead: Count,
  cacheWrite: Count,
  total: Count,
  cost: Count,
})
export type Usage = z.infer<typeof Usage>
