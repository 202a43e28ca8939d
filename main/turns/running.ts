/** Reports of a running turn's worker, applied in the order they arrive (T-40). A report of another turn never gets here. */
import type { Report, ReportAnswer } from '../agent/reports.ts'
import { toolReady } from './approvals.ts'
import { takeFileNotes } from './changes.ts'
import type { Decision } from './decision.ts'
import { hasResults, noticesDelivered, takeNotices } from './pending-notices.ts'
import { setNotice } from './notices.ts'
import { asked } from './questions.ts'
import { settle } from './settle.ts'
import { pendingSteers, takeSteers } from './steers.ts'
import { endStopped } from './stop.ts'
import { closeOpenItem, discard, noteContent, stream } from './streamed-items.ts'
import { emitOutput, endTool, proposeTool } from './tool-items.ts'
import { emitUsage, waitsForSubagents } from './subagents.ts'

/** How long what happened in a turn stays above the message. */
const noticeShownMs = 10 * 60_000

export function applyReport(decision: Decision, report: Report): ReportAnswer {
  if (decision.turn.phase === 'stopping') return applyWhileStopping(decision, report)
  switch (report.type) {
    case 'preparing':
      decision.changeTurn({ phase: 'preparing' })
      return null
    case 'slot':
      decision.changeTurn({ waitingSlot: report.waiting })
      decision.status()
      return null
    case 'running':
      decision.changeTurn({ phase: 'running', waitingSlot: false })
      decision.status()
      return null
    case 'stepStarted':
      closeOpenItem(decision)
      decision.changeTurn({ stepId: report.stepId, requestRunning: true, servedBy: report.model })
      decision.emit({
        type: 'step.started',
        turnId: decision.turn.id,
        stepId: report.stepId,
        step: report.step,
        model: report.model,
      })
      return null
    case 'stream':
      noticesDelivered(decision)
      stream(decision, report.channel, report.add)
      return null
    case 'streamClosed':
      closeOpenItem(decision)
      return null
    case 'discarded':
      discard(decision, report.keep)
      return null
    case 'reading':
      decision.changeTurn({ reading: { percent: clampPercent(report.percent) } })
      decision.status()
      return null
    case 'writing':
      if (report.call) noteContent(decision)
      decision.changeTurn({ writing: report.call })
      decision.status()
      return null
    case 'wait':
      decision.changeTurn({ reading: null, wait: report.wait ? waitStatus(report.wait) : null })
      decision.status()
      return null
    case 'notice':
      closeOpenItem(decision)
      decision.notice(report.level, report.text)
      if (report.key !== undefined) {
        const { level, text, key } = report
        setNotice(decision, { key, level, text, expiresAt: decision.now + noticeShownMs })
      }
      return null
    case 'toolProposed':
      noticesDelivered(decision)
      proposeTool(decision, report)
      return null
    case 'toolReady':
      toolReady(decision, report)
      return null
    case 'toolOutput': {
      const item = decision.item(report.itemId, 'tool')
      if (item?.state === 'running') emitOutput(decision, item, report.add)
      return null
    }
    case 'toolProgress': {
      const item = decision.item(report.itemId, 'tool')
      if (item?.state === 'running') decision.patch(item, { progress: report.progress })
      return null
    }
    case 'toolEnded':
      endTool(decision, report)
      return null
    case 'asked':
      asked(decision, report)
      return null
    case 'planned':
      decision.emit({ type: 'plan.changed', turnId: decision.turn.id, plan: report.plan })
      return null
    case 'usage':
      reportUsage(decision, report)
      return null
    case 'stepEnded':
      endStep(decision, report)
      return null
    case 'compacting': {
      const { compactingSince } = decision.turn
      decision.changeTurn({ compactingSince: report.since === null ? null : (compactingSince ?? report.since) })
      decision.status()
      return null
    }
    case 'pruned':
      for (const id of report.itemIds) {
        const item = decision.item(id, 'tool')
        if (item && !item.pruned) decision.patch(item, { pruned: true })
      }
      return null
    case 'boundary':
      closeOpenItem(decision)
      return {
        steers: [...takeFileNotes(decision), ...takeSteers(decision)],
        ended: false,
        notices: takeNotices(decision),
      }
    case 'mayEnd':
      // The commit point (T-36, T-37): either a steer makes another step, or the turn ends here and now.
      if (pendingSteers(decision).length > 0) return { steers: takeSteers(decision), ended: false }
      if (hasResults(decision)) return { steers: [], ended: false, notices: takeNotices(decision) }
      if (waitsForSubagents(decision)) return { steers: [], ended: false, waits: true }
      settle(decision, { outcome: 'completed', ending: report.ending })
      return { steers: [], ended: true }
    case 'failed':
      settle(decision, { outcome: 'failed', error: report.error })
      return null
    case 'unwound':
      settle(decision, {
        outcome: 'failed',
        error: { code: 'app.internal', message: 'The turn ended without an outcome.' },
      })
      return null
    case 'drainExpired':
      return null
  }
}

/** After Stop only ends of what is open may come (T-53); the settle waits for the worker to unwind. */
function applyWhileStopping(decision: Decision, report: Report): ReportAnswer {
  switch (report.type) {
    case 'toolEnded':
      endTool(decision, report)
      return null
    case 'usage':
      reportUsage(decision, report)
      return null
    case 'stepEnded':
      endStep(decision, report)
      return null
    case 'stream':
      // What was received before the abort is kept; what a provider sends after it is not (M-44).
      return null
    case 'toolReady':
      decision.effect({
        do: 'release',
        ticket: report.ticket,
        answer: { run: false, state: 'cancelled', error: { code: 'approval.gone', message: 'The turn was stopped.' } },
      })
      return null
    case 'asked':
      decision.effect({ do: 'release', ticket: report.ticket, answer: { noAnswer: 'cancelled' } })
      return null
    case 'boundary':
    case 'mayEnd':
      return { steers: [], ended: true }
    case 'unwound':
      endStopped(decision, 'unwound')
      return null
    case 'drainExpired':
      endStopped(decision, 'drained')
      return null
    default:
      return null
  }
}

function endStep(decision: Decision, report: Extract<Report, { type: 'stepEnded' }>): void {
  closeOpenItem(decision, report.finish === 'aborted' || report.finish === 'error' ? 'partial' : 'final')
  const output = report.usage?.output ?? null
  decision.changeTurn({
    requestRunning: false,
    wait: null,
    reading: null,
    writing: null,
    servedBy: report.servedBy ?? decision.turn.servedBy,
    ...(output === null || report.streamedMs <= 0
      ? {}
      : { rateTokens: decision.turn.rateTokens + output, rateMs: decision.turn.rateMs + report.streamedMs }),
  })
  decision.emit({
    type: 'step.ended',
    turnId: decision.turn.id,
    stepId: report.stepId,
    finish: report.finish,
    ...(report.usage ? { usage: report.usage } : {}),
    ...(report.firstTokenMs === null ? {} : { firstTokenMs: report.firstTokenMs }),
  })
  reportUsage(decision, { turn: report.turn, context: report.context, rate: null })
}

function reportUsage(
  decision: Decision,
  { turn, context, rate }: Pick<Extract<Report, { type: 'usage' }>, 'turn' | 'context' | 'rate'>,
): void {
  decision.changeTurn({ ownUsage: turn })
  emitUsage(decision, { context, rate })
}

function waitStatus(wait: NonNullable<Extract<Report, { type: 'wait' }>['wait']>) {
  return wait.code === 'provider.rate_limited'
    ? ({
        kind: 'rate_limited',
        provider: wait.provider,
        providerLabel: wait.label,
        until: wait.until,
        untilKind: wait.untilKind,
      } as const)
    : ({ kind: 'retrying', attempt: wait.attempt, of: wait.of, until: wait.until, code: wait.code } as const)
}

function clampPercent(percent: number | null): number | null {
  // Whole percents, so that a server that reports each token makes at most a hundred events.
  return percent === null || !Number.isFinite(percent) ? null : Math.round(Math.min(100, Math.max(0, percent)))
}
