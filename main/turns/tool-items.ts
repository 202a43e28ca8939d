/** Tool cards (turns.md 8): proposed, started, ended, and what they changed. */
import type { ItemOf } from '../../preload/contract/items.ts'
import type { Report } from '../agent/reports.ts'
import { mergeChanges } from '../files/merged-changes.ts'
import type { Decision } from './decision.ts'
import { endWasTold } from './pending-notices.ts'
import { closeOpenItem, noteContent } from './streamed-items.ts'

/** What a card says of a call before anything has come of it. */
export const noOutcome = {
  durationMs: null,
  waitedMs: 0,
  summary: '',
  output: '',
  outputStart: 0,
  view: null,
  changeIds: [],
  progress: null,
}

export function proposeTool(decision: Decision, report: Extract<Report, { type: 'toolProposed' }>): void {
  if (decision.item(report.itemId, 'tool')) return
  noteContent(decision)
  closeOpenItem(decision)
  decision.changeTurn({ requestRunning: false })
  decision.put({
    kind: 'tool',
    id: report.itemId,
    callId: report.callId,
    name: report.name,
    title: report.title,
    args: report.args,
    ...(report.argsRef === undefined ? {} : { argsRef: report.argsRef }),
    state: 'proposed',
    startedAt: null,
    ...noOutcome,
  })
}

export function toolStarts(decision: Decision, item: ItemOf<'tool'>, waitedMs: number): void {
  decision.changeTurn({
    running: [...decision.turn.running, { itemId: item.id, title: item.title, since: decision.now }],
  })
  decision.status()
  decision.patch(item, { state: 'running', startedAt: decision.now, waitedMs })
}

/** The first end of a call counts (T-74); its state is the tool's typed result, never its text (T-76). */
export function endTool(decision: Decision, report: Extract<Report, { type: 'toolEnded' }>): void {
  const item = decision.item(report.itemId, 'tool')
  if (!item || item.endedAt !== null) return
  const { end, changes } = report
  decision.changeTurn({ running: decision.turn.running.filter((one) => one.itemId !== item.id) })
  decision.status()
  decision.emit({
    type: 'item.put',
    turnId: decision.turn.id,
    after: null,
    item: {
      ...item,
      state: end.state,
      ...(end.code === undefined ? {} : { code: end.code }),
      ...(end.escalated ? { escalated: true } : {}),
      status: 'final',
      endedAt: decision.now,
      durationMs: end.durationMs,
      summary: end.summary,
      ...(end.resultRef === undefined ? {} : { resultRef: end.resultRef }),
      view: end.view as never,
      output: end.view ? '' : item.output,
      progress: null,
      changeIds: changes.map((change) => change.id),
    },
  })
  if (end.escalated) decision.effect({ do: 'escalated', tool: item.name, code: end.code ?? '' })
  if (end.toldEndOf !== undefined) {
    endWasTold(decision, end.toldEndOf)
    if (decision.header.parent) decision.effect({ do: 'toldEnd', execId: end.toldEndOf })
  }
  recordChanges(decision, decision.turn.id, changes)
}

/**
 * One change a turn and file: before is the first before, after the last after; equal, it vanishes (F-901). A call that
 * ended too late for its turn still wrote what it wrote (T-110).
 */
export function recordChanges(
  decision: Decision,
  turnId: string,
  changes: Extract<Report, { type: 'toolEnded' }>['changes'],
): void {
  if (changes.length === 0) return
  decision.effect({ do: 'recorded', changeIds: changes.map(({ id }) => id) })
  if (decision.header.parent) decision.effect({ do: 'passChanges', changes })
  if (!decision.state.view.turns.some((turn) => turn.id === turnId)) return
  const known = decision.state.view.changes.filter((file) => file.turnId === turnId)
  const files = mergeChanges([...known, ...changes])
  decision.emit({ type: 'changes.changed', about: turnId, files })
}

export function emitOutput(decision: Decision, item: ItemOf<'tool'>, add: string): void {
  decision.emit({
    type: 'item.delta',
    ...decision.ofTurn(item),
    itemId: item.id,
    field: 'output',
    offset: item.outputStart + item.output.length,
    add,
  })
}
