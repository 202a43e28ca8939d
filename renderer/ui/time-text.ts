const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** How long something took or takes: `0.4s`, `12s`, `3m 05s`, `2h 14m`, `3d 4h`. Milliseconds in. */
export function durationText(ms: number): string {
  if (ms < 100) return '0s'
  if (ms < 1_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)}s`
  if (ms < minute) return `${Math.floor(ms / 1_000)}s`
  if (ms < hour) return `${Math.floor(ms / minute)}m ${String(Math.floor((ms % minute) / 1_000)).padStart(2, '0')}s`
  if (ms < day) return `${Math.floor(ms / hour)}h ${String(Math.floor((ms % hour) / minute)).padStart(2, '0')}m`
  return `${Math.floor(ms / day)}d ${Math.floor((ms % day) / hour)}h`
}

/** How long ago, in a list's width: `now`, `4m`, `3h`, `2d`, then a date. Epoch milliseconds in; the future is `now`. */
export function agoText(at: number, now: number, locale?: string): string {
  const past = now - at
  if (past < minute) return 'now'
  if (past < hour) return `${Math.floor(past / minute)}m`
  if (past < day) return `${Math.floor(past / hour)}h`
  if (past < 7 * day) return `${Math.floor(past / day)}d`
  const sameYear = new Date(at).getFullYear() === new Date(now).getFullYear()
  return new Intl.DateTimeFormat(locale, {
    month: 'short',
    day: 'numeric',
    ...(sameYear ? {} : { year: 'numeric' }),
  }).format(at)
}

/** The time of day: `14:05`, or as people write it there. */
export function clockText(at: number, locale?: string): string {
  return new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit' }).format(at)
}
