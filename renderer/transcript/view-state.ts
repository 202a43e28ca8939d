/** What a person opened and where they scrolled to, for each session: kept while panes come and go, and over a reload (S-71). */
import { createStore, type StoreApi } from 'zustand/vanilla'

export type Anchor = {
  rowId: string
  /** An item of that row, or the nearest before it: where the session opens again. */
  itemId: string | null
  /** Pixels from the top of the viewport to the top of that row. */
  offset: number
}

export type TranscriptView = {
  /** Groups and attempts by row id: how many of their items are shown. */
  opened: ReadonlyMap<string, number>
  /** Rows whose fold differs from its default, by row id. */
  folds: ReadonlyMap<string, boolean>
  /** Null while the end is followed. */
  anchor: Anchor | null
}

const stores = new Map<string, StoreApi<TranscriptView>>()
const sessionsMax = 50

export function transcriptView(sessionId: string): StoreApi<TranscriptView> {
  let store = stores.get(sessionId)
  if (!store) {
    store = createStore<TranscriptView>()(() => ({
      opened: new Map(),
      folds: new Map(),
      anchor: storedAnchor(sessionId),
    }))
    stores.set(sessionId, store)
    if (stores.size > sessionsMax) stores.delete(stores.keys().next().value!)
  }
  return store
}

export function setOpened(sessionId: string, rowId: string, count: number): void {
  transcriptView(sessionId).setState(({ opened }) => {
    const next = new Map(opened)
    if (count > 0) next.set(rowId, count)
    else next.delete(rowId)
    return { opened: next }
  })
}

export function setFold(sessionId: string, rowId: string, open: boolean): void {
  transcriptView(sessionId).setState(({ folds }) => ({ folds: new Map(folds).set(rowId, open) }))
}

/** Remembers where the reader is; the page's own storage holds only this place, for its reload. */
export function setAnchor(sessionId: string, anchor: Anchor | null): void {
  const store = transcriptView(sessionId)
  if (store.getState().anchor === anchor) return
  store.setState({ anchor })
  try {
    if (anchor) sessionStorage.setItem(anchorKey(sessionId), JSON.stringify(anchor))
    else sessionStorage.removeItem(anchorKey(sessionId))
  } catch {
    // Storage that is full or refused costs the place after a reload, nothing else.
  }
}

const anchorKey = (sessionId: string) => `transcript.anchor.${sessionId}`

function storedAnchor(sessionId: string): Anchor | null {
  try {
    const parsed: unknown = JSON.parse(sessionStorage.getItem(anchorKey(sessionId)) ?? 'null')
    if (typeof parsed !== 'object' || parsed === null || !('rowId' in parsed) || !('offset' in parsed)) return null
    const { rowId, offset } = parsed
    const itemId = 'itemId' in parsed && typeof parsed.itemId === 'string' ? parsed.itemId : null
    return typeof rowId === 'string' && typeof offset === 'number' ? { rowId, itemId, offset } : null
  } catch {
    return null
  }
}
