import { ChevronRight, Ellipsis, FolderSearch, Plus, ShieldCheck, ShieldOff } from 'lucide-react'
import { type KeyboardEvent, memo } from 'react'
import type { Entry } from '../../preload/contract/session.ts'
import { prefer, usePreferences } from '../state/preferences.ts'
import { warmSession } from '../state/session-store.ts'
import { showSession, useWindow } from '../state/window-store.ts'
import { useSetting, useTrusted, useWorkbench } from '../state/workbench-store.ts'
import { useMayAct } from '../ui/acting.ts'
import { Button } from '../ui/button.tsx'
import { classNames } from '../ui/class-names.ts'
import { ContextMenu, DropdownMenu, MenuItem, MenuSeparator } from '../ui/menu.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { shownText } from '../transcript/shown-text.ts'
import { askForTrust, forgetWorkspace, locateFolder, newSession, withdrawTrust } from './session-actions.ts'
import type { GroupRow } from './session-groups.ts'
import { IndicatorMark, IndicatorText } from './session-indicator.tsx'
import { SessionMenu } from './session-menu.tsx'
import { TitleField } from './title-field.tsx'

/** `focusable` is the one row that Tab reaches; the arrow keys move it. */
type RowProps = { focusable: boolean; onKeyDown: (event: KeyboardEvent<HTMLElement>) => void }

export const SessionRow = memo(function SessionRow({
  entry,
  focusable,
  current,
  filed,
  onKeyDown,
}: RowProps & { entry: Entry; current: boolean; filed: boolean }) {
  const renaming = useWindow(({ renaming }) => renaming?.place === 'list' && renaming.sessionId === entry.id)
  const title = shownText(entry.title) || 'Untitled'
  const usual = useSetting('model')
  const mayAct = useMayAct()
  const preview = shownText(entry.preview).slice(0, 200)
  const strong = entry.indicator === 'unread' || entry.indicator === 'needs_you'
  return (
    <ContextMenu items={<SessionMenu entry={entry} place="list" />}>
      <div
        className={classNames(
          'group relative mx-6 flex h-30 items-center rounded-6',
          current ? 'bg-selected' : 'hover:bg-hover',
        )}
      >
        {renaming ? (
          <div className={classNames('flex grow items-center gap-6 pr-6', filed ? 'pl-22' : 'pl-8')}>
            <TitleField
              sessionId={entry.id}
              title={entry.title}
              className="h-24 text-13"
              onDone={() => useWindow.setState({ renaming: null })}
            />
          </div>
        ) : (
          <button
            type="button"
            data-row={entry.id}
            tabIndex={focusable ? 0 : -1}
            onKeyDown={onKeyDown}
            {...(focusable ? { 'data-region-focus': '' } : {})}
            aria-current={current || undefined}
            title={[title, preview === title ? '' : preview, entry.workspace, entry.model ?? usual]
              .filter(Boolean)
              .join('\n')}
            onPointerDown={({ button, pointerType }) =>
              button === 0 && pointerType === 'mouse' && warmSession(entry.id)
            }
            onClick={() => showSession(entry.id)}
            onDoubleClick={() => mayAct && useWindow.setState({ renaming: { sessionId: entry.id, place: 'list' } })}
            className={classNames(
              'ring-inside flex h-full min-w-0 grow items-center gap-6 rounded-6 pr-8 text-left',
              filed ? 'pl-6' : 'pl-8',
            )}
          >
            <IndicatorMark indicator={entry.indicator} />
            <span
              className={classNames(
                'min-w-0 grow truncate text-13',
                strong ? 'font-medium text-ink' : current ? 'text-ink' : 'text-muted group-hover:text-ink',
              )}
            >
              <bdi>{title}</bdi>
            </span>
            <span className="group-focus-within:group-hover:opacity-0 group-hover:opacity-0 group-has-[[data-state=open]]:opacity-0">
              <IndicatorText entry={entry} />
            </span>
          </button>
        )}
        {!renaming && (
          <span className="absolute right-4 opacity-0 group-hover:opacity-100 focus-within:opacity-100 has-[[data-state=open]]:opacity-100">
            <DropdownMenu
              align="end"
              trigger={<IconButton icon={Ellipsis} label={`More for ${title}`} size="small" tabIndex={-1} />}
            >
              <SessionMenu entry={entry} place="list" />
            </DropdownMenu>
          </span>
        )}
      </div>
    </ContextMenu>
  )
})

export function toggleGroup(key: string, collapsed: boolean): void {
  const others = usePreferences.getState()['list.collapsed'].filter((other) => other !== key)
  prefer({ 'list.collapsed': collapsed ? [...others, key] : others })
}

/** A workspace above its sessions: folds them, starts another, and says when its folder is gone (S-54). */
export function WorkspaceRow({ row, focusable, onKeyDown }: RowProps & { row: GroupRow }) {
  const missing = useWorkbench(
    ({ workspaces }) => row.workspace !== null && workspaces.get(row.workspace)?.state === 'missing',
  )
  const label = shownText(row.label)
  const { workspace } = row
  const mayAct = useMayAct()
  const trusted = useTrusted(workspace ?? '')
  return (
    <ContextMenu
      off={!mayAct}
      items={
        <>
          <MenuItem acts icon={Plus} onSelect={() => void newSession(workspace)}>
            New session here
          </MenuItem>
          <MenuItem icon={FolderSearch} onSelect={() => workspace !== null && void locateFolder(workspace)}>
            Folder moved…
          </MenuItem>
          {workspace !== null && (
            <MenuItem
              acts
              icon={trusted ? ShieldOff : ShieldCheck}
              onSelect={() => void (trusted ? withdrawTrust(workspace) : askForTrust(workspace))}
            >
              {trusted ? 'Stop trusting this folder' : 'Trust this folder…'}
            </MenuItem>
          )}
          <MenuSeparator />
          <MenuItem disabled={row.count > 0} onSelect={() => workspace !== null && void forgetWorkspace(workspace)}>
            Remove from the list
          </MenuItem>
        </>
      }
    >
      <div className="group mx-6 flex h-32 items-end pb-2">
        <div className="flex h-26 min-w-0 grow items-center rounded-6">
          <button
            type="button"
            data-row={row.key}
            tabIndex={focusable ? 0 : -1}
            onKeyDown={onKeyDown}
            {...(focusable ? { 'data-region-focus': '' } : {})}
            aria-expanded={!row.collapsed}
            title={workspace ?? undefined}
            onClick={() => toggleGroup(row.key, !row.collapsed)}
            className="ring-inside flex h-full min-w-0 grow items-center gap-6 rounded-6 pr-4 pl-6 text-left text-12 font-medium text-muted hover:text-ink"
          >
            <ChevronRight
              size={12}
              strokeWidth={2}
              aria-hidden
              className={classNames('shrink-0 text-faint transition-transform', !row.collapsed && 'rotate-90')}
            />
            <span className="truncate">
              <bdi>{label}</bdi>
            </span>
            {row.collapsed && <span className="figures text-11 font-normal text-faint">{row.count}</span>}
          </button>
          {missing ? (
            <Button
              acts
              variant="ghost"
              size="small"
              className="text-needs"
              onClick={() => workspace !== null && void locateFolder(workspace)}
            >
              Folder missing · Locate
            </Button>
          ) : (
            <span className="opacity-0 group-hover:opacity-100 focus-within:opacity-100">
              <IconButton
                acts
                icon={Plus}
                label={`New session in ${label}`}
                size="small"
                tabIndex={-1}
                onClick={() => void newSession(workspace)}
              />
            </span>
          )}
        </div>
      </div>
    </ContextMenu>
  )
}
