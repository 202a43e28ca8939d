/** Changes of the session's record that are no turn: name, pin, archive, deletion, read mark, settings (sessions.md 2, 3, 7). */
import { LatheError } from '../../preload/contract/errors.ts'
import { extraFoldersMax, titleCharsMax } from '../../preload/contract/limits.ts'
import type { SessionHeader } from '../../preload/contract/session.ts'
import { rejudge } from './approvals.ts'
import { discardCompaction } from './compaction.ts'
import type { Decision } from './decision.ts'
import type { Command } from './inputs.ts'
import { pauseQueue } from './queue.ts'
import { checkMutable } from './requests.ts'
import { fallbackTitle, provisionalTitle } from './titles.ts'

type Of<T extends Command['type']> = Extract<Command, { type: T }>

/** A person's name always wins (T-173); an empty one gives the automatic title back (S-52). */
export function rename(decision: Decision, command: Of<'rename'>): SessionHeader {
  checkMutable(decision.state)
  checkRev(decision, command.ifRev)
  const title = command.title.replace(/\s+/g, ' ').trim().slice(0, titleCharsMax)
  if (title !== '') decision.changeHeader({ title, titleSource: 'manual' })
  else {
    const first = decision.state.view.items.find((item) => item.kind === 'user' && item.source !== 'command')
    const text = first?.kind === 'user' ? first.text : ''
    const fallback = fallbackTitle(text)
    decision.changeHeader(
      fallback
        ? { title: fallback, titleSource: 'fallback' }
        : { titleSource: 'default', title: 'New session', ...provisionalTitle(text, []) },
    )
  }
  return changed(decision)
}

/** A made title is written only where nothing was named or changed since its work began (T-173). */
export function setMadeTitle(decision: Decision, command: Of<'title'>): { ok: true } {
  checkMutable(decision.state)
  const { titleSource, title } = decision.header
  if (titleSource === 'manual' || titleSource === 'generated') return { ok: true }
  decision.changeHeader({ title: command.title, titleSource: command.source })
  decision.emit({
    type: 'title.status',
    status: command.title === title ? 'kept' : 'done',
    preview: command.title.slice(0, 120),
  })
  decision.effect({ do: 'entry' })
  return { ok: true }
}

export function pin(decision: Decision, pinned: boolean): SessionHeader {
  checkMutable(decision.state)
  decision.changeHeader({ pinnedAt: pinned ? (decision.header.pinnedAt ?? decision.now) : null })
  return changed(decision)
}

export function archive(decision: Decision, archived: boolean): SessionHeader {
  checkMutable(decision.state)
  decision.changeHeader({ archivedAt: archived ? (decision.header.archivedAt ?? decision.now) : null })
  if (!archived) decision.effect({ do: 'next' })
  return changed(decision)
}

/** The turn was stopped and settled before (S-21). */
export function remove(decision: Decision): { ok: true } {
  if (decision.state.turn) throw new LatheError('turn.busy', 'The turn is still ending.')
  // What waits in the queue comes back with the session, and starts only by the person's wish.
  pauseQueue(decision, 'stop')
  discardCompaction(decision)
  decision.changeHeader({ deletedAt: decision.header.deletedAt ?? decision.now })
  decision.effect({ do: 'entry' })
  return { ok: true }
}

export function restore(decision: Decision): SessionHeader {
  decision.changeHeader({ deletedAt: null })
  return changed(decision)
}

/** "Mark as unread" holds until the session is opened again (S-49). */
export function markRead(decision: Decision, command: Of<'markRead'>): { ok: true } {
  checkMutable(decision.state)
  const { notableSeq, readSeq, lastSeq } = decision.header
  const isUnread = notableSeq > readSeq
  if (command.unread && !isUnread) {
    const notable = notableSeq === 0 ? lastSeq : notableSeq
    decision.changeHeader({ notableSeq: notable, readSeq: Math.max(0, notable - 1) })
  }
  if (!command.unread && isUnread) decision.changeHeader({ readSeq: Math.max(readSeq, Math.min(command.seq, lastSeq)) })
  decision.effect({ do: 'entry' })
  return { ok: true }
}

/** Model, effort and agent count from the next turn (S-8); the mode at once, also for open cards (S-9, Z-94). */
export function changeSettings(decision: Decision, command: Of<'settings'>): SessionHeader {
  checkMutable(decision.state)
  if (command.forApproval !== undefined && !decision.state.turn?.approvals.has(command.forApproval)) {
    throw new LatheError('approval.gone', 'This card is no longer open, so the mode stays as it is.')
  }
  const narrowedOrWidened = command.approvalMode !== undefined && command.approvalMode !== decision.header.approvalMode
  decision.changeHeader({
    ...(command.model === undefined ? {} : { model: command.model }),
    ...(command.effort === undefined ? {} : { effort: command.effort }),
    ...(command.agent === undefined ? {} : { agent: command.agent }),
    ...(command.approvalMode === undefined ? {} : { approvalMode: command.approvalMode }),
  })
  if (narrowedOrWidened) rejudge(decision)
  return changed(decision)
}

/** A folder of that path keeps its place; it counts from the next call of a tool on (F-104). */
export function putFolder(decision: Decision, { path, writable }: Of<'folder.put'>): SessionHeader {
  checkMutable(decision.state)
  const { extraFolders, workspace } = decision.header
  if (path === workspace) throw new LatheError('request.invalid', 'This is the folder the session works in already.')
  const isThere = extraFolders.some((folder) => folder.path === path)
  if (!isThere && extraFolders.length >= extraFoldersMax)
    throw new LatheError('request.invalid', `A session holds ${extraFoldersMax} added folders.`)
  decision.changeHeader({
    extraFolders: isThere
      ? extraFolders.map((folder) => (folder.path === path ? { path, writable } : folder))
      : [...extraFolders, { path, writable }],
  })
  return decision.header
}

export function removeFolder(decision: Decision, { path }: Of<'folder.remove'>): SessionHeader {
  checkMutable(decision.state)
  decision.changeHeader({ extraFolders: decision.header.extraFolders.filter((folder) => folder.path !== path) })
  return decision.header
}

function changed(decision: Decision): SessionHeader {
  decision.effect({ do: 'entry' })
  return decision.header
}

function checkRev(decision: Decision, ifRev: number | undefined): void {
  if (ifRev !== undefined && ifRev !== decision.header.rev) {
    throw new LatheError('session.conflict', 'The session was changed elsewhere meanwhile.', {
      data: { header: decision.header },
    })
  }
}
