import { z } from 'zod'

/** A whole number that only shapes a reply: out of its range it is moved to the nearest end. */
export function clamped(min: number, max: number, fallback: number) {
  const toRange = (value: unknown): unknown =>
    typeof value === 'number' && Number.isFinite(value) ? Math.min(max, Math.max(min, Math.trunc(value))) : value
  return z.preprocess(toRange, z.int().min(min).max(max).default(fallback))
}
