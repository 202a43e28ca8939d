/** Tool cards (turns.md 8): proposed, started, ended, and what they changed. */
import type { ItemOf } from '../../preload/contract/items.ts'
import type { Report } from '../agent/reports.ts'
import type { Decision } from './decision.ts'
import { closeOpenItem, noteContent } from './streamed-items.ts'

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
    state: 'proposed',
    startedAt: null,
    durationMs: null,
    waitedMs: 0,
    summary: '',
    output: '',
    outputStart: 0,
    view: null,
    changeIds: [],
    progress: null,
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
  if (!decision.state.view.turns.some((turn) => turn.id === turnId)) return
  const files = new Map(
    decision.state.view.changes.filter((file) => file.turnId === turnId).map((file) => [file.path, file]),
  )
  for (const change of changes) {
    const before = files.get(change.path)
    if (!before) files.set(change.path, change)
    else if (before.before === change.after) files.delete(change.path)
    else {
      const kind = before.before === null ? 'created' : change.after === null ? 'deleted' : 'edited'
      const sum = (one: number | null, other: number | null) => (one === null || other === null ? null : one + other)
      files.set(change.path, {
        ...before,
        kind,
        after: change.after,
        added: sum(before.added, change.added),
        removed: sum(before.removed, change.removed),
        ...(change.uncertain ? { uncertain: true } : {}),
        // Who looks at the file is told of the agent's part in it, not of the person's correction.
        by: before.by === 'person' ? change.by : before.by,
      })
    }
  }
  decision.emit({ type: 'changes.changed', about: turnId, files: [...files.values()] })
}

export function emitOutput(decision: Decision, item: ItemOf<'tool'>, add: string): void {
  decision.emit({
    type: 'item.delta',
    ...(item.turnId === null ? {} : { turnId: item.turnId }),
    itemId: item.id,
    field: 'output',
    offset: item.outputStart + item.output.length,
    add,
  })
}
