/** Figures of a turn as its requests report them: sums of usage, first token, rate (T-87 to T-89). */
import { noUsage } from '../../preload/contract/fold.ts'
import type { Usage } from '../../preload/contract/usage.ts'
import type { ModelInfo, ModelUsage } from '../models/model.ts'
import { addUsage, usageOf } from './usage.ts'

export class Tally {
  usage: Usage = noUsage
  servedBy: string | null = null
  /** Of the step under way, over all its requests; null where none reported any. */
  stepUsage: Usage | null = null
  firstTokenMs: number | null = null
  streamedMs = 0
  /** Characters shown by the requests of this step that are over. */
  shown = 0
  private readonly model: ModelInfo
  private startedAt = 0
  private firstAt = 0
  private lastAt = 0
  private deltas = 0
  private reportedAt = 0

  constructor(model: ModelInfo) {
    this.model = model
  }

  beginStep(): void {
    this.stepUsage = null
    this.firstTokenMs = null
    this.streamedMs = 0
    this.shown = 0
  }

  begin(now: number): void {
    this.startedAt = now
    this.deltas = 0
    this.reportedAt = now
  }

  streamed(deltas: number, now: number): void {
    if (this.deltas === 0) {
      this.firstAt = now
      this.firstTokenMs ??= now - this.startedAt
    }
    this.lastAt = now
    this.deltas += deltas
  }

  /** Live deltas a second, one decimal; null without a positive interval. */
  get rate(): number | null {
    const seconds = (this.lastAt - this.firstAt) / 1_000
    return this.deltas < 2 || seconds <= 0 ? null : Math.round(((this.deltas - 1) / seconds) * 10) / 10
  }

  /** At most once a second while text streams (T-88). */
  dueForReport(now: number): boolean {
    if (now - this.reportedAt < 1_000) return false
    this.reportedAt = now
    return true
  }

  end(usage: ModelUsage | null, now: number): void {
    if (this.deltas > 1) this.streamedMs += now - this.firstAt
    if (usage) this.add(usage)
  }

  add(usage: ModelUsage): void {
    const reported = usageOf(usage, this.model)
    this.usage = addUsage(this.usage, reported)
    this.stepUsage = this.stepUsage ? addUsage(this.stepUsage, reported) : reported
  }
}
