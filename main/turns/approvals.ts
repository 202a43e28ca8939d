/** Approvals (turns.md 14, security.md 5): a call is judged when it is ready and again in the step that starts it. */
import { LatheError } from '../../preload/contract/errors.ts'
import type { ErrorBody } from '../../preload/contract/errors.ts'
import type { ApprovalRequest, ItemOf, Rule } from '../../preload/contract/items.ts'
import type { Report } from '../agent/reports.ts'
import { boundaryRefusal, boundaryTarget, isBoundaryCode } from '../approvals/boundary.ts'
import { judge, type Verdict } from '../approvals/policy.ts'
import type { Decision } from './decision.ts'
import type { Command } from './inputs.ts'
import { toolStarts } from './tool-items.ts'
import { answerLimitMs, emitApprovals, personAnswered, personWaits } from './waiting.ts'
import { failTurn } from './failing.ts'
import { modeOf, type PendingCall } from './state.ts'

/** The verdict under the mode and rules as they are now, never a copy (Z-93); of a subagent, the top session's (Z-97). */
function judgeNow(decision: Decision, call: PendingCall): Verdict {
  const own = { approvalMode: decision.header.approvalMode, grants: decision.state.hidden.grants }
  const { approvalMode, grants } = decision.environment.policy?.() ?? own
  const { workspace } = decision.header
  // What a folder that is not trusted holds moves nobody to more than reading (Z-4).
  const isTrusted = decision.environment.isTrusted?.(workspace) ?? true
  return judge(call.plan.effects, {
    tool: call.tool,
    mode: isTrusted ? modeOf(decision.state, approvalMode) : 'read-only',
    rules: [...grants, ...decision.rules, ...decision.environment.rules],
    workspace,
  })
}

export function toolReady(decision: Decision, report: Extract<Report, { type: 'toolReady' }>): void {
  const item = decision.item(report.itemId, 'tool')
  if (!item || item.state !== 'proposed') return
  const call: PendingCall = {
    itemId: report.itemId,
    tool: report.tool,
    plan: report.plan,
    argsHash: report.argsHash,
    since: decision.now,
  }
  if (decision.turn.denied.has(report.argsHash)) {
    return refuse(decision, item, {
      code: 'approval.denied',
      message: 'This exact call was denied already in this turn. Do something else, or ask the person.',
    })
  }
  const verdict = judgeNow(decision, call)
  if (verdict.verdict === 'allow') return start(decision, item, 0, report.looksOnly)
  if (verdict.verdict === 'deny')
    return refuse(decision, item, { code: verdict.code, message: verdict.message, reason: verdict.reason })
  ask(decision, item, call, verdict)
}

function ask(
  decision: Decision,
  item: ItemOf<'tool'>,
  call: PendingCall,
  verdict: Extract<Verdict, { verdict: 'ask' }>,
): void {
  const { turn } = decision
  if (turn.attendance === 'deny') {
    return refuse(decision, item, {
      code: 'approval.unattended',
      message: 'Nobody can be asked here, and this needs consent. Go on without it and say what was left out.',
    })
  }
  if (turn.attendance === 'fail') {
    refuse(decision, item, { code: 'person.needed', message: 'An approval is needed and nobody can be asked.' })
    return failTurn(decision, {
      code: 'person.needed',
      message: `"${call.plan.preview.title}" needs an approval, and nobody can be asked here. ${verdict.reason}`,
      hint: 'Run it in a window, choose another --approve, or add a rule.',
    })
  }
  const answerMs = answerLimitMs(decision)
  if (answerMs === 0) return refuse(decision, item, nobodyAnswered)
  const approvalId = decision.newId()
  const request: ApprovalRequest = {
    tool: call.tool,
    ...call.plan.preview,
    folder: call.plan.preview.folder,
    reason: verdict.reason,
    rules: verdict.rules,
    ...(verdict.notStorable === undefined ? {} : { notStorable: verdict.notStorable }),
    argsHash: call.argsHash,
  }
  decision.changeTurn({ approvals: new Map(turn.approvals).set(approvalId, call) })
  personWaits(decision)
  decision.status()
  decision.patch(item, { state: 'waiting', approvalId })
  decision.put({ kind: 'approval', id: approvalId, toolItemId: item.id, state: 'open', request, contextual: false })
  decision.changeHeader({ notableSeq: decision.header.lastSeq })
  emitApprovals(decision)
  decision.effect({ do: 'entry' })
  decision.effect({ do: 'notify', kind: 'approval', itemId: approvalId })
  if (answerMs !== null) decision.effect({ do: 'expireApproval', approvalId, ms: answerMs })
}

const nobodyAnswered: ErrorBody = {
  code: 'approval.nobody_answered',
  message: 'This needs consent and nobody answered. Go on without it and say what was left out.',
}

/** Nobody answered in time: it is denied, and the turn goes on. A card answered meanwhile stays as it is. */
export function expireApproval(decision: Decision, approvalId: string): { ok: true } {
  const open = decision.state.turn?.approvals.get(approvalId)
  if (!open) return { ok: true }
  close(decision, approvalId, { state: 'nobody_answered', decidedBy: 'timeout' })
  const item = decision.item(open.itemId, 'tool')
  if (item) refuse(decision, item, nobodyAnswered, decision.now - open.since)
  return { ok: true }
}

export function answerApproval(decision: Decision, command: Extract<Command, { type: 'approval.answer' }>): void {
  const open = decision.state.turn?.approvals.get(command.approvalId)
  const card = decision.item(command.approvalId, 'approval')
  if (!open || !card || open.argsHash !== command.argsHash) throw gone(card)
  const storable = card.request.notStorable === undefined && card.request.rules.length > 0
  if ((command.decision === 'session' || command.decision === 'always') && !storable) {
    throw new LatheError('request.invalid', card.request.notStorable ?? 'Nothing can be remembered for this call.')
  }
  if (command.decision === 'deny' || command.decision === 'deny_stop') {
    const feedback = command.feedback?.trim()
    close(decision, command.approvalId, { state: 'denied', decidedBy: 'person', ...(feedback ? { feedback } : {}) })
    decision.changeTurn({ denied: new Set(decision.turn.denied).add(open.argsHash) })
    const item = decision.item(open.itemId, 'tool')
    if (item) {
      const message = feedback ? `The person denied this and said: ${feedback}` : 'The person denied this.'
      refuse(decision, item, { code: 'approval.denied', message }, decision.now - open.since)
    }
    return
  }
  const scope = command.decision === 'once' ? 'once' : command.decision === 'session' ? 'session' : command.scope
  if (scope !== 'once') remember(decision, card, scope)
  close(decision, command.approvalId, { state: 'allowed', decidedBy: 'person', scope })
  const item = decision.item(open.itemId, 'tool')
  if (item) start(decision, item, decision.now - open.since)
  if (scope !== 'once') rejudge(decision)
}

/** Stores the very rules the card showed (Z-87): session grants with the session, others for the workspace or everywhere. */
function remember(decision: Decision, card: ItemOf<'approval'>, scope: 'session' | 'workspace' | 'always'): void {
  const rules = card.request.rules.map((match): Rule => ({
    id: decision.newId(),
    effect: 'allow',
    match,
    scope,
    ...(scope === 'workspace' ? { workspace: decision.header.workspace } : {}),
    by: 'person',
    at: decision.now,
  }))
  if (scope === 'session') {
    if (decision.header.parent) decision.effect({ do: 'grant', rules })
    else addGrants(decision, rules)
  } else {
    decision.rules.push(...rules)
    decision.effect({ do: 'rules' })
  }
}

/** Session grants: the session's alone (Z-85). */
export function addGrants(decision: Decision, rules: readonly Rule[]): void {
  decision.changeHidden({ grants: [...decision.state.hidden.grants, ...rules] })
}

/** A wider mode or a stored rule closes the cards it now allows, in order; a deny closes others (Z-94). */
export function rejudge(decision: Decision): void {
  decision.effect({ do: 'rejudgeSubagents' })
  const turn = decision.state.turn
  if (!turn) return
  for (const [approvalId, call] of turn.approvals) {
    const verdict = judgeNow(decision, call)
    const item = decision.item(call.itemId, 'tool')
    if (!item) continue
    if (verdict.verdict === 'allow') {
      close(decision, approvalId, { state: 'allowed', decidedBy: verdict.by })
      start(decision, item, decision.now - call.since)
    } else if (verdict.verdict === 'deny') {
      close(decision, approvalId, { state: 'denied', decidedBy: 'rule' })
      refuse(
        decision,
        item,
        { code: verdict.code, message: verdict.message, reason: verdict.reason },
        decision.now - call.since,
      )
    }
  }
}

/** Closes every open card of the turn; their tools do not run (Z-95). */
export function withdrawApprovals(decision: Decision, state: 'cancelled' | 'interrupted'): void {
  const turn = decision.state.turn
  if (!turn || turn.approvals.size === 0) return
  for (const [approvalId, call] of turn.approvals) {
    close(decision, approvalId, { state })
    const item = decision.item(call.itemId, 'tool')
    if (!item) continue
    decision.patch(item, {
      state: 'cancelled',
      status: 'final',
      endedAt: decision.now,
      waitedMs: decision.now - call.since,
    })
    decision.effect({
      do: 'release',
      ticket: item.id,
      answer: {
        run: false,
        state: 'cancelled',
        error: { code: 'approval.gone', message: 'The turn ended before it was answered.' },
      },
    })
  }
}

function close(
  decision: Decision,
  approvalId: string,
  end: {
    state: ItemOf<'approval'>['state']
    decidedBy?: 'person' | 'rule' | 'mode' | 'timeout'
    scope?: ItemOf<'approval'>['scope']
    feedback?: string
  },
): void {
  const approvals = new Map(decision.turn.approvals)
  approvals.delete(approvalId)
  decision.changeTurn({ approvals })
  personAnswered(decision)
  decision.status()
  const card = decision.item(approvalId, 'approval')
  if (card)
    decision.patch(card, {
      state: end.state,
      status: 'final',
      endedAt: decision.now,
      decidedAt: decision.now,
      ...(end.decidedBy ? { decidedBy: end.decidedBy } : {}),
      ...(end.scope ? { scope: end.scope } : {}),
      ...(end.feedback ? { feedback: end.feedback } : {}),
    })
  emitApprovals(decision)
  decision.effect({ do: 'entry' })
  decision.effect({ do: 'withdrawNotification', itemId: approvalId })
}

/**
 * The tool's start is durable before its effect begins: the worker is released once this decision is (T-38). A call that
 * only looks has no effect, and looks while its start is being stored.
 */
function start(decision: Decision, item: ItemOf<'tool'>, waitedMs = 0, looksOnly = false): void {
  toolStarts(decision, item, waitedMs)
  decision.effect({ do: 'release', ticket: item.id, answer: { run: true }, ...(looksOnly ? { atOnce: true } : {}) })
}

function refuse(decision: Decision, item: ItemOf<'tool'>, given: ErrorBody, waitedMs = 0): void {
  const { message, escalated } = boundaryRefusal(
    given.message,
    isBoundaryCode(given.code) ? timesRefused(decision, item) : 1,
  )
  const error = { ...given, message }
  decision.patch(item, {
    ...(escalated ? { escalated } : {}),
    state: 'denied',
    code: error.code,
    summary: error.message,
    status: 'final',
    endedAt: decision.now,
    waitedMs,
  })
  if (escalated) decision.effect({ do: 'escalated', tool: item.name, code: error.code })
  decision.effect({ do: 'release', ticket: item.id, answer: { run: false, state: 'denied', error } })
}

/** How often this turn has run into the boundary with this tool and target, this time counted. */
function timesRefused(decision: Decision, item: ItemOf<'tool'>): number {
  const target = boundaryTarget(item.args)
  const before = decision.state.view.items.filter(
    (one) =>
      one.kind === 'tool' &&
      one.turnId === item.turnId &&
      one.name === item.name &&
      isBoundaryCode(one.code) &&
      boundaryTarget(one.args) === target,
  )
  return before.length + 1
}

function gone(card: ItemOf<'approval'> | undefined): LatheError {
  const how = card && card.state !== 'open' ? ` It ended as "${card.state.replaceAll('_', ' ')}".` : ''
  return new LatheError('approval.gone', `This card is no longer open.${how}`, { data: { state: card?.state ?? null } })
}
