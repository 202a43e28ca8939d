/** A PDF or Office document as the agent reads it: its text, a PDF's page by page (F-401, F-1303). */
import { ChevronLeft, ChevronRight } from 'lucide-react'
import { useState } from 'react'
import type { DocumentBody, FileBody } from '../../preload/contract/file-routes.ts'
import { client } from '../state/link.ts'
import { useAnswer } from '../state/use-answer.ts'
import type { ShownFile } from '../state/window-store.ts'
import { bytesText } from '../transcript/amounts.ts'
import { shownText } from '../transcript/shown-text.ts'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { FileHeader } from './file-header.tsx'
import { TextView } from './text-view.tsx'

/** Pages that are read at once (F-405). */
const pagesAtOnce = 20

export function DocumentView({ file, body }: { file: ShownFile; body: FileBody }) {
  const { workspace, path } = file
  const [fromPage, setFromPage] = useState(1)
  const { answer, error, busy, again } = useAnswer<{ document: DocumentBody | null }>(
    `${workspace}\n${path}\n${fromPage}`,
    async (signal) => ({ document: await client().files.document({ workspace, path, fromPage }, { signal }) }),
    { keepsLast: true },
  )
  const document = answer?.document
  if (document && (document.text !== '' || document.pages))
    return (
      <TextView
        file={file}
        bytes={body.bytes}
        text={document.text === '' ? 'There is no text on these pages: they are probably scanned.' : document.text}
        language="text"
        foot={
          <>
            <span className="grow">Its text, as the agent reads it, without the layout.</span>
            {document.pages && document.pages.count > pagesAtOnce && (
              <Pages pages={document.pages} busy={busy} onFrom={setFromPage} />
            )}
          </>
        }
      />
    )
  return (
    <section aria-label={shownText(path)} className="flex min-h-0 grow flex-col">
      <FileHeader path={path} bytes={body.bytes} />
      {error ? (
        <ErrorState
          what="Could not read the document"
          message={error.message}
          hint={error.hint}
          code={error.code}
          onRetry={again}
        />
      ) : document === undefined ? (
        <Skeleton label="Reading the document" lines={[0.5, 0.8, 0.65, 0.9, 0.4]} />
      ) : document ? (
        <EmptyState title="The document holds no text" />
      ) : (
        <EmptyState title={`A binary file of ${bytesText(body.bytes)}`} detail={body.mediaType ?? undefined} />
      )}
    </section>
  )
}

function Pages({
  pages: { first, last, count },
  busy,
  onFrom,
}: {
  pages: NonNullable<DocumentBody['pages']>
  busy: boolean
  onFrom: (page: number) => void
}) {
  return (
    <span className="figures flex shrink-0 items-center gap-2">
      <IconButton
        icon={ChevronLeft}
        label="Earlier pages"
        size="small"
        disabled={busy || first === 1}
        onClick={() => onFrom(Math.max(1, first - pagesAtOnce))}
      />
      Pages {first} to {last} of {count}
      <IconButton
        icon={ChevronRight}
        label="Later pages"
        size="small"
        disabled={busy || last >= count}
        onClick={() => onFrom(last + 1)}
      />
    </span>
  )
}
