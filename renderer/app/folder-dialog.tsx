/** Choosing a folder where the host has no dialog of the system's: by walking its folders, or by writing a path. */
import { ArrowUp, ChevronRight, Folder, FolderGit2 } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { takeFolder } from '../sessions/session-actions.ts'
import { client, failure } from '../state/link.ts'
import { useAnswer } from '../state/use-answer.ts'
import { type FolderPurpose, showDialog } from '../state/window-store.ts'
import { shownText } from '../transcript/shown-text.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { TextField } from '../ui/text-field.tsx'

function wordsOf(purpose: FolderPurpose): { title: string; description: string; confirm: string } {
  switch (purpose.do) {
    case 'open':
      return {
        title: 'Open folder',
        description: 'Sessions work inside the folder you open.',
        confirm: 'Open this folder',
      }
    case 'locate':
      return {
        title: 'Locate folder',
        description: `Where is ${shownText(purpose.missing)} now? All of its sessions move.`,
        confirm: 'It is this folder',
      }
    case 'add':
      return {
        title: 'Add folder',
        description: 'In this session the agent may read what lies in it. Nothing is changed there.',
        confirm: 'Add this folder',
      }
  }
}

export function FolderDialog({ purpose }: { purpose: FolderPurpose }) {
  const words = wordsOf(purpose)
  const [path, setPath] = useState<string | null>(null)
  const [typed, setTyped] = useState<{ over: string | undefined; text: string } | null>(null)
  const [busy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState<string>()
  const { answer: here, error } = useAnswer(`folders of ${path}`, (signal) =>
    client().workspaces.browse({ path }, { signal }),
  )
  // What was typed counts until another folder is shown.
  const text = typed && typed.over === here?.path ? typed.text : (here?.path ?? '')
  const choose = async (chosen: string) => {
    setBusy(true)
    setRefusal(undefined)
    try {
      await takeFolder(purpose, chosen)
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
      title={words.title}
      description={words.description}
      width={560}
      className="h-[64vh]"
      footer={
        <>
          <Button variant="ghost" onClick={() => showDialog(null)}>
            Cancel
          </Button>
          <Button variant="primary" busy={busy} disabled={here === null} onClick={() => here && void choose(here.path)}>
            {words.confirm}
          </Button>
        </>
      }
    >
      <form onSubmit={go} className="flex items-start gap-6">
        <TextField
          label="Path"
          labelHidden
          mono
          value={text}
          onChange={(next) => setTyped({ over: here?.path, text: next })}
          error={refusal}
          className="grow"
        />
        <IconButton
          icon={ArrowUp}
          label="Folder above"
          disabled={!here?.parent}
          onClick={() => setPath(here?.parent ?? null)}
        />
      </form>
      <div className="mt-8 flex min-h-0 grow flex-col rounded-8 border border-line">
        {error ? (
          <ErrorState
            what="Could not read this folder"
            message={error.message}
            hint={error.hint}
            code={error.code}
            onRetry={() => setPath(null)}
          />
        ) : here === null ? (
          <Skeleton label="Reading the folder" />
        ) : here.folders.length === 0 ? (
          <p className="p-24 text-center text-12 text-muted">No folders in here.</p>
        ) : (
          <ul aria-label="Folders" className="min-h-0 grow overflow-y-auto p-4 [scrollbar-width:thin]">
            {here.folders.map((folder) => (
              <li key={folder.path}>
                <button
                  type="button"
                  onClick={() => setPath(folder.path)}
                  className="ring-inside flex h-28 w-full items-center gap-8 rounded-4 px-8 text-left text-13 hover:bg-hover"
                >
                  {folder.git ? (
                    <FolderGit2
                      size={14}
                      strokeWidth={1.75}
                      role="img"
                      aria-label="Git repository"
                      className="shrink-0 text-accent-ink"
                    />
                  ) : (
                    <Folder size={14} strokeWidth={1.75} aria-hidden className="shrink-0 text-faint" />
                  )}
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
