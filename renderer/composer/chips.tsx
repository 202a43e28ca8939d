import { ClipboardPaste, MessageSquareText, TriangleAlert } from 'lucide-react'
import type { Comment } from '../../preload/contract/change-routes.ts'
import { bytesText } from '../transcript/amounts.ts'
import { attachmentIcons, attachmentKind } from '../transcript/attachment-chips.tsx'
import { Shown } from '../transcript/shown.tsx'
import { classNames } from '../ui/class-names.ts'
import { RemoveButton } from '../ui/remove-button.tsx'
import { Tooltip } from '../ui/tooltip.tsx'
import type { Chip } from './attachments.ts'
import { commentPlace } from './comments.ts'

/** Files going with the message: their progress, or why one cannot go. */
export function Chips({
  chips,
  onRemove,
  onInline,
}: {
  chips: Chip[]
  onRemove: (id: string) => void
  onInline: (id: string) => void
}) {
  if (chips.length === 0) return null
  return (
    <ul aria-label="Attachments" className="flex flex-wrap gap-6 px-12 pt-10">
      {chips.map((chip) => (
        <li key={chip.id}>
          <ChipView chip={chip} onRemove={() => onRemove(chip.id)} onInline={() => onInline(chip.id)} />
        </li>
      ))}
    </ul>
  )
}

/** Comments going with the message; a click shows the lines they are about. */
export function CommentChips({
  comments,
  onShow,
  onRemove,
}: {
  comments: Comment[]
  onShow: (comment: Comment) => void
  onRemove: (id: string) => void
}) {
  if (comments.length === 0) return null
  return (
    <ul aria-label="Comments" className="flex flex-wrap gap-6 px-12 pt-10">
      {comments.map((comment) => {
        const place = commentPlace(comment)
        const name = place.slice(place.lastIndexOf('/') + 1)
        return (
          <li key={comment.id}>
            <span className="flex h-28 max-w-320 items-center gap-6 overflow-hidden rounded-6 border border-line-strong bg-raised pl-8 text-12">
              <MessageSquareText size={13} strokeWidth={1.75} aria-hidden className="shrink-0 text-note" />
              <Tooltip label={comment.text} side="top">
                <button
                  type="button"
                  aria-label={`Comment on ${place}: ${comment.text}`}
                  onClick={() => onShow(comment)}
                  className="flex min-w-0 items-baseline gap-6 rounded-4"
                >
                  <Shown text={name} className="shrink-0" />
                  <Shown text={comment.text} className="min-w-0 truncate text-faint" />
                </button>
              </Tooltip>
              <RemoveButton label={`Remove the comment on ${place}`} onClick={() => onRemove(comment.id)} />
            </span>
          </li>
        )
      })}
    </ul>
  )
}

function ChipView({
  chip: { name, mediaType, bytes, pasted, state },
  onRemove,
  onInline,
}: {
  chip: Chip
  onRemove: () => void
  onInline: () => void
}) {
  const Icon = pasted === null ? attachmentIcons[attachmentKind(mediaType)] : ClipboardPaste
  const refused = state.kind === 'refused'
  const shown = pasted === null ? name : name.replace(/\.txt$/, '')
  return (
    <span
      className={classNames(
        'relative flex h-28 max-w-320 items-center gap-6 overflow-hidden rounded-6 border pl-8 text-12',
        refused ? 'border-failed/60 bg-failed-soft' : 'border-line-strong bg-raised',
      )}
    >
      {state.kind === 'sending' && (
        <span
          aria-hidden
          className="absolute inset-x-0 bottom-0 h-2 origin-left bg-running transition-transform"
          style={{ transform: `scaleX(${state.share})` }}
        />
      )}
      {refused ? (
        <TriangleAlert size={13} strokeWidth={1.75} aria-hidden className="shrink-0 text-failed" />
      ) : (
        <Icon size={13} strokeWidth={1.75} aria-hidden className="shrink-0 text-muted" />
      )}
      {pasted !== null && !refused ? (
        <Tooltip label="Show in message" side="top">
          <button
            type="button"
            onClick={onInline}
            className="min-w-0 truncate rounded-4 hover:underline"
            aria-label={`${shown}. Show in message`}
          >
            {shown}
          </button>
        </Tooltip>
      ) : (
        <Shown text={shown} className="min-w-0 truncate" />
      )}
      <span className={classNames('figures shrink-0', refused ? 'text-failed' : 'text-faint')}>
        {refused ? state.reason : state.kind === 'sending' ? `${Math.round(state.share * 100)} %` : bytesText(bytes)}
      </span>
      <RemoveButton label={`Remove ${shown}`} onClick={onRemove} />
    </span>
  )
}
