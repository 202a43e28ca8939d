/** The row of terminal tabs: chosen, named, put in order and closed, each by pointer and by key. */
import { Bot, ChevronDown, EyeOff, Plus, SquareSplitHorizontal, Trash2, X } from 'lucide-react'
import { type DragEvent, type KeyboardEvent, useState } from 'react'
import type { TerminalState } from '../../preload/contract/events.ts'
import { useCommandKeys } from '../app/commands.ts'
import { focusOnMount } from '../app/focus-on-mount.ts'
import { currentWorkspace } from '../sessions/session-actions.ts'
import { folderLabels } from '../sessions/session-groups.ts'
import { showPane } from '../state/window-store.ts'
import { shownText } from '../transcript/shown-text.ts'
import { useMayAct } from '../ui/acting.ts'
import { Badge } from '../ui/badge.tsx'
import { classNames } from '../ui/class-names.ts'
import { IconButton } from '../ui/icon-button.tsx'
import { StatusDot } from '../ui/status-dot.tsx'
import { type ExecTab, hideExec } from './exec-tabs.ts'
import { ProfileMenu } from './profile-menu.tsx'
import { closeTerminal, openTerminal, renameTerminal } from './terminal-actions.ts'
import { moveTab, showTerminalTab, splitTerminal } from './terminal-layout.ts'

/** A tab: a terminal of the person's, or a process the window looks at. */
export type Tab = TerminalState & { exec?: ExecTab }

export function asTab(exec: ExecTab): Tab {
  const { id, title, workspace } = exec
  return {
    id,
    title,
    workspace,
    folder: workspace,
    profile: '',
    program: '',
    state: 'running',
    exitCode: null,
    busy: false,
    createdAt: 0,
    exec,
  }
}

/** A process is only no longer looked at; a terminal ends. */
function closeTab(tab: Tab): void {
  if (tab.exec) hideExec(tab.id)
  else void closeTerminal(tab.id)
}

type TerminalTabsProps = {
  tabs: Tab[]
  active: Tab | undefined
  /** The one that stands beside the one in front. */
  beside: string | null
  renaming: string | null
  onRenaming: (id: string | null) => void
}

export function TerminalTabs({ tabs, active, beside, renaming, onRenaming }: TerminalTabsProps) {
  const newKeys = useCommandKeys('terminal.new')
  const hideKeys = useCommandKeys('pane.terminal')
  const workspace = active?.workspace ?? currentWorkspace()
  const mayAct = useMayAct()
  return (
    <div className="flex h-32 shrink-0 items-center gap-2 border-b border-line pr-6 pl-6">
      <TabList tabs={tabs} active={active} beside={beside} renaming={renaming} onRenaming={onRenaming} />
      <IconButton
        acts
        icon={Plus}
        label="New terminal"
        keys={newKeys}
        size="small"
        onClick={() => void openTerminal()}
      />
      {workspace !== null && mayAct && (
        <ProfileMenu
          workspace={workspace}
          onChoose={(profile) => void openTerminal(workspace, profile)}
          trigger={
            <button
              type="button"
              aria-label="New terminal with…"
              title="New terminal with…"
              className="grid h-24 w-16 shrink-0 place-items-center rounded-6 text-faint hover:bg-hover hover:text-ink opened:bg-pressed opened:text-ink"
            >
              <ChevronDown size={12} strokeWidth={1.75} aria-hidden />
            </button>
          }
        />
      )}
      <IconButton
        acts
        icon={SquareSplitHorizontal}
        label="Split terminal"
        size="small"
        disabled={!active}
        onClick={() => active && void splitTerminal(active)}
      />
      <span className="grow" />
      {active && (mayAct || active.exec) && (
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

function focusTab(id: string): void {
  requestAnimationFrame(() => document.querySelector<HTMLElement>(`[data-terminal-tab="${id}"]`)?.focus())
}

function TabList({ tabs, active, beside, renaming, onRenaming }: TerminalTabsProps) {
  const labels = folderLabels(tabs.map(({ workspace }) => workspace))
  const several = new Set(tabs.map(({ workspace }) => workspace)).size > 1
  const ids = tabs.map(({ id }) => id)
  const [dragged, setDragged] = useState<string | null>(null)
  const mayAct = useMayAct()

  const onKeyDown = (event: KeyboardEvent, index: number, tab: Tab) => {
    const steps: Record<string, number> = {
      ArrowRight: (index + 1) % tabs.length,
      ArrowLeft: (index + tabs.length - 1) % tabs.length,
      Home: 0,
      End: tabs.length - 1,
    }
    const to = tabs[steps[event.key] ?? -1]
    if (to && event.shiftKey) {
      moveTab(ids, tab.id, to.id)
      focusTab(tab.id)
    } else if (to) {
      showTerminalTab(to.id)
      focusTab(to.id)
    } else if (!mayAct && !tab.exec) return
    else if (event.key === 'F2' && !tab.exec) onRenaming(tab.id)
    else if (event.key === 'Delete') closeTab(tab)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const onDragOver = (event: DragEvent, over: string) => {
    if (dragged === null) return
    event.preventDefault()
    if (dragged !== over) moveTab(ids, dragged, over)
  }

  return (
    <div
      role="tablist"
      aria-label="Terminals"
      className="flex h-full min-w-0 items-center gap-2 overflow-x-auto [scrollbar-width:none]"
    >
      {tabs.map((tab, index) => {
        const shown = tab.id === active?.id
        if (renaming === tab.id) return <TabField key={tab.id} terminal={tab} onDone={() => onRenaming(null)} />
        return (
          <div
            key={tab.id}
            role="none"
            draggable
            onDragStart={(event) => {
              event.dataTransfer.effectAllowed = 'move'
              setDragged(tab.id)
            }}
            onDragOver={(event) => onDragOver(event, tab.id)}
            onDrop={(event) => event.preventDefault()}
            onDragEnd={() => setDragged(null)}
            className={classNames(
              'group flex h-24 shrink-0 items-center rounded-6 pr-2',
              shown
                ? 'bg-selected text-ink'
                : tab.id === beside
                  ? 'bg-hover text-ink'
                  : 'text-muted hover:bg-hover hover:text-ink',
              dragged === tab.id && 'opacity-60',
            )}
          >
            <button
              type="button"
              role="tab"
              aria-selected={shown}
              aria-keyshortcuts="Delete F2 Shift+ArrowLeft Shift+ArrowRight"
              tabIndex={shown ? 0 : -1}
              data-terminal-tab={tab.id}
              onClick={() => showTerminalTab(tab.id)}
              onDoubleClick={() => mayAct && !tab.exec && onRenaming(tab.id)}
              onAuxClick={(event) => event.button === 1 && (mayAct || tab.exec) && closeTab(tab)}
              onKeyDown={(event) => onKeyDown(event, index, tab)}
              title={shownText(tab.folder)}
              className="ring-inside flex h-full max-w-200 min-w-0 items-center gap-6 rounded-6 pr-2 pl-8 text-12"
            >
              {tab.exec && <Bot size={12} strokeWidth={1.75} aria-hidden className="shrink-0" />}
              {tab.state === 'running' && tab.busy && <StatusDot status="running" label="Busy" />}
              <bdi className="truncate">{shownText(tab.title) || 'Terminal'}</bdi>
              {several && <span className="truncate text-11 text-faint">{labels.get(tab.workspace)}</span>}
              <EndBadge tab={tab} />
            </button>
            {/* For the pointer; the keyboard has Delete and the button at the row's end. */}
            {(mayAct || tab.exec) && (
              <span
                aria-hidden
                onClick={() => closeTab(tab)}
                className={classNames(
                  'grid size-18 place-items-center rounded-4 text-faint hover:bg-pressed hover:text-ink',
                  !shown && 'opacity-0 group-hover:opacity-100',
                )}
              >
                <X size={12} strokeWidth={1.75} aria-hidden />
              </span>
            )}
          </div>
        )
      })}
    </div>
  )
}

function EndBadge({ tab: { state, exitCode } }: { tab: Tab }) {
  if (state === 'running') return null
  return (
    <Badge tone={state === 'failed' || exitCode !== 0 ? 'failed' : 'neutral'}>
      {state === 'failed' ? 'failed' : exitCode === null ? 'killed' : `exit ${exitCode}`}
    </Badge>
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
