/** Choosing a folder where the host has no dialog of the system's: by walking its folders, or by writing a path. */
import { ArrowUp, ChevronRight, Folder, FolderGit2 } from 'lucide-react'
import { type FormEvent, useEffect, useState } from 'react'
import type { ErrorBody } from '../../preload/contract/errors.ts'
import { openWorkspace, relocate } from '../sessions/session-actions.ts'
import { client, failure } from '../state/link.ts'
import { showDialog } from '../state/window-store.ts'
import { shownText } from '../transcript/shown-text.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { TextField } from '../ui/text-field.tsx'

type Listing = Awaited<ReturnType<ReturnType<typeof client>['workspaces']['browse']>>

export function FolderDialog({ purpose, missing }: { purpose: 'open' | 'locate'; missing?: string | undefined }) {
  const [path, setPath] = useState<string | null>(null)
  const [listing, setListing] = useState<Listing | ErrorBody | null>(null)
  const [text, setText] = useState('')
  const [busy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState<string>()
  useEffect(() => {
    const ended = new AbortController()
    client()
      .workspaces.browse({ path }, { signal: ended.signal })
      .then(
        (found) => {
          setListing(found)
          setText(found.path)
        },
        (thrown: unknown) => ended.signal.aborted || setListing(failure(thrown)),
      )
    return () => ended.abort()
  }, [path])

  const here = listing && 'path' in listing ? listing : null
  const choose = async (chosen: string) => {
    setBusy(true)
    setRefusal(undefined)
    try {
      if (purpose === 'locate' && missing !== undefined) await relocate(missing, chosen)
      else await openWorkspace(chosen)
      showDialog(null)
    } catch (thrown) {
      const { message, hint } = failure(thrown)
      setRefusal([message, hint].filter(Boolean).join(' '))
    } finally {
      setBusy(false)
    }
  }
  const go = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() !== '') setPath(text.trim())
  }
  return (
    <Dialog
      open
      onOpenChange={() => showDialog(null)}
      title={purpose === 'open' ? 'Open folder' : 'Locate folder'}
      description={purpose === 'open' ? 'Sessions work inside the folder you open.' : `Where is ${shownText(missing ?? 'it')} now? All of its sessions move.`}
      width={560}
      className="h-[64vh]"
      footer={
        <>
          <Button variant="ghost" onClick={() => showDialog(null)}>
            Cancel
          </Button>
          <Button variant="primary" busy={busy} disabled={here === null} onClick={() => here && void choose(here.path)}>
            {purpose === 'open' ? 'Open this folder' : 'It is this folder'}
          </Button>
        </>
      }
    >
      <form onSubmit={go} className="flex items-start gap-6">
        <TextField label="Path" labelHidden mono value={text} onChange={setText} error={refusal} className="grow" />
        <IconButton icon={ArrowUp} label="Folder above" disabled={!here?.parent} onClick={() => setPath(here?.parent ?? null)} />
      </form>
      <div className="mt-8 flex min-h-0 grow flex-col rounded-8 border border-line">
        {listing === null ? (
          <Skeleton label="Reading the folder" />
        ) : 'code' in listing ? (
          <ErrorState what="Could not read this folder" message={listing.message} hint={listing.hint} code={listing.code} onRetry={() => setPath(null)} />
        ) : listing.folders.length === 0 ? (
          <p className="p-24 text-center text-12 text-muted">No folders in here.</p>
        ) : (
          <ul aria-label="Folders" className="min-h-0 grow overflow-y-auto p-4 [scrollbar-width:thin]">
            {listing.folders.map((folder) => (
              <li key={folder.path}>
                <button type="button" onClick={() => setPath(folder.path)} className="ring-inside flex h-28 w-full items-center gap-8 rounded-4 px-8 text-left text-13 hover:bg-hover">
                  {folder.git ? <FolderGit2 size={14} strokeWidth={1.75} role="img" aria-label="Git repository" className="shrink-0 text-accent-ink" /> : <Folder size={14} strokeWidth={1.75} aria-hidden className="shrink-0 text-faint" />}
                  <bdi className="grow truncate">{shownText(folder.name)}</bdi>
                  <ChevronRight size={13} strokeWidth={1.75} aria-hidden className="shrink-0 text-faint" />
                </button>
              </li>
            ))}
          </ul>
        )}
      </div>
    </Dialog>
  )
}
