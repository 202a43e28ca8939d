/**
 * The whole behaviour of a session as one pure function: state and input in; new state, events, effects and reply out.
 * A refusal throws a LatheError and leaves the state as it was.
 */
import { LatheError } from '../../preload/contract/errors.ts'
import type { SubmitReply } from '../../preload/contract/session-routes.ts'
import type { ReportAnswer } from '../agent/reports.ts'
import { admit, submit } from './admission.ts'
import { addGrants, answerApproval, expireApproval, rejudge } from './approvals.ts'
import { deliveredReply } from './automatic.ts'
import { markUndone, recordFound, reviewChange } from './changes.ts'
import { cancelCompaction, endCompaction, startCompaction } from './compaction.ts'
import { Decision } from './decision.ts'
import { execAnswered, execAsks, execChanged, execEnded, execStarted, execUnreaped } from './exec-sessions.ts'
import type { Command, Input } from './inputs.ts'
import { commandPrinted, endCommand, noteCommand, startCommand } from './own-commands.ts'
import { expireNotices } from './notices.ts'
import { endWasTold } from './pending-notices.ts'
import { answerQuestion, expireQuestion, touchQuestion } from './questions.ts'
import {
  addFollowUp,
  clearQueue,
  editFollowUp,
  moveFollowUp,
  nextFollowUp,
  pauseQueue,
  refuseFollowUp,
  removeFollowUp,
  resumeQueue,
} from './queue.ts'
import {
  archive,
  changeSettings,
  markRead,
  pin,
  putFolder,
  remove,
  removeFolder,
  rename,
  restore,
  setMadeTitle,
} from './record.ts'
import { continueRecovery, dismissRecovery } from './recovery.ts'
import { boundReply, checkMutable } from './requests.ts'
import { deleteRewound, restoreRewound, rewind } from './rewind.ts'
import { applyReport } from './running.ts'
import { answerAside } from './side-commands.ts'
import type { Environment, SessionState } from './state.ts'
import { addSteer, editSteer, sendSteerNow, steerFollowUp, withdrawSteer } from './steers.ts'
import { failTurn } from './failing.ts'
import { endStopped, stop } from './stop.ts'
import { subagentAsks } from './subagent-asks.ts'
import {
  recordSubagentEnd,
  spawnSubagent,
  startWaitingSubagents,
  stopSubagent,
  subagentChanged,
  waitedEnough,
} from './subagents.ts'
import { recordChanges } from './tool-items.ts'

export type Decided = { decision: Decision; reply: unknown }

export function decide(state: SessionState, input: Input, environment: Environment): Decided {
  const decision = new Decision(state, environment)
  if (input.kind === 'command') return { decision, reply: applyCommand(decision, input.command) }
  // A report of any other turn than the current one is dropped (T-5): an old worker can never touch a newer turn.
  if (state.turn?.id !== input.turnId) {
    if (input.report.type === 'toolEnded') recordChanges(decision, input.turnId, input.report.changes)
    return { decision, reply: { steers: [], ended: true } satisfies ReportAnswer }
  }
  return { decision, reply: applyReport(decision, input.report) }
}

function applyCommand(decision: Decision, command: Command): unknown {
  switch (command.type) {
    case 'earlier':
      return boundReply(decision.state, command.requestId, command.fingerprint)
    case 'delivered':
      return deliveredReply(decision.state, command.completionKeys)
    case 'submit':
      return submit(decision, command)
    case 'stop':
      return stop(decision, command)
    case 'steer.add':
      return { steerId: addSteer(decision, command).steerId }
    case 'steer.edit':
      return editSteer(decision, command.steerId, command)
    case 'steer.withdraw':
      return withdrawSteer(decision, command.steerId)
    case 'steer.sendNow':
      return sendSteerNow(decision, command.steerId)
    case 'followUp.add':
      checkMutable(decision.state)
      return addFollowUp(decision, command)
    case 'followUp.edit':
      checkMutable(decision.state)
      return editFollowUp(decision, command)
    case 'followUp.move':
      checkMutable(decision.state)
      moveFollowUp(decision, command.id, command.before)
      return { ok: true }
    case 'followUp.remove':
      checkMutable(decision.state)
      return removeFollowUp(decision, command.id)
    case 'followUp.clear':
      checkMutable(decision.state)
      return clearQueue(decision)
    case 'followUp.steerNow':
      checkMutable(decision.state)
      return steerFollowUp(decision, command.id, command.mentions)
    case 'followUp.start':
      return startFollowUp(decision, command)
    case 'queue.pause':
      checkMutable(decision.state)
      pauseQueue(decision, 'person')
      return { ok: true }
    case 'queue.resume':
      checkMutable(decision.state)
      resumeQueue(decision)
      return { ok: true }
    case 'queue.refused':
      checkMutable(decision.state)
      refuseFollowUp(decision, command.id, command.error)
      return { ok: true }
    case 'approval.answer':
      answerApproval(decision, command)
      if (command.decision === 'deny_stop')
        stop(decision, { turnId: decision.turn.id, reason: 'person', keepSteers: true })
      return { ok: true }
    case 'approval.expired':
      return expireApproval(decision, command.approvalId)
    case 'rules.changed':
      rejudge(decision)
      return { ok: true }
    case 'grants.add':
      addGrants(decision, command.rules)
      rejudge(decision)
      return { ok: true }
    case 'subagent.spawn':
      return spawnSubagent(decision, command)
    case 'subagent.changed':
      return subagentChanged(decision, command)
    case 'subagent.asks':
      return subagentAsks(decision, command)
    case 'subagent.ended':
      return endSubagent(decision, command)
    case 'subagent.stop':
      return stopSubagent(decision, command)
    case 'subagent.next':
      return startWaitingSubagents(decision)
    case 'subagent.waited':
      return waitedEnough(decision, command.turnId)
    case 'question.answer':
      return answerQuestion(decision, command)
    case 'question.expired':
      return expireQuestion(decision, command.questionId)
    case 'recovery.continue':
      return continueRecovery(decision, command.recoveryId, command.message)
    case 'recovery.dismiss':
      return dismissRecovery(decision, command.recoveryId)
    case 'hold.release':
      checkMutable(decision.state)
      decision.changeHeader({ automaticHeld: null })
      decision.effect({ do: 'entry' })
      decision.effect({ do: 'next' })
      return { ok: true }
    case 'changes.record':
      return recordFound(decision, command)
    case 'changes.late':
      recordChanges(decision, command.turnId, command.changes)
      if (command.notice !== null) decision.notice('warning', command.notice)
      return { ok: true }
    case 'changes.review':
      return reviewChange(decision, command)
    case 'changes.undone':
      return markUndone(decision, command)
    case 'notices.expire':
      return expireNotices(decision)
    case 'question.touched':
      return touchQuestion(decision, command.questionId)
    case 'side.answered':
      return answerAside(decision, command)
    case 'compaction.start':
      return startCompaction(decision, command)
    case 'compaction.end':
      return endCompaction(decision, command)
    case 'compaction.cancel':
      return cancelCompaction(decision, command)
    case 'rewind':
      return rewind(decision, command)
    case 'rewind.restore':
      return restoreRewound(decision, command)
    case 'rewind.delete':
      return deleteRewound(decision, command)
    case 'rename':
      return rename(decision, command)
    case 'title':
      return setMadeTitle(decision, command)
    case 'pin':
      return pin(decision, command.pinned)
    case 'archive':
      return archive(decision, command.archived)
    case 'delete':
      return remove(decision)
    case 'restore':
      return restore(decision)
    case 'markRead':
      return markRead(decision, command)
    case 'settings':
      return changeSettings(decision, command)
    case 'folder.put':
      return putFolder(decision, command)
    case 'folder.remove':
      return removeFolder(decision, command)
    case 'workspace.moved':
      decision.changeHeader({ workspace: command.to })
      decision.effect({ do: 'entry' })
      return { ok: true }
    case 'command.started':
      return startCommand(decision, command)
    case 'command.ended':
      return endCommand(decision, command)
    case 'command.output':
      return commandPrinted(decision, command)
    case 'command.noted':
      return noteCommand(decision, command)
    case 'exec.started':
      return execStarted(decision, command)
    case 'exec.changed':
      return execChanged(decision, command)
    case 'exec.asks':
      return execAsks(decision, command)
    case 'exec.answered':
      return execAnswered(decision, command)
    case 'exec.ended':
      return execEnded(decision, command)
    case 'exec.told':
      endWasTold(decision, command.id)
      return { ok: true }
    case 'exec.unreaped':
      return execUnreaped(decision, command)
  }
}

/** The queue's first message, or one the person named, becomes a turn (T-129). */
function startFollowUp(decision: Decision, command: Extract<Command, { type: 'followUp.start' }>): SubmitReply | null {
  const bound = boundReply(decision.state, command.message.requestId, command.message.fingerprint)
  if (bound) return bound
  checkMutable(decision.state)
  if (decision.state.turn) {
    if (command.byPerson)
      throw new LatheError('turn.busy', 'A turn is running in this session.', {
        data: { turnId: decision.state.turn.id },
      })
    return null
  }
  const followUp = decision.header.queue.followUps.find((one) => one.id === command.id)
  if (!followUp) {
    if (command.byPerson) throw new LatheError('follow_up.gone', 'This message has started or was removed already.')
    return null
  }
  // Between the look at the queue and this step a Stop may have paused it; then nothing starts by itself (K-25).
  if (!command.byPerson && nextFollowUp(decision)?.id !== followUp.id) return null
  return admit(decision, command.message, followUp)
}

/** A turn that was stopped ends once none of its subagents can act any more; where a person was needed, it fails too (Z-98). */
function endSubagent(decision: Decision, command: Extract<Command, { type: 'subagent.ended' }>): { ok: true } {
  const card = recordSubagentEnd(decision, command)
  if (!card || decision.state.turn?.id !== card.turnId) return { ok: true }
  if (command.end.needed) failTurn(decision, command.end.needed)
  if (decision.turn.phase === 'stopping') endStopped(decision, 'subagentEnded')
  return { ok: true }
}
