import { Paperclip } from 'lucide-react'
import { useEffect, useState } from 'react'
import { createPortal } from 'react-dom'
import { attempt } from '../app/attempt.ts'
import { addFolder, chooseFolderToAdd, openWorkspace } from '../sessions/session-actions.ts'
import { link } from '../state/link.ts'
import { choose } from '../state/window-store.ts'
import { shownText } from '../transcript/shown-text.ts'
import { toast } from '../ui/toast.tsx'

/** `path`: where it lies, where the window may know. */
export type DroppedFile = { file: File; folder: boolean; path: string | null }

export function openDropped(path: string): Promise<void | undefined> {
  return attempt('Could not open the folder', () => openWorkspace(path))
}

/**
 * Folders are never attached: one outside the workspace is added to the session to be read, or opened (F-1202). True where
 * it was added.
 */
export async function offerFolder(sessionId: string, path: string | null): Promise<boolean> {
  if (path === null) {
    toast.note('Folders are not attached', {
      detail: 'One of the workspace is mentioned with @. Another can be added, so that the agent may read it.',
      action: { label: 'Add folder…', onSelect: () => void chooseFolderToAdd(sessionId) },
    })
    return false
  }
  const said = await choose({
    title: 'What is this folder for?',
    description: `${shownText(path)} lies outside the workspace. Added to this session, the agent may read what lies in it and changes nothing there.`,
    confirm: 'Add to this session',
    other: 'Open as a workspace',
  })
  if (said === 'other') await openDropped(path)
  if (said !== 'yes') return false
  return (await attempt('Could not add the folder', async () => (await addFolder(sessionId, path), true))) ?? false
}

/** Of paths on this machine, those that the session reaches, links followed, and what they are called there. */
export async function pathsInside(
  sessionId: string,
  workspace: string,
  paths: readonly string[],
): Promise<Map<string, string>> {
  const places = await Promise.all(
    paths.map((path) =>
      link()
        .client.files.place({ workspace, path, sessionId })
        .then(
          (place) => place.path,
          () => null,
        ),
    ),
  )
  return new Map(paths.flatMap((path, at) => (places[at] == null ? [] : [[path, places[at]] as const])))
}

/** The whole window takes what is dragged over it, and shows where it will go (S-116). A drop never navigates. */
export function DropTarget({
  onFiles,
  onText,
  says = { files: 'Drop to attach to your message', text: 'Drop to insert into your message' },
}: {
  /** `copies`: Alt was held (F-1202). */
  onFiles: (files: DroppedFile[], copies: boolean) => void
  onText: (text: string) => void
  /** What becomes of files, and of text. */
  says?: { files: string; text: string }
}) {
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
        const dropped = entries.flatMap((item) => {
          const folder = item.webkitGetAsEntry()?.isDirectory ?? false
          const file = item.getAsFile()
          return file ? [{ file, folder, path: window.lathe?.pathForFile(file) ?? null }] : []
        })
        if (dropped.length > 0) onFiles(dropped, event.altKey)
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
        {says[over]}
      </p>
    </div>,
    document.body,
  )
}
