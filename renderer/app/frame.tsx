/** The window's layout: sessions left, transcript and composer in the middle, inspector right, terminals below. */
import { PanelLeft } from 'lucide-react'
import { useRef, useState } from 'react'
import { Composer } from '../composer/composer.tsx'
import { SessionList, SessionListFooter, SessionListHeader } from '../sessions/session-list.tsx'
import { useReadMark } from '../sessions/read-mark.ts'
import { useLeaveDeleted } from '../sessions/use-leave-deleted.ts'
import { prefer, preferences } from '../state/preferences.ts'
import { paneShown, useFrame, usePaneShown, useWindow } from '../state/window-store.ts'
import { TerminalRegion } from '../terminal/terminal-region.tsx'
import { Transcript } from '../transcript/transcript.tsx'
import { classNames } from '../ui/class-names.ts'
import { ErrorBoundary } from '../ui/error-boundary.tsx'
import { Pane, PaneDivider, SplitPanes } from '../ui/split-panes.tsx'
import { useZoom } from './appearance.ts'
import { Banners, type Refusal } from './banners.tsx'
import { Inspector } from './inspector.tsx'
import { SideSheet } from './side-sheet.tsx'
import { StatusBar } from './status-bar.tsx'
import { leftEdge, PaneToggle, TitleBar, windowBar } from './title-bar.tsx'
import { Welcome } from './welcome.tsx'

type SizeKey = 'panes.listWidth' | 'panes.inspectorWidth' | 'panes.terminalHeight'

/** What the session in the middle is left at least, before a side pane gets the width it had in a larger window. */
const middlePx = 480

/** The room a pane may take at first. */
function roomFor(key: SizeKey, zoom: number): number {
  if (key === 'panes.terminalHeight') return innerHeight * 0.5
  if (key === 'panes.listWidth') return innerWidth * 0.25
  const list = paneShown('list') ? Math.min(preferences()['panes.listWidth'] * zoom, innerWidth * 0.25) : 0
  return innerWidth - list - middlePx * zoom
}

interface PaneSize {
  size: number
  onResize: (size: { pixels: number }) => void
  /** Keeps the size it has now: called only for what a person did, never for a window that changed. */
  keep: () => void
}

function usePaneSize(key: SizeKey): PaneSize {
  const zoom = useZoom()
  const now = useRef(0)
  // Read once for each mounting: the pane itself holds its size from then on.
  const [size] = useState(() => preferences()[key])
  return {
    size: Math.min(size * zoom, roomFor(key, zoom)),
    onResize: ({ pixels }) => void (now.current = pixels),
    keep: () => {
      const unzoomed = Math.round(now.current / zoom)
      if (unzoomed > 0) prefer({ [key]: unzoomed })
    },
  }
}

export function Frame(connection: Refusal) {
  const sessionId = useWindow((state) => state.sessionId)
  const docked = useFrame() === 'wide'
  const list = usePaneShown('list')
  const inspector = usePaneShown('inspector') && sessionId !== null
  const listPane = usePaneSize('panes.listWidth')
  const inspectorPane = usePaneSize('panes.inspectorWidth')
  const zoom = useZoom()
  return (
    <div className="flex h-dvh flex-col overflow-hidden bg-canvas text-ink">
      <Banners {...connection} />
      <SplitPanes
        id="frame"
        direction="columns"
        className="min-h-0 grow"
        onLayoutChange={() => {
          listPane.keep()
          inspectorPane.keep()
        }}
      >
        {docked && list && (
          <>
            <Pane
              id="list"
              size={listPane.size}
              least={200 * zoom}
              most="40%"
              keepsPixels
              onResize={listPane.onResize}
              className="bg-side"
            >
              <ListPane />
            </Pane>
            <PaneDivider label="Resize the session list" />
          </>
        )}
        <Pane id="middle" least={360 * zoom}>
          <Middle sessionId={sessionId} />
        </Pane>
        {docked && inspector && (
          <>
            <PaneDivider label="Resize the inspector" />
            <Pane
              id="inspector"
              size={inspectorPane.size}
              least={280 * zoom}
              most="65%"
              keepsPixels
              onResize={inspectorPane.onResize}
            >
              <Inspector sessionId={sessionId} />
            </Pane>
          </>
        )}
      </SplitPanes>
      <StatusBar sessionId={sessionId} />
      {!docked && (
        <>
          <SideSheet pane="list" title="Sessions">
            <ListPane />
          </SideSheet>
          {sessionId !== null && (
            <SideSheet pane="inspector" title="Inspector">
              <Inspector sessionId={sessionId} />
            </SideSheet>
          )}
        </>
      )}
    </div>
  )
}

function ListPane() {
  return (
    <nav
      aria-label="Sessions"
      data-region="sessions"
      tabIndex={-1}
      className="flex min-h-0 grow flex-col bg-side outline-none"
    >
      <div className={classNames(windowBar, 'justify-between pr-6', leftEdge)}>
        <PaneToggle pane="list" shown icon={PanelLeft} />
        <SessionListHeader />
      </div>
      <ErrorBoundary pane="Sessions">
        <SessionList />
      </ErrorBoundary>
      <SessionListFooter />
    </nav>
  )
}

function Middle({ sessionId }: { sessionId: string | null }) {
  const terminal = usePaneShown('terminal')
  const terminalPane = usePaneSize('panes.terminalHeight')
  const zoom = useZoom()
  // One column has no room for two things one above the other: terminals then stand in the session's place.
  const instead = useFrame() === 'narrow' && terminal
  const content = (
    <main aria-label={sessionId === null ? 'Welcome' : 'Session'} className="flex min-h-0 grow flex-col">
      <TitleBar sessionId={sessionId} />
      {instead ? (
        <ErrorBoundary pane="Terminal">
          <TerminalRegion />
        </ErrorBoundary>
      ) : sessionId === null ? (
        <ErrorBoundary pane="Welcome">
          <Welcome />
        </ErrorBoundary>
      ) : (
        <SessionPane key={sessionId} sessionId={sessionId} />
      )}
    </main>
  )
  return (
    <SplitPanes id="middle-rows" direction="rows" className="grow" onLayoutChange={terminalPane.keep}>
      <Pane id="session" least={200 * zoom}>
        {content}
      </Pane>
      {terminal && !instead && (
        <>
          <PaneDivider label="Resize the terminals" />
          <Pane
            id="terminal"
            size={terminalPane.size}
            least={96 * zoom}
            most="75%"
            keepsPixels
            onResize={terminalPane.onResize}
          >
            <ErrorBoundary pane="Terminal">
              <TerminalRegion />
            </ErrorBoundary>
          </Pane>
        </>
      )}
    </SplitPanes>
  )
}

function SessionPane({ sessionId }: { sessionId: string }) {
  useReadMark(sessionId)
  useLeaveDeleted(sessionId)
  return (
    <>
      <ErrorBoundary pane="Transcript" resetKey={sessionId}>
        <Transcript sessionId={sessionId} />
      </ErrorBoundary>
      <ErrorBoundary pane="Composer" resetKey={sessionId}>
        <Composer sessionId={sessionId} />
      </ErrorBoundary>
    </>
  )
}
