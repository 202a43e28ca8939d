/** The inspector's "Files": the workspace's tree, a field to go to a file by name, and the file that is open. */
import { Eye, EyeOff, FileSearch, FolderTree } from 'lucide-react'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { ChangedFile } from '../../preload/contract/session.ts'
import { useFoundFiles } from '../composer/use-found-files.ts'
import { prefer, usePreference } from '../state/preferences.ts'
import { useView } from '../state/session-store.ts'
import { openFile, useWindow } from '../state/window-store.ts'
import { useWorkbench } from '../state/workbench-store.ts'
import { locateFolder } from '../sessions/session-actions.ts'
import { Button } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { FilterField } from '../ui/filter-field.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { Pane, PaneDivider, SplitPanes } from '../ui/split-panes.tsx'
import { useIsWide } from '../ui/use-is-wide.ts'
import { inWorkspace } from './file-tree.ts'
import { FileView } from './file-view.tsx'
import { FoundPath } from './found-path.tsx'
import { TreeView } from './tree-view.tsx'
import { loadUnsaved, useUnsaved } from './unsaved.ts'
import { useTree } from './use-tree.ts'

/** From here on the file stands beside the tree, not below it. */
const besideFromPx = 720
const noChanges: ChangedFile[] = []

export function FilesTab({ sessionId }: { sessionId: string }) {
  const workspace = useView(sessionId, ({ header }) => header.workspace, '')
  const missing = useWorkbench(({ workspaces }) => workspaces.get(workspace)?.state === 'missing')
  if (workspace === '') return null
  if (missing)
    return (
      <EmptyState
        icon={FolderTree}
        title="The folder is missing"
        detail={workspace}
        action={
          <Button acts size="small" onClick={() => void locateFolder(workspace)}>
            Locate
          </Button>
        }
      />
    )
  return <Files key={workspace} sessionId={sessionId} workspace={workspace} />
}

function Files({ sessionId, workspace }: { sessionId: string; workspace: string }) {
  const showsIgnored = usePreference('files.showIgnored')
  const tree = useTree(workspace, showsIgnored)
  const changes = useView(sessionId, (view) => view.changes, noChanges)
  const changed = useMemo(
    () => new Map(changes.flatMap(({ path, kind, undone }) => (undone ? [] : [[path, kind] as const]))),
    [changes],
  )
  const file = useWindow((state) => (state.file?.workspace === workspace ? state.file : null))
  const path = file ? inWorkspace(workspace, file.path) : null
  const unsaved = useUnsaved(workspace)
  const [query, setQuery] = useState('')
  const room = useRef<HTMLDivElement>(null)
  const beside = useIsWide(room, besideFromPx)
  const { reveal } = tree
  useEffect(() => void loadUnsaved(workspace), [workspace])

  useEffect(() => {
    if (path !== null) reveal(path)
  }, [path, reveal])

  const open = (chosen: string) => openFile(workspace, chosen)
  const browser = (
    <>
      <div className="flex h-36 shrink-0 items-center px-8">
        <FilterField label="Go to file" value={query} onChange={setQuery} />
        <IconButton
          icon={showsIgnored ? Eye : EyeOff}
          label="Show ignored files"
          size="small"
          className="ml-2 shrink-0"
          pressed={showsIgnored}
          onClick={() => prefer({ 'files.showIgnored': !showsIgnored })}
        />
      </div>
      {query.trim() === '' ? (
        <TreeView
          sessionId={sessionId}
          workspace={workspace}
          tree={tree}
          chosen={path}
          unsaved={unsaved}
          changed={changed}
          onChoose={open}
        />
      ) : (
        <Found workspace={workspace} query={query.trim()} onChoose={open} />
      )}
    </>
  )
  return (
    <div ref={room} className="flex h-full flex-col">
      {file ? (
        <SplitPanes
          key={beside ? 'beside' : 'below'}
          id="files"
          direction={beside ? 'columns' : 'rows'}
          className="grow"
        >
          <Pane id="files-tree" size={beside ? '34%' : '36%'} least={beside ? 160 : 96}>
            {browser}
          </Pane>
          <PaneDivider label="Resize the file" />
          <Pane id="files-view" least={beside ? 240 : 120}>
            <FileView file={{ ...file, path: path ?? file.path }} />
          </Pane>
        </SplitPanes>
      ) : (
        browser
      )}
    </div>
  )
}

function Found({ workspace, query, onChoose }: { workspace: string; query: string; onChoose: (path: string) => void }) {
  const found = useFoundFiles(workspace, query)
  const files = found.filter(({ kind }) => kind === 'file')
  if (files.length === 0) return <EmptyState icon={FileSearch} title="No file has that name" />
  return (
    <ul aria-label="Found files" className="min-h-0 grow overflow-y-auto px-4 [scrollbar-width:thin]">
      {files.map(({ path }) => (
        <li key={path}>
          <button
            type="button"
            onClick={() => onChoose(path)}
            className="ring-inside flex h-26 w-full items-center rounded-4 px-8 text-left text-12 hover:bg-hover"
          >
            <FoundPath path={path} query={query} />
          </button>
        </li>
      ))}
    </ul>
  )
}
