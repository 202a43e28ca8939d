import { File, FileCode, FileText, Image as ImageIcon, type LucideIcon } from 'lucide-react'
import { useState } from 'react'
import type { Attachment } from '../../preload/contract/items.ts'
import { client } from '../state/link.ts'
import { classNames } from '../ui/class-names.ts'
import { Dialog } from '../ui/dialog.tsx'
import { useBlobUrl } from '../ui/use-blob-url.ts'
import { bytesText } from './amounts.ts'
import { Shown } from './shown.tsx'
import { useSessionId } from './transcript-context.ts'

export const attachmentIcons: Record<ReturnType<typeof attachmentKind>, LucideIcon> = {
  image: ImageIcon,
  code: FileCode,
  text: FileText,
  other: File,
}

export function attachmentKind(mediaType: string): 'image' | 'code' | 'text' | 'other' {
  if (mediaType.startsWith('image/')) return 'image'
  if (/json|javascript|xml|html|css|typescript|x-sh|python/.test(mediaType)) return 'code'
  return mediaType.startsWith('text/') ? 'text' : 'other'
}

/** Drawn from their bytes; all other images show as what they are called (S-117). */
export const rasterImage = /^image\/(png|jpeg|gif|webp|avif|bmp)$/

export function AttachmentChips({
  attachments,
  className,
}: {
  attachments: Attachment[]
  className?: string | undefined
}) {
  return (
    <ul aria-label="Attachments" className={classNames('flex flex-wrap gap-6', className)}>
      {attachments.map((attachment, index) => (
        <li key={index}>
          {rasterImage.test(attachment.mediaType) ? (
            <Thumbnail attachment={attachment} />
          ) : (
            <Chip attachment={attachment} />
          )}
        </li>
      ))}
    </ul>
  )
}

function Chip({ attachment: { name, mediaType, bytes } }: { attachment: Attachment }) {
  const Icon = attachmentIcons[attachmentKind(mediaType)]
  return (
    <span className="flex h-28 max-w-280 items-center gap-6 rounded-6 border border-line-strong bg-raised px-8 text-12">
      <Icon size={14} strokeWidth={1.75} aria-hidden className="shrink-0 text-muted" />
      <Shown text={name} className="truncate" />
      <span className="figures shrink-0 text-faint">{bytesText(bytes)}</span>
    </span>
  )
}

function Thumbnail({ attachment }: { attachment: Attachment }) {
  const { hash, mediaType } = attachment
  const sessionId = useSessionId()
  const url = useBlobUrl(`${sessionId} ${hash}`, async (signal) => {
    const { data } = await client().attachments.read({ sessionId, hash }, { signal })
    return { data, mediaType }
  })
  const [open, setOpen] = useState(false)
  if (url === null) return <Chip attachment={attachment} />
  if (url === 'missing') {
    return (
      <span className="flex h-28 items-center gap-6 rounded-6 border border-dashed border-line-strong px-8 text-12 text-muted">
        <Shown text={attachment.name} /> is missing
      </span>
    )
  }
  return (
    <>
      <button
        type="button"
        onClick={() => setOpen(true)}
        title={attachment.name}
        className="block overflow-hidden rounded-6 border border-line-strong"
      >
        <img src={url} alt={attachment.name} className="max-h-160 max-w-320 object-cover" />
      </button>
      <Dialog open={open} onOpenChange={setOpen} title={attachment.name} width={960}>
        <img src={url} alt={attachment.name} className="mx-auto max-h-[70vh]" />
      </Dialog>
    </>
  )
}
