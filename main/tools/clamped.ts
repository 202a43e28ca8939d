import { z } from 'zod'

/** A whole number that only shapes a reply: out of its range it is moved to the nearest end. */
export function clamped(min: number, max: number, fallback: number): z.ZodType<number>
export function clamped(min: number, max: number): z.ZodType<number | undefined>
export function clamped(min: number, max: number, fallback?: number): z.ZodType {
  const toRange = (value: unknown): unknown =>
    typeof value === 'number' && Number.isFinite(value) ? Math.min(max, Math.max(min, Math.trunc(value))) : value
  const range = z.int().min(min).max(max)
  return z.preprocess(toRange, fallback === undefined ? range.optional() : range.default(fallback))
}
