import { ArrowUpRight } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { ErrorBody } from '../../preload/contract/errors.ts'
import type { ChangeDiff } from '../../preload/contract/change-routes.ts'
import { failure, link } from '../state/link.ts'
import { showInspector } from '../state/window-store.ts'
import { Button } from '../ui/button.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { Counts } from './counts.tsx'
import { Shown } from './shown.tsx'
import { SmallDiff } from './small-diff.tsx'
import { useSessionId } from './transcript-context.ts'

const keptMax = 100
/** Diffs of recorded changes do not change, so those asked for are kept. */
const kept = new Map<string, ChangeDiff>()

/** One recorded change on its tool's card (T-77). */
export function ChangedFileDiff({ changeId }: { changeId: string }) {
  const [asked, setAsked] = useState(0)
  return <AskedDiff key={asked} changeId={changeId} onRetry={() => setAsked(asked + 1)} />
}

function AskedDiff({ changeId, onRetry }: { changeId: string; onRetry: () => void }) {
  const sessionId = useSessionId()
  const [diff, setDiff] = useState<ChangeDiff | ErrorBody | null>(() => kept.get(changeId) ?? null)

  useEffect(() => {
    if (kept.has(changeId)) return
    const ended = new AbortController()
    link()
      .client.changes.diff({ sessionId, changeId }, { signal: ended.signal })
      .then(
        (found) => {
          kept.set(changeId, found)
          if (kept.size > keptMax) kept.delete(kept.keys().next().value!)
          setDiff(found)
        },
        (thrown: unknown) => ended.signal.aborted || setDiff(failure(thrown)),
      )
    return () => ended.abort()
  }, [sessionId, changeId])

  if (!diff) return <Skeleton label="Loading the diff" lines={[0.6, 0.8]} />
  if ('code' in diff) {
    return (
      <p className="flex items-center gap-8 px-12 py-8 text-12 text-muted">
        The diff could not be loaded. {diff.message}
        <Button size="small" variant="ghost" onClick={onRetry}>
          Try again
        </Button>
      </p>
    )
  }
  const words = { created: 'Created', edited: 'Edited', deleted: 'Deleted', renamed: 'Renamed' }[diff.kind]
  return (
    <section aria-label={`${words} ${diff.path}`}>
      <header className="flex h-28 items-center gap-8 border-b border-line pr-2 pl-12 text-12">
        <span className="text-faint">{words}</span>
        <Shown text={diff.path} className="min-w-0 truncate font-mono text-ink" />
        <Counts added={diff.added} removed={diff.removed} />
        <span className="grow" />
        {diff.changedSince && <span className="text-faint">changed since</span>}
        <IconButton icon={ArrowUpRight} label="Show in Changes" size="small" onClick={() => showInspector('changes')} />
      </header>
      {diff.patch ? (
        <SmallDiff patch={diff.patch} label={`Changes in ${diff.path}`} />
      ) : (
        <p className="px-12 py-8 text-12 text-muted">
          {diff.note ?? (diff.binary ? 'A binary file: there is nothing to compare in text.' : 'No text to compare.')}
        </p>
      )}
    </section>
  )
}
