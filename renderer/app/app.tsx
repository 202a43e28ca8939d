/** The window: layout, dialogs, keys, and what keeps the page in step with settings and notifications. */
import { Unplug } from 'lucide-react'
import { lazy, Suspense, useEffect, useSyncExternalStore } from 'react'
import type { ErrorBody } from '../../preload/contract/errors.ts'
import { sessionOfAddress } from '../../preload/contract/shell.ts'
import { DeletedDialog } from '../sessions/deleted-dialog.tsx'
import { GoBackDialog } from '../changes/go-back-dialog.tsx'
import { UndoDialog } from '../changes/undo-dialog.tsx'
import { ConnectDialog } from '../models/connect-dialog.tsx'
import { ModelDialog } from '../models/model-dialog.tsx'
import { SearchDialog } from '../search/search-dialog.tsx'
import { usePreferences } from '../state/preferences.ts'
import { showSession, useWindow } from '../state/window-store.ts'
import { isWatching, useWorkbench } from '../state/workbench-store.ts'
import { MayAct } from '../ui/acting.ts'
import { Button } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { Delayed } from '../ui/skeleton.tsx'
import { Toaster } from '../ui/toast.tsx'
import { TooltipProvider } from '../ui/tooltip.tsx'
import { useAppearance } from './appearance.ts'
import { boundCommands, command, runCommand } from './commands.ts'
import { Confirm } from './confirm.tsx'
import { FolderDialog } from './folder-dialog.tsx'
import { Frame } from './frame.tsx'
import { keyListener } from './keys.ts'
import { followTitle } from './notifications.ts'
import { Palette } from './palette.tsx'
import { rememberFocus } from './regions.ts'
import { ShortcutSheet } from './shortcut-sheet.tsx'

const SettingsDialog = lazy(() =>
  import('./settings/settings-dialog.tsx').then(({ SettingsDialog: View }) => ({ default: View })),
)

/** What the page asks of its connection itself; the rest goes through the link. */
export interface PageConnection {
  onState(listener: () => void): () => void
  /** Why no connection is tried any more; the same object until it changes. */
  refusal(): ErrorBody | null
  retry(): void
}

export function App({ connection }: { connection: PageConnection }) {
  const refusal = useRefusal(connection)
  const started = useWorkbench(({ info }) => info !== null)
  const watching = useWorkbench(isWatching)
  useAppearance()
  useKeys()
  useEffect(followTitle, [])
  useEffect(() => {
    document.addEventListener('focusin', rememberFocus)
    return () => document.removeEventListener('focusin', rememberFocus)
  }, [])
  useLastSession()
  return (
    <MayAct value={!watching}>
      <TooltipProvider>
        {started ? (
          <Frame refusal={refusal} onRetry={() => connection.retry()} />
        ) : refusal ? (
          <Refused refusal={refusal} onRetry={() => connection.retry()} />
        ) : (
          <Starting />
        )}
        <Dialogs />
        <Confirm />
        <Toaster />
      </TooltipProvider>
    </MayAct>
  )
}

let lastRefusal: ErrorBody | null = null

function useRefusal(connection: PageConnection): ErrorBody | null {
  return useSyncExternalStore(connection.onState, () => {
    const refusal = connection.refusal()
    // Made anew at each asking: the same refusal must stay the same object.
    if (refusal?.message !== lastRefusal?.message || (refusal === null) !== (lastRefusal === null))
      lastRefusal = refusal
    return lastRefusal
  })
}

function Refused({ refusal, onRetry }: { refusal: ErrorBody; onRetry: () => void }) {
  return (
    <main className="h-dvh">
      <EmptyState
        icon={Unplug}
        title={refusal.message}
        detail={refusal.hint}
        action={
          <Button variant="primary" onClick={onRetry}>
            Try again
          </Button>
        }
      />
    </main>
  )
}

function Starting() {
  return (
    <main className="h-dvh" aria-busy="true" aria-label="Starting">
      <Delayed after={1_000}>
        <EmptyState title="Connecting to Lathe…" detail="It starts, or is being reached." />
      </Delayed>
    </main>
  )
}

/** The bindings in force, on the whole window and before what has the focus. */
function useKeys(): void {
  const overrides = useWorkbench(({ settings }) => settings.keys)
  useEffect(() => {
    const listener = keyListener(boundCommands(overrides), (id, repeated) => {
      // A key held down decides one card, not the one that comes after it.
      if (repeated && id.startsWith('approval.')) return true
      // A dialog has the keyboard to itself, but for what opens another one in its place. An editor's find field is none.
      if (
        document.querySelector(':is([role="dialog"], [role="alertdialog"]):not(.monaco-editor *)') &&
        !/^(palette|settings|shortcuts|search|zoom|theme)\./.test(id)
      )
        return false
      return command(id)?.nativeKeys ? false : runCommand(id)
    })
    addEventListener('keydown', listener, { capture: true })
    return () => removeEventListener('keydown', listener, { capture: true })
  }, [overrides])
}

/** Shows the session of the address, else that of last time, once the list says it is still there. */
function useLastSession(): void {
  const ready = useWorkbench(({ entriesLoading }) => entriesLoading === 'ready')
  useEffect(() => {
    if (!ready || useWindow.getState().sessionId !== null) return
    const { entries } = useWorkbench.getState()
    const before = [sessionOfAddress(location.href), usePreferences.getState()['session.last']]
    const there = before.find((id) => id !== null && entries.has(id))
    if (there) showSession(there)
  }, [ready])
}

function Dialogs() {
  const dialog = useWindow((state) => state.dialog)
  if (dialog === null) return null
  switch (dialog.kind) {
    case 'palette':
      return <Palette key={dialog.mode} mode={dialog.mode} />
    case 'models':
      return <ModelDialog of={dialog.of} />
    case 'connect':
      return <ConnectDialog />
    case 'folder':
      return <FolderDialog purpose={dialog.purpose} />
    case 'undo':
      return <UndoDialog key={dialog.turnId} {...dialog} />
    case 'goBack':
      return <GoBackDialog key={dialog.itemId} {...dialog} />
    case 'deleted':
      return <DeletedDialog />
    case 'shortcuts':
      return <ShortcutSheet />
    case 'settings':
      return (
        <Suspense>
          <SettingsDialog page={dialog.page} />
        </Suspense>
      )
    case 'search':
      return <SearchDialog />
  }
}
