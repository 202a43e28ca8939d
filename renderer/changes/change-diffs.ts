/** Diffs of changes, asked for when they are to be seen, a few at a time, and kept while their contents stay the same. */
import { useEffect, useSyncExternalStore } from 'react'
import type { ErrorBody } from '../../preload/contract/errors.ts'
import type { ChangeDiff } from '../../preload/contract/change-routes.ts'
import type { ChangedFile } from '../../preload/contract/session.ts'
import { client, failure } from '../state/link.ts'

export type LoadedDiff =
  | { state: 'loading' }
  | { state: 'failed'; error: ErrorBody }
  | { state: 'ready'; diff: ChangeDiff }

const atOnceMax = 4
const keptMax = 500

/** Replaced with every change of it, so that what is drawn from it notices. */
let known: ReadonlyMap<string, LoadedDiff> = new Map()
const waiting: { key: string; sessionId: string; changeId: string; compared: boolean }[] = []
const listeners = new Set<() => void>()
let running = 0

/** A change's content by hash: the same change with another after is asked for again. `compared`: with the file as it is now. */
const keyOf = (sessionId: string, { id, before, after }: ChangedFile, compared: boolean) =>
  `${sessionId} ${id} ${before} ${after}${compared ? ' now' : ''}`

function put(key: string, loaded: LoadedDiff): void {
  const next = new Map(known)
  next.delete(key)
  next.set(key, loaded)
  if (next.size > keptMax) next.delete(next.keys().next().value!)
  known = next
  for (const listener of listeners) listener()
}

function pump(): void {
  while (running < atOnceMax) {
    const next = waiting.shift()
    if (!next) return
    running += 1
    const { sessionId, changeId } = next
    const { changes } = client()
    const asked = next.compared ? changes.compare({ sessionId, changeId }) : changes.diff({ sessionId, changeId })
    asked
      .then(
        (diff) => put(next.key, { state: 'ready', diff }),
        (thrown: unknown) => put(next.key, { state: 'failed', error: failure(thrown) }),
      )
      .finally(() => {
        running -= 1
        pump()
      })
      .catch(() => {})
  }
}

export function loadDiff(sessionId: string, change: ChangedFile, { again = false, compared = false } = {}): void {
  const key = keyOf(sessionId, change, compared)
  if (known.has(key) && !again) return
  // What is shown stays until the new answer is there.
  if (known.get(key)?.state !== 'ready') put(key, { state: 'loading' })
  waiting.push({ key, sessionId, changeId: change.id, compared })
  pump()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export type Diffs = ReadonlyMap<string, LoadedDiff>

export function diffIn(diffs: Diffs, sessionId: string, change: ChangedFile, compared = false): LoadedDiff | undefined {
  return diffs.get(keyOf(sessionId, change, compared))
}

/** Loads what is `wanted`; draws again as they come. */
export function useDiffs(sessionId: string, wanted: readonly ChangedFile[]): Diffs {
  useEffect(() => {
    for (const change of wanted) loadDiff(sessionId, change)
  }, [sessionId, wanted])
  return useSyncExternalStore(subscribe, () => known)
}
