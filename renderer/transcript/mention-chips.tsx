import { File, Folder, GitCompareArrows, type LucideIcon, MessageSquare, SquareTerminal } from 'lucide-react'
import type { Mention } from '../../preload/contract/items.ts'
import { classNames } from '../ui/class-names.ts'
import { RemoveButton } from '../ui/remove-button.tsx'
import { Shown } from './shown.tsx'

export const mentionIcons: Record<Mention['kind'] | 'folder', LucideIcon> = {
  file: File,
  folder: Folder,
  session: MessageSquare,
  terminal: SquareTerminal,
  changes: GitCompareArrows,
}

const kindNames: Record<Mention['kind'], string> = {
  file: 'File',
  session: 'Session',
  terminal: 'Terminal',
  changes: 'Changes',
}

/** What a message points at; `missing` is the target that is not there any more. */
export function MentionChips({
  mentions,
  missing = null,
  onRemove,
  className,
}: {
  mentions: readonly Mention[]
  missing?: string | null
  onRemove?: (mention: Mention) => void
  className?: string | undefined
}) {
  const distinct = mentions.filter(
    ({ kind, ref }, index) => mentions.findIndex((one) => one.kind === kind && one.ref === ref) === index,
  )
  if (distinct.length === 0) return null
  return (
    <ul aria-label="Mentions" className={classNames('flex flex-wrap gap-6', className)}>
      {distinct.map((mention) => {
        const { kind, ref, label } = mention
        const Icon = mentionIcons[kind === 'file' && label.endsWith('/') ? 'folder' : kind]
        return (
          <li key={`${kind} ${ref}`}>
            <span
              className={classNames(
                'flex h-24 max-w-320 items-center gap-6 overflow-hidden rounded-6 border text-12',
                ref === missing ? 'border-failed/60 bg-failed-soft text-failed' : 'border-line-strong bg-raised',
                onRemove ? 'pl-8' : 'px-8',
              )}
            >
              <Icon size={13} strokeWidth={1.75} aria-label={kindNames[kind]} className="shrink-0 text-muted" />
              <Shown text={label} className="min-w-0 truncate" />
              {ref === missing && <span className="shrink-0">is not there</span>}
              {onRemove && <RemoveButton label={`Remove the mention of ${label}`} onClick={() => onRemove(mention)} />}
            </span>
          </li>
        )
      })}
    </ul>
  )
}
