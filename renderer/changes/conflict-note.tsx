import { X } from 'lucide-react'
import type { ErrorBody } from '../../preload/contract/errors.ts'
import { shownText } from '../transcript/shown-text.ts'
import { IconButton } from '../ui/icon-button.tsx'

/** Why something could not be put back, with both texts where it is about one place (F-908). */
export function ConflictNote({ error, onClose }: { error: ErrorBody; onClose: () => void }) {
  const { before, after } = error.data ?? {}
  return (
    <div role="alert" className="mb-4 rounded-6 bg-failed-soft px-8 py-6 text-12">
      <div className="flex items-start gap-6">
        <p className="min-w-0 grow text-ink">{[error.message, error.hint].filter(Boolean).join(' ')}</p>
        <IconButton icon={X} label="Close" size="small" onClick={onClose} />
      </div>
      {typeof before === 'string' && typeof after === 'string' && (
        <div className="mt-4 grid grid-cols-2 gap-8">
          <Side title="What it was" text={before} />
          <Side title="What this change made" text={after} />
        </div>
      )}
    </div>
  )
}

function Side({ title, text }: { title: string; text: string }) {
  return (
    <figure className="min-w-0">
      <figcaption className="text-11 text-muted">{title}</figcaption>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard */}
      <pre tabIndex={0} className="max-h-120 overflow-auto font-mono text-11">
        {shownText(text)}
      </pre>
    </figure>
  )
}
