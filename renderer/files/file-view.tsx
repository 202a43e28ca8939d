/** One file: text to edit and save, larger text to read from its beginning, pictures; anything else says what it is. */
import { lazy, Suspense, useState } from 'react'
import { shownPictureBytesMax } from '../../preload/contract/limits.ts'
import type { FileBody } from '../../preload/contract/file-routes.ts'
import { client } from '../state/link.ts'
import { useAnswer } from '../state/use-answer.ts'
import type { ShownFile } from '../state/window-store.ts'
import { useWorkbench } from '../state/workbench-store.ts'
import { bytesText } from '../transcript/amounts.ts'
import { rasterImage } from '../transcript/attachment-chips.tsx'
import { shownText } from '../transcript/shown-text.ts'
import { classNames, transparencySquares } from '../ui/class-names.ts'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { useBlobUrl } from '../ui/use-blob-url.ts'
import type { Reading } from './documents.ts'
import { DocumentView } from './document-view.tsx'
import { FileHeader } from './file-header.tsx'
import { TextView } from './text-view.tsx'

const EditorPane = lazy(() => import('./editor-pane.tsx'))

export function FileView({ file }: { file: ShownFile }) {
  const { workspace, path } = file
  // Read again when it changes on disk; the shown text stays until the new one is there.
  const rev = useWorkbench(({ filesChanged }) => {
    const changed = filesChanged.get(workspace)
    return changed && (changed.paths === 'rescan' || changed.paths.includes(path)) ? changed.rev : 0
  })
  const { answer, error, again } = useAnswer<Reading>(
    `${workspace}\n${path}\n${rev}`,
    async (signal) => {
      const askedAt = performance.now()
      return { body: await client().files.read({ workspace, path }, { signal }), askedAt }
    },
    { keepsLast: true },
  )
  const reading = answer?.body.path === path ? answer : null
  /** The last reading that could be edited: the editor stays when the file is gone meanwhile. */
  const [edited, setEdited] = useState<Reading | null>(null)
  if (reading && reading !== edited && isEditable(reading.body)) setEdited(reading)
  const gone = error?.code === 'file.not_found' && edited?.body.path === path
  const body = reading?.body ?? (gone ? edited.body : null)

  if (edited && body && (gone || isEditable(body)))
    return (
      <Suspense fallback={<TextView file={file} bytes={body.bytes} text={body.text ?? ''} />}>
        <EditorPane key={`${workspace}\n${path}`} file={file} reading={edited} gone={gone} />
      </Suspense>
    )
  if (body?.text != null && body.text !== '')
    return <TextView file={file} bytes={body.bytes} text={body.text} foot={footOf(body)} />
  if (reading && documentTypes.has(reading.body.mediaType ?? ''))
    return <DocumentView key={`${workspace}\n${path}\n${reading.askedAt}`} file={file} body={reading.body} />
  return (
    <section aria-label={shownText(path)} className="flex min-h-0 grow flex-col">
      <FileHeader path={path} bytes={body?.bytes ?? null} />
      {error ? (
        <ErrorState
          what="Could not read the file"
          message={error.message}
          hint={error.hint}
          code={error.code}
          onRetry={again}
        />
      ) : body === null ? (
        <Skeleton label="Reading the file" lines={[0.5, 0.8, 0.65, 0.9, 0.4]} />
      ) : body.text === '' ? (
        <EmptyState title="The file is empty" />
      ) : rasterImage.test(body.mediaType ?? '') && body.bytes <= shownPictureBytesMax ? (
        <FilePicture workspace={workspace} path={path} version={reading?.askedAt ?? 0} />
      ) : (
        <EmptyState
          title={body.binary ? `A binary file of ${bytesText(body.bytes)}` : 'This file cannot be shown as text'}
          detail={body.mediaType ?? undefined}
        />
      )}
    </section>
  )
}

/** What may be a document by its content; only reading it tells (F-403). */
const documentTypes = new Set(['application/pdf', 'application/zip'])

function footOf({ readOnly, truncated, bytes }: FileBody): string | undefined {
  if (readOnly === null) return undefined
  return truncated ? `Only the beginning is shown: the file has ${bytesText(bytes)}.` : `Read only. ${readOnly}`
}

function isEditable({ text, readOnly, truncated }: FileBody): boolean {
  return text !== null && readOnly === null && !truncated
}

function FilePicture({ workspace, path, version }: { workspace: string; path: string; version: number }) {
  const url = useBlobUrl(`${workspace} ${path} ${version}`, (signal) =>
    client().files.picture({ workspace, path }, { signal }),
  )
  if (url === null) return <Skeleton label="Reading the picture" lines={[0.6]} />
  if (url === 'missing') return <EmptyState title="The picture cannot be shown" />
  return (
    <div className={classNames('grid min-h-0 grow place-items-center overflow-auto p-16', transparencySquares)}>
      <img src={url} alt={shownText(path)} className="max-h-full max-w-full object-contain" />
    </div>
  )
}
