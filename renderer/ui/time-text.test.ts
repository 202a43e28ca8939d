import { expect, test } from 'vitest'
import { agoText, durationText } from './time-text.ts'

test('a duration is short at every size', () => {
  const at = { second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000 }
  const durations = [
    -5,
    40,
    420,
    12 * at.second,
    3 * at.minute + 5 * at.second,
    2 * at.hour + 14 * at.minute,
    3 * at.day + 4 * at.hour,
  ]
  expect(durations.map(durationText)).toEqual(['0s', '0s', '0.4s', '12s', '3m 05s', '2h 14m', '3d 4h'])
})

test('an age becomes a date after a week, and names the year once it is another one', () => {
  const now = Date.UTC(2026, 5, 15, 12)
  const day = 86_400_000
  const ages = [-1_000, 30_000, 4 * 60_000, 3 * 3_600_000, 2 * day, 20 * day, 400 * day].map((past) =>
    agoText(now - past, now, 'en-US'),
  )
  expect(ages).toEqual(['now', 'now', '4m', '3h', '2d', 'May 26', 'May 11, 2025'])
})
