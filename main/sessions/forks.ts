/** Forking (S-73 to S-78): a session as it was at one of its entries becomes another one, in one transaction. */
import { LatheError } from '../../preload/contract/errors.ts'
import { newId } from '../../preload/contract/ids.ts'
import { titleCharsMax } from '../../preload/contract/limits.ts'
import type { Entry, SessionHeader } from '../../preload/contract/session.ts'
import { copiedId } from '../storage/copied-item.ts'
import type { Storage } from '../storage/storage.ts'
import { Decision } from '../turns/decision.ts'
import { checkRights, type Rights } from '../turns/requests.ts'
import { newSession } from '../turns/state.ts'
import { entryOf } from './entry.ts'
import type { Sessions } from './sessions.ts'
import { writeOf } from './write.ts'

export type ForkPorts = {
  sessions: Pick<Sessions, 'actor' | 'open'>
  storage: Pick<Storage, 'forkPoint' | 'commit'>
  entryChanged(entry: Entry): void
  environment(): Decision['environment']
}

export type ForkWish = {
  /** The last entry of the copy, or with `side: 'before'` the first that is left out; by default the newest settled answer. */
  at?: string | undefined
  side?: 'before' | 'after' | undefined
  title?: string | undefined
}

export class Forks {
  private readonly ports: ForkPorts

  constructor(ports: ForkPorts) {
    this.ports = ports
  }

  /** The new session. Throws `fork.bad_point`, `fork.not_settled`, `session.deleted`. Touches no file (S-78). */
  async fork(sessionId: string, { at, side = 'after', title }: ForkWish, rights?: Rights): Promise<SessionHeader> {
    const { sessions, storage } = this.ports
    const actor = await sessions.actor(sessionId)
    const point = await actor.using(async () => {
      // What is decided and not yet saved belongs to the copy too.
      await actor.idle()
      return actor.stored ? storage.forkPoint(sessionId, at ?? null, side) : null
    })
    if (!point) throw new LatheError('fork.bad_point', 'There is nothing to fork there.')
    if (point.live)
      throw new LatheError('fork.not_settled', 'This entry is still being written.', {
        hint: 'Fork it once it has ended.',
      })
    const { header: source } = await sessions.open(sessionId)
    const environment = this.ports.environment()
    const { id, workspace, model, effort, agent, approvalMode, extraFolders, muted } = source
    const made = newSession({
      id: newId(),
      journalId: newId(),
      workspace,
      model,
      effort,
      agent,
      approvalMode,
      now: environment.now,
    })
    const idEnd = newId().slice(24)
    const lastTurnId = point.lastTurn && copiedId(point.lastTurn.id, idEnd)
    const named = title?.replaceAll(/\s+/g, ' ').trim().slice(0, titleCharsMax)
    const header: SessionHeader = {
      ...made.view.header,
      extraFolders,
      muted,
      title: named || `${source.title.slice(0, titleCharsMax - 7)} (fork)`,
      titleSource: named ? 'manual' : 'generated',
      lastTurnId,
      lastOutcome: point.lastTurn ? (point.lastTurn.outcome ?? 'interrupted') : null,
      forkOf: { sessionId: id, itemId: point.itemId },
      plan: point.plan,
      itemCount: point.items,
    }
    const copied = { ...made, lastPos: point.lastPos, view: { ...made.view, header, items: point.slice } }
    const decision = new Decision(copied, environment)
    decision.put({
      kind: 'fork',
      id: newId(),
      turnId: null,
      stepId: null,
      source: 'person',
      from: { sessionId: id, itemId: point.itemId, title: source.title },
      status: 'final',
      endedAt: environment.now,
      contextual: false,
    })
    checkRights(rights)
    await storage.commit({
      ...writeOf(decision.state, [decision]),
      copy: {
        from: id,
        itemId: point.pathOf,
        pos: point.pos,
        at: environment.now,
        idEnd,
      },
    })
    this.ports.entryChanged(entryOf(decision.state.view))
    return decision.header
  }
}
