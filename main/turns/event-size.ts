/** No event is larger than 256 KiB (T-55): items stand in it with the beginning and end of what is long, whole in their rows. */
import { LatheError } from '../../preload/contract/errors.ts'
import type { StoredEvent } from '../../preload/contract/events.ts'
import type { Item } from '../../preload/contract/items.ts'
import { eventBytesMax } from '../../preload/contract/limits.ts'
import { clipItem } from '../storage/clip.ts'

/** `event` as it is journaled: itself where it is small enough. Throws where it cannot be made so. */
export function bounded(event: StoredEvent): StoredEvent {
  if (event.type !== 'item.put' && event.type !== 'item.patch' && event.type !== 'turn.settled') return event
  if (sizeOf(event) <= eventBytesMax) return event
  const small =
    event.type === 'item.put'
      ? { ...event, item: clipItem(event.item) }
      : event.type === 'turn.settled'
        ? withFewerItems(event)
        : event
  if (sizeOf(small) > eventBytesMax)
    throw new LatheError('app.internal', `An event of type ${event.type} is larger than 256 KiB.`)
  return small
}

/** The newest that fit; the others are counted, and readers have them from events of their own. */
function withFewerItems(event: Extract<StoredEvent, { type: 'turn.settled' }>): StoredEvent {
  let left = eventBytesMax - sizeOf({ ...event, items: [] })
  const items: Item[] = []
  for (const item of event.items.toReversed()) {
    left -= sizeOf(item) + 1
    if (left < 0) break
    items.unshift(item)
  }
  return { ...event, items, itemsOmitted: event.itemsOmitted + event.items.length - items.length }
}

/** Bytes of its JSON. */
function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}
