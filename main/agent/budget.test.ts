import fc from 'fast-check'
import { expect, test } from 'vitest'
import { defaultSettings } from '../../preload/contract/settings.ts'
import type { ModelInfo } from '../models/model.ts'
import { budgetOf, thresholdsOf } from './budget.ts'

const model = (contextLength: number, maxOutput: number, more: Partial<ModelInfo> = {}): ModelInfo => ({
  name: 'lab/m',
  label: 'M',
  contextLength,
  contextLengthSource: 'config',
  maxOutput,
  tools: true,
  vision: false,
  efforts: null,
  price: null,
  local: false,
  ...more,
})

test('C-44 C-45 CA-16 what one request may hold, and from when older turns give way', () => {
  expect(budgetOf(model(200_000, 64_000), defaultSettings)).toEqual({
    window: 166_976,
    input: 166_976,
    output: 32_000,
    thresholds: { compactAt: 150_278, compactAfter: 133_580, retain: 83_488 },
  })
  expect(budgetOf(model(8_192, 8_192), defaultSettings).window).toBe(5_632)
})

test('C-55 a small length that nobody stated binds nothing until a request is refused', () => {
  const assumed = budgetOf(model(8_192, 8_192, { local: true, contextLengthSource: 'assumed' }), defaultSettings)
  expect(assumed).toMatchObject({ window: 5_632, input: Number.POSITIVE_INFINITY, thresholds: null })
})

test('C-45 whatever is set, each threshold keeps its distance from the next', () => {
  const share = fc.double({ min: -1, max: 2, noNaN: true })
  fc.assert(
    fc.property(share, share, share, fc.integer({ min: 2_048, max: 2_000_000 }), (at, after, keep, window) => {
      const { compactAt, compactAfter, retain } = thresholdsOf(window, {
        'compaction.compactAt': at,
        'compaction.compactAfter': after,
        'compaction.retain': keep,
      })
      expect(compactAt).toBeLessThanOrEqual(window * 0.95 + 1)
      expect(compactAt).toBeGreaterThanOrEqual(Math.floor(window * 0.5))
      expect(compactAt - compactAfter).toBeGreaterThanOrEqual(Math.floor(window * 0.05) - 1)
      expect(retain).toBeGreaterThanOrEqual(Math.floor(window * 0.1))
      expect(compactAfter - retain).toBeGreaterThanOrEqual(Math.floor(window * 0.1) - 1)
    }),
  )
})
