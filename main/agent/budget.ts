/** How much one request to a model may hold, and when older turns give way to a summary (C-44, C-45). Tokens throughout. */
import type { Settings } from '../../preload/contract/settings.ts'
import type { ModelInfo } from '../models/model.ts'

export type Budget = {
  /** What one request may hold, as people see it. */
  window: number
  /** What it is fitted to: infinite where a server of this machine did not say its length, until it refuses one (C-55). */
  input: number
  /** Output tokens asked for. */
  output: number
  thresholds: Thresholds | null
}

export type Thresholds = { compactAt: number; compactAfter: number; retain: number }

const outputMax = 32_000
const marginMax = 1_024
/** Below it no work is possible (C-44). */
export const inputMin = 2_048

type Shares = Pick<Settings, 'compaction.compactAt' | 'compaction.compactAfter' | 'compaction.retain'>

export function budgetOf(model: ModelInfo, shares: Shares): Budget {
  const limit = model.contextLength
  const output = Math.min(model.maxOutput, outputMax, Math.floor(limit / 4))
  const window = Math.max(1, limit - output - Math.min(marginMax, Math.floor(limit / 16)))
  // A small length that nobody stated would have every conversation with a local server summarised all the time.
  if (model.local && model.contextLengthSource === 'assumed')
    return { window, input: Number.POSITIVE_INFINITY, output, thresholds: null }
  return { window, input: window, output, thresholds: thresholdsOf(window, shares) }
}

/** Each value moves to the nearest legal one beside the others, and rounds down (C-45). */
export function thresholdsOf(window: number, shares: Shares): Thresholds {
  const compactAt = within(shares['compaction.compactAt'], 0.5, 0.95)
  const compactAfter = within(shares['compaction.compactAfter'], 0.2, compactAt - 0.05)
  const retain = within(shares['compaction.retain'], 0.1, Math.min(0.7, compactAfter - 0.1))
  // Shares are decimal: 0.9 of 10 is 9, whatever binary makes of it.
  const of = (share: number) => Math.max(1, Math.floor(window * share + 1e-6))
  return { compactAt: of(compactAt), compactAfter: of(compactAfter), retain: of(retain) }
}

function within(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value))
}
