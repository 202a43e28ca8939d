/** The region "Terminal": tabs of the host's terminals, and the one in front, with its pair beside it. */
import { SquareTerminal } from 'lucide-react'
import { lazy, Suspense, useCallback, useMemo, useState } from 'react'
import { preferences, usePreference } from '../state/preferences.ts'
import { useWorkbench } from '../state/workbench-store.ts'
import { shownText } from '../transcript/shown-text.ts'
import { Button } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorBoundary } from '../ui/error-boundary.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { useExecTabs } from './exec-tabs.ts'
import { openTerminal } from './terminal-actions.ts'
import { ordered, showTerminalTab } from './terminal-layout.ts'
import { asTab, type Tab, TerminalTabs } from './terminal-tabs.tsx'

const TerminalView = lazy(() => import('./terminal-view.tsx'))
const ExecView = lazy(() => import('./exec-view.tsx'))

export function TerminalRegion() {
  const terminals = useWorkbench((state) => state.terminals)
  const watched = useExecTabs((state) => state.tabs)
  const order = usePreference('terminal.order')
  const tabs = useMemo<Tab[]>(() => ordered([...terminals, ...watched.map(asTab)], order), [terminals, watched, order])
  const front = usePreference('terminal.front')
  const pairs = usePreference('terminal.pairs')
  const [renaming, setRenaming] = useState<string | null>(null)
  const active = tabs.find(({ id }) => id === front) ?? tabs.at(-1)
  const activeId = active?.id ?? null
  const rename = useCallback(() => setRenaming(preferences()['terminal.front']), [])
  const panes = active ? panesOf(active, tabs, pairs) : []
  return (
    <section
      aria-label="Terminal"
      data-region="terminal"
      tabIndex={-1}
      className="flex min-h-0 grow flex-col bg-canvas outline-none"
    >
      <TerminalTabs
        tabs={tabs}
        active={active}
        beside={panes.find((tab) => tab !== active)?.id ?? null}
        renaming={renaming}
        onRenaming={setRenaming}
      />
      {active ? (
        <div className="flex min-h-0 grow divide-x divide-line">
          {panes.map((tab) => (
            <div
              key={tab.id}
              role="tabpanel"
              aria-label={shownText(tab.title)}
              className="flex min-h-0 min-w-0 grow basis-0 flex-col"
              onFocusCapture={() => tab.id !== activeId && showTerminalTab(tab.id)}
            >
              <ErrorBoundary pane="Terminal" resetKey={tab.id}>
                <Suspense fallback={<Skeleton label="Starting the terminal" lines={[0.3, 0.2]} />}>
                  {tab.exec ? (
                    <ExecView tab={tab.exec} active={tab.id === activeId} />
                  ) : (
                    <TerminalView terminal={tab} onRename={rename} active={tab.id === activeId} />
                  )}
                </Suspense>
              </ErrorBoundary>
            </div>
          ))}
        </div>
      ) : (
        <EmptyState
          icon={SquareTerminal}
          title="No terminal is open"
          detail="Yours alone: the agent runs its commands elsewhere and never types here."
          action={
            <Button acts size="small" onClick={() => void openTerminal()}>
              New terminal
            </Button>
          }
        />
      )}
    </section>
  )
}

/** The one in front, and the one that stands beside it. */
function panesOf(active: Tab, tabs: readonly Tab[], pairs: readonly (readonly [string, string])[]): Tab[] {
  const pair = pairs.find((ids) => ids.includes(active.id)) ?? []
  const shown = pair.flatMap((id) => tabs.find((tab) => tab.id === id) ?? [])
  return shown.length === 2 ? shown : [active]
}
