/** Going back to an earlier message and forward again (S-79 to S-81): what a decision needs is looked up, then decided in one step. */
import { LatheError } from '../../preload/contract/errors.ts'
import { rewoundKeptDays, sliceItems, sliceItemsMax } from '../../preload/contract/limits.ts'
import type { ItemSlice } from '../../preload/contract/session.ts'
import type { Storage } from '../storage/storage.ts'
import type { Rights } from '../turns/requests.ts'
import type { RewindReply } from '../turns/rewind.ts'
import type { SessionActor } from './actor.ts'
import { fingerprintOf } from './message-checks.ts'
import type { Sessions } from './sessions.ts'
import type { Submission } from './turn-requests.ts'

export type RewindPorts = {
  sessions: Pick<Sessions, 'actor' | 'turns'>
  storage: Pick<Storage, 'pointOf' | 'item' | 'items' | 'setAside' | 'restoring' | 'rewoundBefore'>
  now(): number
}

const dayMs = 24 * 3_600_000
/** Looks at a session that changes meanwhile; a turn would have refused, so little can. */
const triesMax = 5

export class Rewinds {
  private readonly ports: RewindPorts

  constructor(ports: RewindPorts) {
    this.ports = ports
  }

  /**
   * Sets aside `itemId`, a message of the person's, and all after it; with `edited` that text is the next turn.
   * `withFiles`: the files of those turns were set back already, and the mark says so. Throws `turn.busy`,
   * `request.invalid` and what a submit throws.
   */
  async rewind(
    sessionId: string,
    itemId: string,
    edited: Omit<Submission, 'whenBusy'> | null,
    withFiles = false,
    rights?: Rights,
  ): Promise<NonNullable<RewindReply>> {
    const { sessions, storage } = this.ports
    const actor = await sessions.actor(sessionId)
    return actor.using(async () => {
      const fingerprint =
        edited &&
        fingerprintOf({
          action: 'edit',
          itemId,
          text: edited.text,
          attachments: edited.attachments.map(({ hash }) => hash),
          ...(edited.mentions?.length ? { mentions: edited.mentions } : {}),
        })
      const earlier = edited && (await sessions.turns.earlier(actor, edited.requestId, fingerprint!))
      if (earlier) return { markItemId: null, submitted: earlier }
      const message = edited && (await sessions.turns.checked(actor, edited, fingerprint!))
      return this.settled(actor, async (seq) => {
        const point = await storage.pointOf(sessionId, itemId)
        if (!point) throw new LatheError('request.invalid', 'That message is not in this session.')
        const ending = await storage.items(sessionId, { before: itemId, limit: sliceItems })
        return actor.command<RewindReply>({ type: 'rewind', seq, point, ending, message, withFiles }, rights)
      })
    })
  }

  /** Brings the entries of a mark back. Throws `turn.busy`, `request.invalid` where something was sent since. */
  async restore(sessionId: string, markItemId: string, rights?: Rights): Promise<void> {
    const actor = await this.ports.sessions.actor(sessionId)
    await actor.using(() =>
      this.settled(actor, async (seq) => {
        const back = await this.ports.storage.restoring(sessionId, markItemId)
        if (!back) throw new LatheError('request.invalid', 'There is nothing set aside there.')
        return (await actor.command<boolean>({ type: 'rewind.restore', seq, markItemId, back }, rights)) || null
      }),
    )
  }

  async delete(sessionId: string, markItemId: string, rights?: Rights): Promise<void> {
    const actor = await this.ports.sessions.actor(sessionId)
    await actor.using(async () => {
      const mark = await this.ports.storage.item(sessionId, markItemId)
      if (mark?.kind !== 'rewind' || !mark.visible)
        throw new LatheError('request.invalid', 'There is nothing set aside there.')
      await actor.command({ type: 'rewind.delete', mark }, rights)
    })
  }

  /** The entries of a mark, oldest first (S-81). */
  items(sessionId: string, markItemId: string, after: string | null): Promise<ItemSlice> {
    return this.ports.storage.setAside(sessionId, markItemId, after, sliceItemsMax)
  }

  /** What was set aside 30 days ago goes. */
  async expire(): Promise<void> {
    const { storage, now } = this.ports
    for (const { sessionId, markItemId } of await storage.rewoundBefore(now() - rewoundKeptDays * dayMs))
      await this.delete(sessionId, markItemId)
  }

  /** Decides what was looked up at one instant; a session that changed in between is looked at again. */
  private async settled<R>(actor: SessionActor, decide: (seq: number) => Promise<R | null>): Promise<R> {
    for (let tries = 0; tries < triesMax; tries++) {
      actor.checkMutable()
      await actor.idle()
      const decided = await decide(actor.published.header.lastSeq)
      if (decided !== null) return decided
    }
    throw new LatheError('session.conflict', 'The session keeps changing.', { hint: 'Try again.' })
  }
}
