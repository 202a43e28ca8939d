/**
 * What a model would be sent of an entry and no person sees in the transcript. In one's own sessions Lathe put it there;
 * in a file of somebody else's it could be anything, so it stays out (S-92): an entry says what it shows, or nothing.
 */
import type { Item } from '../../preload/contract/items.ts'

/** The entry as it is shown; the same object where nothing in it is hidden. */
export function withoutHidden(item: Item): Item {
  const shown = withoutPrompt(item)
  return shown.contextual && !shown.visible ? { ...shown, contextual: false } : shown
}

function withoutPrompt(item: Item): Item {
  if (item.kind === 'notice' && item.prompt !== undefined) {
    const { prompt: _, ...shown } = item
    return shown
  }
  if (item.kind !== 'user') return item
  const { prompt, mentions, ...rest } = item
  const isTold = mentions?.some(({ content }) => content !== '') ?? false
  if (!isTold && (prompt === undefined || prompt === item.text)) return item
  // The words stay a mention; what its host once found it to be was never on screen.
  return { ...rest, ...(mentions ? { mentions: mentions.map((mention) => ({ ...mention, content: '' })) } : {}) }
}
