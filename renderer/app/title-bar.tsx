/** The row above the transcript: what session this is, and which panes stand around it. */
import { ArrowLeft, Ellipsis, Menu, PanelBottom, PanelLeft, PanelRight, SquarePen } from 'lucide-react'
import { newSession } from '../sessions/session-actions.ts'
import { folderLabels } from '../sessions/session-groups.ts'
import { SessionMenu } from '../sessions/session-menu.tsx'
import { TitleField } from '../sessions/title-field.tsx'
import { useFolder, useTitle, useView } from '../state/session-store.ts'
import { shownText } from '../transcript/shown-text.ts'
import { showParent, useFrame, usePaneShown, useWindow } from '../state/window-store.ts'
import { useEntry, useWorkbench } from '../state/workbench-store.ts'
import { useMayAct } from '../ui/acting.ts'
import { classNames } from '../ui/class-names.ts'
import { DropdownMenu } from '../ui/menu.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { runCommand, useCommandKeys } from './commands.ts'

/** Bars at the window's top move it, and leave room for the system's own buttons where these are drawn over the page. */
export const windowBar =
  'flex h-40 shrink-0 items-center gap-4 select-none [app-region:drag] [&_button]:[app-region:no-drag] [&_input]:[app-region:no-drag]'
export const leftEdge = 'pl-[max(0.5rem,env(titlebar-area-x,0px))]'
export const rightEdge = 'pr-[max(0.5rem,calc(100vw-env(titlebar-area-x,0px)-env(titlebar-area-width,100vw)))]'

export function TitleBar({ sessionId }: { sessionId: string | null }) {
  const list = usePaneShown('list')
  const inspector = usePaneShown('inspector')
  const frame = useFrame()
  const docked = frame === 'wide'
  const newKeys = useCommandKeys('session.new')
  const terminal = usePaneShown('terminal')
  return (
    <header
      className={classNames(
        windowBar,
        'border-b border-line',
        list && docked ? 'pl-8' : leftEdge,
        inspector && docked ? 'pr-8' : rightEdge,
      )}
    >
      <h1 className="sr-only">Lathe</h1>
      {(!list || !docked) && (
        <>
          <PaneToggle pane="list" shown={list} icon={frame === 'narrow' ? Menu : PanelLeft} />
          <IconButton acts icon={SquarePen} label="New session" keys={newKeys} onClick={() => void newSession()} />
        </>
      )}
      {sessionId === null ? (
        <h2 className="px-4 text-13 font-medium">Welcome</h2>
      ) : (
        <SessionTitle key={sessionId} sessionId={sessionId} />
      )}
      <span className="grow" />
      <PaneToggle pane="terminal" shown={terminal} icon={PanelBottom} />
      {sessionId !== null && (!inspector || !docked) && (
        <PaneToggle pane="inspector" shown={inspector} icon={PanelRight} />
      )}
    </header>
  )
}

const paneLabels = { list: 'sessions', inspector: 'inspector', terminal: 'terminals' }

export function PaneToggle({
  pane,
  shown,
  icon,
}: {
  pane: keyof typeof paneLabels
  shown: boolean
  icon: typeof PanelLeft
}) {
  const id = `pane.${pane}`
  return (
    <IconButton
      icon={icon}
      label={`${shown ? 'Hide' : 'Show'} ${paneLabels[pane]}`}
      keys={useCommandKeys(id)}
      pressed={pane === 'terminal' ? shown : undefined}
      onClick={() => runCommand(id)}
    />
  )
}

function SessionTitle({ sessionId }: { sessionId: string }) {
  const title = useTitle(sessionId)
  const workspace = useFolder(sessionId)
  const parent = useView(sessionId, ({ header }) => header.parent ?? null, null)
  const entry = useEntry(sessionId)
  const mayAct = useMayAct()
  const renaming = useWindow(({ renaming }) => renaming?.place === 'title' && renaming.sessionId === sessionId)
  const workspaces = useWorkbench((state) => state.workspaces)
  const folder = workspace && (folderLabels([...workspaces.keys(), workspace]).get(workspace) ?? workspace)
  if (renaming)
    return (
      <TitleField
        sessionId={sessionId}
        title={title}
        className="h-26 max-w-480 text-13 font-medium"
        onDone={() => useWindow.setState({ renaming: null })}
      />
    )
  return (
    <>
      {parent && <IconButton icon={ArrowLeft} label="Back to the session" onClick={() => showParent(parent)} />}
      <h2 className="flex min-w-0 items-baseline gap-8 px-4">
        <span
          className="truncate text-13 font-medium [app-region:no-drag]"
          title={entry ? `${shownText(title)}${mayAct ? ' (double-click to rename)' : ''}` : undefined}
          onDoubleClick={() => entry && mayAct && useWindow.setState({ renaming: { sessionId, place: 'title' } })}
        >
          <bdi>{shownText(title) || 'New session'}</bdi>
        </span>
        <span className="max-w-240 shrink truncate text-12 text-faint max-narrow:hidden" title={workspace}>
          <bdi>{shownText(folder)}</bdi>
        </span>
      </h2>
      {entry && (
        <DropdownMenu trigger={<IconButton icon={Ellipsis} label="Session menu" size="small" />}>
          <SessionMenu entry={entry} place="title" />
        </DropdownMenu>
      )}
    </>
  )
}
