/** What a person can do from an entry of the transcript (S-68): say it differently, go on elsewhere, take it back. */
import { attempt } from '../app/attempt.ts'
import { focusRegion } from '../app/regions.ts'
import { composerOf } from '../composer/composer-store.ts'
import type { ItemOf } from '../../preload/contract/items.ts'
import { joinMessages } from '../../preload/contract/mentions.ts'
import { showUndo } from '../changes/show-undo.ts'
import type { Message } from '../state/session-controller.ts'
import { shownView } from '../state/session-state.ts'
import { openSession } from '../state/session-store.ts'
import { type GoBack, showDialog } from '../state/window-store.ts'

/** The message goes into the composer; sent, it takes the place of what came after it (S-79). A running turn is stopped first. */
export async function editMessage(sessionId: string, item: ItemOf<'user'>): Promise<void> {
  const { controller, store } = openSession(sessionId)
  if (store.getState().view?.header.currentTurnId != null) {
    const stopped = await attempt('Could not stop the turn', () => controller.stop())
    if (!stopped) return
    if (stopped.stopped && stopped.withdrawn.length > 0) composerOf(sessionId).restore(joinMessages(stopped.withdrawn))
  }
  const whole =
    item.omitted === undefined ? item : await attempt('Could not load the message', () => controller.loadItem(item.id))
  if (whole?.kind !== 'user') return
  composerOf(sessionId).beginEdit({ kind: 'message', id: whole.id, turnId: whole.turnId }, whole)
  focusRegion('composer')
}

/**
 * Sets a message and all after it aside; the mark that stays offers it back (S-80). Where its turns changed files the
 * person is asked about them first. True once done, false while it is asked.
 */
export async function goBack(
  sessionId: string,
  item: Pick<ItemOf<'user'>, 'id' | 'turnId'>,
  purpose: GoBack['purpose'],
  message: Message,
): Promise<boolean> {
  const { store, controller } = openSession(sessionId)
  const view = shownView(store.getState())
  const from = view?.turns.findIndex(({ id }) => id === item.turnId) ?? -1
  const opening = view?.turns[from]?.userItemId === item.id
  const aside = new Set(view?.turns.slice(from).map(({ id }) => id))
  if (opening && view?.changes.some((file) => aside.has(file.turnId) && !file.undone)) {
    showDialog({ kind: 'goBack', sessionId, itemId: item.id, turnId: item.turnId!, purpose, message })
    return false
  }
  await controller.rewind(item.id, purpose === 'edit' ? { edited: message } : {})
  return true
}

export async function deleteFromHere(sessionId: string, item: ItemOf<'user'>): Promise<void> {
  await attempt('Could not delete from here', () => goBack(sessionId, item, 'delete', item))
}

/** The newest turn is taken back, its files too, and its words go into the composer (S-83). False where there is none. */
export async function undoLastTurn(sessionId: string): Promise<boolean> {
  const { store, controller } = openSession(sessionId)
  const last = store.getState().view?.turns.at(-1)
  if (!last) return false
  const item = await controller.loadItem(last.userItemId)
  if (item.kind !== 'user') return false
  if (await goBack(sessionId, item, 'undo', item)) composerOf(sessionId).restore(item)
  return true
}

/** Brings the last turn that was taken back forward again, its files after a look at them. False where there is none. */
export async function redoLastTurn(sessionId: string): Promise<boolean> {
  const { store } = openSession(sessionId)
  const mark = store.getState().view?.items.findLast((item) => item.visible && item.kind === 'rewind')
  if (mark?.kind !== 'rewind') return showUndo(sessionId, true)
  await bringBack(sessionId, mark)
  return true
}

/** What a mark set aside comes back, and the files that went with it after a look at them (F-1011). */
export async function bringBack(sessionId: string, mark: Pick<ItemOf<'rewind'>, 'id' | 'withFiles'>): Promise<void> {
  const { controller } = openSession(sessionId)
  const { turns, changes } = await controller.setAside(mark.id)
  await controller.restoreSetAside(mark.id)
  const first = turns.find(({ id }) => changes.some(({ turnId, undone }) => turnId === id && undone))
  if (mark.withFiles && first) showDialog({ kind: 'undo', sessionId, turnId: first.id, redo: true, andLater: true })
}
