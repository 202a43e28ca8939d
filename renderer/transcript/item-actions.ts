/** What a person can do from an entry of the transcript (S-68): say it differently, go on elsewhere, take it back. */
import { attempt } from '../app/attempt.ts'
import { focusRegion } from '../app/regions.ts'
import { composerOf } from '../composer/composer-store.ts'
import type { ItemOf } from '../../preload/contract/items.ts'
import { openSession } from '../state/session-store.ts'

/** The message goes into the composer; sent, it takes the place of what came after it (S-79). A running turn is stopped first. */
export async function editMessage(sessionId: string, item: ItemOf<'user'>): Promise<void> {
  const { controller, store } = openSession(sessionId)
  if (store.getState().view?.header.currentTurnId != null) {
    const stopped = await attempt('Could not stop the turn', () => controller.stop())
    if (!stopped) return
    if (stopped.stopped && stopped.withdrawn.length > 0)
      composerOf(sessionId).restore({
        text: stopped.withdrawn.map((steer) => steer.text).join('\n\n'),
        attachments: stopped.withdrawn.flatMap((steer) => steer.attachments),
      })
  }
  const whole =
    item.omitted === undefined ? item : await attempt('Could not load the message', () => controller.loadItem(item.id))
  if (whole?.kind !== 'user') return
  composerOf(sessionId).beginEdit({ kind: 'message', id: whole.id }, whole)
  focusRegion('composer')
}

/** Sets it and all after it aside; the mark that stays offers it back (S-80). */
export async function deleteFromHere(sessionId: string, itemId: string): Promise<void> {
  await attempt('Could not delete from here', () => openSession(sessionId).controller.rewind(itemId))
}
