/** The region "Terminal": tabs of the host's terminals, and the one in front. */
import { Bot, ChevronDown, EyeOff, Plus, SquareSplitHorizontal, SquareTerminal, Trash2, X } from 'lucide-react'
import { type KeyboardEvent, lazy, Suspense, useCallback, useMemo, useState } from 'react'
import type { TerminalState } from '../../preload/contract/events.ts'
import { useCommandKeys } from '../app/commands.ts'
import { focusOnMount } from '../app/focus-on-mount.ts'
import { folderLabels } from '../sessions/session-groups.ts'
import { shownText } from '../transcript/shown-text.ts'
import { showPane, useWindow } from '../state/window-store.ts'
import { useWorkbench } from '../state/workbench-store.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { classNames } from '../ui/class-names.ts'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorBoundary } from '../ui/error-boundary.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { StatusDot } from '../ui/status-dot.tsx'
import { type ExecTab, hideExec, useExecTabs } from './exec-tabs.ts'
import { splitTerminal, useSplits } from './splits.ts'
import { closeTerminal, openTerminal, renameTerminal } from './terminal-actions.ts'

const TerminalView = lazy(() => import('./terminal-view.tsx'))
const ExecView = lazy(() => import('./exec-view.tsx'))

/** A tab: a terminal of the person's, or a process the window looks at. */
type Tab = TerminalState & { exec?: ExecTab }

export function TerminalRegion() {
  const terminals = useWorkbench((state) => state.terminals)
  const watched = useExecTabs((state) => state.tabs)
  const tabs = useMemo<Tab[]>(() => [...terminals, ...watched.map(asTab)], [terminals, watched])
  const chosen = useWindow((state) => state.terminalId)
  const [renaming, setRenaming] = useState<string | null>(null)
  const active = tabs.find(({ id }) => id === chosen) ?? tabs.at(-1)
  const activeId = active?.id ?? null
  const rename = useCallback(() => setRenaming(useWindow.getState().terminalId), [])
  const pairs = useSplits((state) => state.pairs)
  const pair = pairs.find((ids) => ids.some((id) => id === activeId))
  const shown = active ? (pair?.map((id) => tabs.find((tab) => tab.id === id)).filter((tab) => tab) ?? []) : []
  const panes = active && shown.length === 2 ? (shown as Tab[]) : active ? [active] : []
  return (
    <section
      aria-label="Terminal"
      data-region="terminal"
      tabIndex={-1}
      className="flex min-h-0 grow flex-col bg-canvas outline-none"
    >
      <TabRow terminals={tabs} active={active} renaming={renaming} onRenaming={setRenaming} />
      {active ? (
        <div className="flex min-h-0 grow divide-x divide-line">
          {panes.map((tab) => (
            <div
              key={tab.id}
              role="tabpanel"
              aria-label={shownText(tab.title)}
              className="flex min-h-0 min-w-0 grow basis-0 flex-col"
              onFocusCapture={() => tab.id !== activeId && useWindow.setState({ terminalId: tab.id })}
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
            <Button size="small" onClick={() => void openTerminal()}>
              New terminal
            </Button>
          }
        />
      )}
    </section>
  )
}

function asTab(exec: ExecTab): Tab {
  const { id, title, workspace } = exec
  return { id, title, workspace, state: 'running', exitCode: null, busy: false, createdAt: 0, exec }
}

/** A process is only no longer looked at; a terminal ends. */
function closeTab(tab: Tab): void {
  if (tab.exec) hideExec(tab.id)
  else void closeTerminal(tab.id)
}

type TabRowProps = {
  terminals: Tab[]
  active: Tab | undefined
  renaming: string | null
  onRenaming: (id: string | null) => void
}

function TabRow({ terminals, active, renaming, onRenaming }: TabRowProps) {
  const newKeys = useCommandKeys('terminal.new')
  const hideKeys = useCommandKeys('pane.terminal')
  const labels = folderLabels(terminals.map(({ workspace }) => workspace))
  const several = new Set(terminals.map(({ workspace }) => workspace)).size > 1
  const show = (index: number) => {
    const next = terminals[(index + terminals.length) % terminals.length]
    if (!next) return
    useWindow.setState({ terminalId: next.id })
    requestAnimationFrame(() => document.querySelector<HTMLElement>(`[data-terminal-tab="${next.id}"]`)?.focus())
  }
  const onKeyDown = (event: KeyboardEvent, index: number, tab: Tab) => {
    const steps: Record<string, number> = {
      ArrowRight: index + 1,
      ArrowLeft: index - 1,
      Home: 0,
      End: terminals.length - 1,
    }
    const to = steps[event.key]
    if (to !== undefined) show(to)
    else if (event.key === 'F2' && !tab.exec) onRenaming(tab.id)
    else if (event.key === 'Delete') closeTab(tab)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div className="flex h-32 shrink-0 items-center gap-2 border-b border-line pr-6 pl-6">
      <div
        role="tablist"
        aria-label="Terminals"
        className="flex h-full min-w-0 items-center gap-2 overflow-x-auto [scrollbar-width:none]"
      >
        {terminals.map((terminal, index) => {
          const shown = terminal.id === active?.id
          const title = shownText(terminal.title) || 'Terminal'
          if (renaming === terminal.id)
            return <TabField key={terminal.id} terminal={terminal} onDone={() => onRenaming(null)} />
          return (
            <div
              key={terminal.id}
              role="none"
              className={classNames(
                'group flex h-24 shrink-0 items-center rounded-6 pr-2',
                shown ? 'bg-selected text-ink' : 'text-muted hover:bg-hover hover:text-ink',
              )}
            >
              <button
                type="button"
                role="tab"
                aria-selected={shown}
                aria-keyshortcuts="Delete F2"
                tabIndex={shown ? 0 : -1}
                data-terminal-tab={terminal.id}
                onClick={() => useWindow.setState({ terminalId: terminal.id })}
                onDoubleClick={() => !terminal.exec && onRenaming(terminal.id)}
                onAuxClick={(event) => event.button === 1 && closeTab(terminal)}
                onKeyDown={(event) => onKeyDown(event, index, terminal)}
                title={terminal.workspace}
                className="ring-inside flex h-full max-w-200 min-w-0 items-center gap-6 rounded-6 pr-2 pl-8 text-12"
              >
                {terminal.exec && <Bot size={12} strokeWidth={1.75} aria-hidden className="shrink-0" />}
                {terminal.state === 'running' && terminal.busy && <StatusDot status="running" label="Busy" />}
                <bdi className="truncate">{title}</bdi>
                {several && <span className="truncate text-11 text-faint">{labels.get(terminal.workspace)}</span>}
                {terminal.state !== 'running' && (
                  <Badge tone={terminal.state === 'failed' || terminal.exitCode !== 0 ? 'failed' : 'neutral'}>
                    {terminal.state === 'failed' ? 'failed' : `exit ${terminal.exitCode ?? '?'}`}
                  </Badge>
                )}
              </button>
              {/* For the pointer; the keyboard has Delete and the button at the row's end. */}
              <span
                aria-hidden
                onClick={() => closeTab(terminal)}
                className={classNames(
                  'grid size-18 place-items-center rounded-4 text-faint hover:bg-pressed hover:text-ink',
                  !shown && 'opacity-0 group-hover:opacity-100',
                )}
              >
                <X size={12} strokeWidth={1.75} aria-hidden />
              </span>
            </div>
          )
        })}
      </div>
      <IconButton icon={Plus} label="New terminal" keys={newKeys} size="small" onClick={() => void openTerminal()} />
      <IconButton
        icon={SquareSplitHorizontal}
        label="Split terminal"
        size="small"
        disabled={!active}
        onClick={() => active && void splitTerminal(active)}
      />
      <span className="grow" />
      {active && (
        <IconButton
          icon={active.exec ? EyeOff : Trash2}
          label={active.exec ? 'No longer look at it' : 'Close terminal'}
          size="small"
          onClick={() => closeTab(active)}
        />
      )}
      <IconButton
        icon={ChevronDown}
        label="Hide terminals"
        keys={hideKeys}
        size="small"
        onClick={() => showPane('terminal', false)}
      />
    </div>
  )
}

function TabField({ terminal, onDone }: { terminal: TerminalState; onDone: () => void }) {
  return (
    <input
      ref={focusOnMount}
      aria-label="Terminal name"
      defaultValue={terminal.title}
      maxLength={100}
      onFocus={(event) => event.currentTarget.select()}
      onBlur={(event) => {
        if (event.currentTarget.dataset['kept'] !== 'no') void renameTerminal(terminal.id, event.currentTarget.value)
        onDone()
      }}
      onKeyDown={(event) => {
        event.stopPropagation()
        if (event.key === 'Escape') event.currentTarget.dataset['kept'] = 'no'
        if (event.key === 'Enter' || event.key === 'Escape') event.currentTarget.blur()
      }}
      className="h-24 w-140 shrink-0 rounded-6 border border-line-control bg-field px-6 text-12 outline-2 -outline-offset-1 outline-focus"
    />
  )
}
