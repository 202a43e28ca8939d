/** A file in the editor: edited in place, saved through the host, told apart from what others make of it. Loaded lazily. */
import { Columns2, Save } from 'lucide-react'
import { type ReactNode, type RefObject, useEffect, useEffectEvent, useRef, useState } from 'react'
import { useStore } from 'zustand'
import { useZoom } from '../app/appearance.ts'
import { provideTarget } from '../app/command-targets.ts'
import { useCommandKeys } from '../app/commands.ts'
import type { ShownFile } from '../state/window-store.ts'
import { shownText } from '../transcript/shown-text.ts'
import { useMayAct } from '../ui/acting.ts'
import { Button } from '../ui/button.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { Spinner } from '../ui/spinner.tsx'
import { type DocumentState, documentOf, type FileDocument, type Reading } from './documents.ts'
import { FileHeader } from './file-header.tsx'
import { editorOptions, monaco } from './monaco.ts'

/** From here on the two versions of a conflict stand side by side. */
const besideFromPx = 640

type Editor = monaco.editor.IStandaloneCodeEditor

export default function EditorPane({ file, reading, gone }: { file: ShownFile; reading: Reading; gone: boolean }) {
  const { workspace, path } = file
  const [document] = useState(() => documentOf(workspace, path, reading.body))
  const { unsaved, saving, disk, elsewhere, error } = useStore(document.state)
  const saveKeys = useCommandKeys('file.save')
  const [comparing, setComparing] = useState(false)
  const editor = useRef<Editor>(null)

  useEffect(() => {
    if (gone) document.gone()
    else document.take(reading.body, reading.askedAt)
  }, [document, reading, gone])
  useEffect(() => provideTarget('editor', { save: () => void document.save() }), [document])

  const other = disk.kind === 'changed' ? disk.text : (elsewhere?.text ?? null)
  const compared = comparing ? other : null
  const compare = (
    <Button size="small" variant="ghost" aria-pressed={compared !== null} onClick={() => setComparing(!comparing)}>
      <Columns2 size={12} strokeWidth={1.75} aria-hidden />
      Compare
    </Button>
  )
  return (
    <section aria-label={shownText(path)} className="flex min-h-0 grow flex-col">
      <FileHeader
        path={path}
        bytes={reading.body.bytes}
        unsaved={unsaved}
        onFind={() => {
          editor.current?.focus()
          void editor.current?.getAction('actions.find')?.run()
        }}
      >
        {saving && <Spinner size={12} className="text-muted" />}
        <IconButton
          acts
          icon={Save}
          label="Save"
          keys={saveKeys}
          size="small"
          disabled={!unsaved || saving || disk.kind !== 'same'}
          onClick={() => void document.save()}
        />
      </FileHeader>
      <DiskNote document={document} disk={disk} unsaved={unsaved} compare={compare} />
      {elsewhere && disk.kind !== 'changed' && (
        <FileNote says="Another window has other unsaved edits of this file. Yours are kept once you choose.">
          {compare}
          <Button acts size="small" variant="ghost" onClick={() => document.takeTheirEdits()}>
            Use theirs
          </Button>
          <Button acts size="small" variant="secondary" onClick={() => void document.keepOverTheirs()}>
            Keep mine
          </Button>
        </FileNote>
      )}
      {error && (
        <p role="alert" className="shrink-0 border-b border-line bg-failed-soft px-10 py-6 text-12 text-ink">
          Not saved. {[error.message, error.hint].filter(Boolean).join(' ')}
        </p>
      )}
      {compared === null ? (
        <TextEditor document={document} file={file} ref={editor} />
      ) : (
        <Comparison document={document} theirs={compared} ref={editor} />
      )}
    </section>
  )
}

/** The file on disk is not what the edits were made on: what the person can do about it (F-1008). */
function DiskNote({
  document,
  disk,
  unsaved,
  compare,
}: {
  document: FileDocument
  disk: DocumentState['disk']
  unsaved: boolean
  compare: ReactNode
}) {
  if (disk.kind === 'same') return null
  const isChanged = disk.kind === 'changed'
  return (
    <FileNote
      says={
        isChanged
          ? 'The file was changed on disk while you edited it.'
          : unsaved
            ? 'The file was deleted while you edited it.'
            : 'The file was deleted.'
      }
    >
      {isChanged && compare}
      {isChanged && (
        <Button acts size="small" variant="ghost" onClick={() => document.takeTheirs()}>
          Use theirs
        </Button>
      )}
      <Button acts size="small" variant="secondary" onClick={() => void document.keepMine()}>
        {isChanged ? 'Keep mine' : 'Save it again'}
      </Button>
    </FileNote>
  )
}

function FileNote({ says, children }: { says: string; children: ReactNode }) {
  return (
    <div
      role="alert"
      className="flex min-h-32 shrink-0 flex-wrap items-center gap-x-8 gap-y-2 border-b border-line bg-needs-soft py-2 pr-4 pl-10 text-12"
    >
      <span className="grow text-ink">{says}</span>
      <span className="flex shrink-0 gap-4">{children}</span>
    </div>
  )
}

function TextEditor({
  document,
  file,
  ref,
}: {
  document: FileDocument
  file: ShownFile
  ref: RefObject<Editor | null>
}) {
  const zoom = useZoom()
  const place = useRef<HTMLDivElement>(null)
  const { line, column, opened } = file

  const readOnly = !useMayAct()

  const create = useEffectEvent((element: HTMLElement) =>
    monaco.editor.create(element, {
      ...editorOptions(zoom),
      readOnly,
      model: document.model,
      ariaLabel: `Text of ${shownText(document.path)}`,
    }),
  )
  useEffect(() => {
    const editor = create(place.current!)
    const leave = document.showIn(editor)
    ref.current = editor
    return () => {
      leave()
      ref.current = null
      editor.dispose()
    }
  }, [document, ref])
  useEffect(() => ref.current?.updateOptions({ ...editorOptions(zoom), readOnly }), [zoom, readOnly, ref])
  useEffect(() => {
    const editor = ref.current
    if (!editor || line === undefined || opened === 0) return
    const at = { lineNumber: Math.min(line, document.model.getLineCount()), column: column ?? 1 }
    editor.setPosition(at)
    editor.revealPositionInCenter(at)
    editor.focus()
  }, [document, line, column, opened, ref])
  return <div ref={place} className="min-h-0 grow" />
}

/** What is on disk, and the edits, which can still be changed here. */
function Comparison({
  document,
  theirs,
  ref,
}: {
  document: FileDocument
  theirs: string
  ref: RefObject<Editor | null>
}) {
  const zoom = useZoom()
  const place = useRef<HTMLDivElement>(null)
  const create = useEffectEvent((element: HTMLElement) =>
    monaco.editor.createDiffEditor(element, {
      ...editorOptions(zoom),
      originalEditable: false,
      renderSideBySide: element.clientWidth >= besideFromPx,
      useInlineViewWhenSpaceIsLimited: false,
      hideUnchangedRegions: { enabled: true },
      renderMarginRevertIcon: false,
      renderOverviewRuler: false,
      originalAriaLabel: `${shownText(document.path)} on disk`,
      modifiedAriaLabel: `Your ${shownText(document.path)}`,
    }),
  )
  useEffect(() => {
    const editor = create(place.current!)
    const original = monaco.editor.createModel(theirs, document.model.getLanguageId())
    // The editor never lets go of a comparison it made itself: under way, it would fail once its models are gone.
    const comparison = editor.createViewModel({ original, modified: document.model })
    editor.setModel(comparison)
    const leave = document.showIn(editor.getModifiedEditor())
    ref.current = editor.getModifiedEditor() as Editor
    return () => {
      leave()
      ref.current = null
      editor.dispose()
      comparison.dispose()
      original.dispose()
    }
  }, [document, theirs, ref])
  return <div ref={place} className="min-h-0 grow" />
}
