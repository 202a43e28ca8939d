/** When a provider says to come back (M-79). */
import { isRecord } from './config.ts'

const day = 24 * 60 * 60 * 1_000

/** Milliseconds, or undefined: nothing said, or nothing usable (negative, unreadable, more than a day). */
export function retryAfter(headers: Record<string, string>, body: unknown, now: number): number | undefined {
  const candidates = [
    () => number(headers['retry-after-ms']),
    () => seconds(headers['retry-after']) ?? date(headers['retry-after'], now),
    () => duration(retryDelay(body)),
    () => reset(headers, now),
  ]
  for (const candidate of candidates) {
    const ms = candidate()
    if (ms !== undefined && ms >= 0 && ms <= day) return Math.round(ms)
  }
  return undefined
}

function number(value: string | undefined): number | undefined {
  return value !== undefined && /^\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : undefined
}

function seconds(value: string | undefined): number | undefined {
  const count = number(value)
  return count === undefined ? undefined : count * 1_000
}

function date(value: string | undefined, now: number): number | undefined {
  // A bare negative number would parse as a year.
  const at = value !== undefined && /[A-Za-z:]/.test(value) ? Date.parse(value) : NaN
  return Number.isNaN(at) ? undefined : at - now
}

/** `12s`, `1m30s`, `250ms`. */
function duration(value: unknown): number | undefined {
  if (typeof value !== 'string' || !/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(value)) return undefined
  const unit: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }
  return [...value.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)].reduce(
    (sum, [, count, name]) => sum + Number(count) * unit[name!]!,
    0,
  )
}

/** `retryDelay` in an entry of the error's details. */
function retryDelay(body: unknown): unknown {
  const error = isRecord(body) && isRecord(body['error']) ? body['error'] : {}
  const details = Array.isArray(error['details']) ? error['details'] : []
  return details.find((entry) => isRecord(entry) && 'retryDelay' in entry)?.retryDelay
}

/** The latest reset among the limits that are used up. */
function reset(headers: Record<string, string>, now: number): number | undefined {
  let latest: number | undefined
  for (const [name, value] of Object.entries(headers)) {
    if (!/ratelimit.*reset|reset.*ratelimit/.test(name)) continue
    const remaining = headers[name.replace('reset', 'remaining')]
    if (remaining !== undefined && remaining !== '0') continue
    const ms = duration(value) ?? date(value, now) ?? seconds(value)
    if (ms !== undefined && ms <= day) latest = Math.max(latest ?? 0, ms)
  }
  return latest
}
