/** Sessions that were deleted and can still come back (S-21). */
import { RotateCcw, Trash2 } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { ErrorBody } from '../../preload/contract/errors.ts'
import { deletedKeptDays } from '../../preload/contract/limits.ts'
import type { Entry } from '../../preload/contract/session.ts'
import { client, failure } from '../state/link.ts'
import { showDialog } from '../state/window-store.ts'
import { shownText } from '../transcript/shown-text.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { purgeSession, restoreSession } from './session-actions.ts'

type Deleted = { entry: Entry; deletedAt: number }

function read(): Promise<Deleted[] | ErrorBody> {
  return client().sessions.deleted().catch(failure)
}

export function DeletedDialog() {
  const [deleted, setDeleted] = useState<Deleted[] | ErrorBody | null>(null)

  const again = () => void read().then(setDeleted)
  useEffect(() => {
    let shown = true
    void read().then((found) => shown && setDeleted(found))
    return () => void (shown = false)
  }, [])

  return (
    <Dialog
      open
      onOpenChange={() => showDialog(null)}
      title="Recently deleted"
      description={`A deleted session can be restored for ${deletedKeptDays} days.`}
      width={560}
    >
      {deleted === null ? (
        <Skeleton label="Loading deleted sessions" lines={[0.7, 0.5, 0.6]} />
      ) : !Array.isArray(deleted) ? (
        <ErrorState what="They could not be loaded" message={deleted.message} code={deleted.code} onRetry={again} />
      ) : deleted.length === 0 ? (
        <EmptyState title="Nothing was deleted" detail="What you delete stands here for a while." />
      ) : (
        <ul aria-label="Recently deleted sessions" className="flex flex-col">
          {deleted.map(({ entry, deletedAt }) => (
            <li key={entry.id} className="flex min-h-40 items-center gap-8 border-b border-line py-4 last:border-0">
              <span className="min-w-0 grow">
                <bdi className="block truncate text-13 text-ink">{shownText(entry.title)}</bdi>
                <span className="block truncate text-11 text-faint">
                  deleted <RelativeTime at={deletedAt} /> · {shownText(entry.workspace)}
                </span>
              </span>
              <Button
                size="small"
                onClick={() => {
                  showDialog(null)
                  void restoreSession(entry.id)
                }}
              >
                <RotateCcw size={13} strokeWidth={1.75} aria-hidden /> Restore
              </Button>
              <Button size="small" variant="ghost" onClick={() => void purgeSession(entry.id, entry.title).then(again)}>
                <Trash2 size={13} strokeWidth={1.75} aria-hidden /> Delete permanently
              </Button>
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  )
}
