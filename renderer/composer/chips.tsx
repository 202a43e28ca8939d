import { ClipboardPaste, TriangleAlert, X } from 'lucide-react'
import { bytesText } from '../transcript/amounts.ts'
import { attachmentIcons, attachmentKind } from '../transcript/attachment-chips.tsx'
import { Shown } from '../transcript/shown.tsx'
import { classNames } from '../ui/class-names.ts'
import { Tooltip } from '../ui/tooltip.tsx'
import type { Chip } from './attachments.ts'

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
      <button
        type="button"
        aria-label={`Remove ${shown}`}
        onClick={onRemove}
        className="ring-inside grid h-full w-24 shrink-0 place-items-center text-faint hover:bg-hover hover:text-ink"
      >
        <X size={13} strokeWidth={1.75} aria-hidden />
      </button>
    </span>
  )
}
