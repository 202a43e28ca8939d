import { Paperclip } from 'lucide-react'
import { useEffect, useState } from 'react'
import { createPortal } from 'react-dom'
import { attempt } from '../app/attempt.ts'
import { openWorkspace } from '../sessions/session-actions.ts'
import { toast } from '../ui/toast.tsx'

function openDropped(path: string): Promise<void | undefined> {
  return attempt('Could not open the folder', () => openWorkspace(path))
}

/** The whole window takes what is dragged over it, and shows where it will go (S-116). A drop never navigates. */
export function DropTarget({ onFiles, onText }: { onFiles: (files: File[]) => void; onText: (text: string) => void }) {
  const [over, setOver] = useState<'files' | 'text' | null>(null)

  useEffect(() => {
    /** Entered elements minus left ones: the drag is over the window while it is above zero. */
    let depth = 0
    const kindOf = (event: DragEvent) => {
      const types = event.dataTransfer?.types ?? []
      return types.includes('Files') ? 'files' : types.includes('text/plain') ? 'text' : null
    }
    const listeners = {
      dragenter(event: DragEvent) {
        depth++
        setOver(kindOf(event))
      },
      dragover(event: DragEvent) {
        if (kindOf(event) === null) return
        event.preventDefault()
        event.dataTransfer!.dropEffect = 'copy'
      },
      dragleave() {
        depth = Math.max(0, depth - 1)
        if (depth === 0) setOver(null)
      },
      drop(event: DragEvent) {
        depth = 0
        setOver(null)
        const kind = kindOf(event)
        if (kind === null || event.defaultPrevented) return
        event.preventDefault()
        if (kind === 'text') return onText(event.dataTransfer!.getData('text/plain'))
        const entries = [...event.dataTransfer!.items].filter((item) => item.kind === 'file')
        const folders = entries.filter((item) => item.webkitGetAsEntry()?.isDirectory)
        const files = entries.filter((item) => !folders.includes(item)).flatMap((item) => item.getAsFile() ?? [])
        if (files.length > 0) onFiles(files)
        const folder = folders[0]?.getAsFile()
        if (!folder) return
        const path = window.lathe?.pathForFile(folder) ?? null
        toast.note('Folders are not attached', {
          detail: 'Open one as a workspace, or mention it with @.',
          action: path === null ? undefined : { label: 'Open', onSelect: () => void openDropped(path) },
        })
      },
    }
    for (const [name, listener] of Object.entries(listeners)) addEventListener(name as 'drop', listener)
    return () => {
      for (const [name, listener] of Object.entries(listeners)) removeEventListener(name as 'drop', listener)
    }
  }, [onFiles, onText])

  if (over === null) return null
  return createPortal(
    <div className="pointer-events-none fixed inset-0 z-50 grid place-items-center bg-scrim p-24">
      <p className="flex animate-rise items-center gap-10 rounded-12 bg-raised px-24 py-16 text-15 text-ink shadow-float">
        <Paperclip size={18} strokeWidth={1.75} aria-hidden className="text-accent-ink" />
        {over === 'files' ? 'Drop to attach to your message' : 'Drop to insert into your message'}
      </p>
    </div>,
    document.body,
  )
}
