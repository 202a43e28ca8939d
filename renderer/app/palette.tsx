/** Dialog "Command palette": sessions and files, `>` commands, `@` files, `#` sessions, `?` help (S-115). */
import { Command as List } from 'cmdk'
import { Clock, File, SquareTerminal } from 'lucide-react'
import { type ReactNode, useLayoutEffect, useMemo, useState } from 'react'
import { flushSync } from 'react-dom'
import { useFoundFiles } from '../composer/use-found-files.ts'
import { FoundPath } from '../files/found-path.tsx'
import { Marked } from '../search/marked.tsx'
import { currentWorkspace } from '../sessions/session-actions.ts'
import { folderLabels } from '../sessions/session-groups.ts'
import { IndicatorMark, IndicatorText } from '../sessions/session-indicator.tsx'
import { usePreference } from '../state/preferences.ts'
import { openFile, type PaletteMode, showDialog, showSession } from '../state/window-store.ts'
import { useEntries, useWorkbench } from '../state/workbench-store.ts'
import { shownText } from '../transcript/shown-text.ts'
import { useMayAct } from '../ui/acting.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Kbd } from '../ui/kbd.tsx'
import { categories, type Command } from './command.ts'
import { boundCommands, commands, isOffered, runCommand } from './commands.ts'
import { fuzzyRank, type Match } from './fuzzy.ts'
import { shownKeys } from './keys.ts'

const shownMax = 60
const modes: Record<Exclude<PaletteMode, ''>, string> = {
  '>': 'Commands',
  '@': 'Files of the workspace',
  '#': 'Sessions by title',
  '?': 'What can be typed here',
}

/** Closes, lets the focus go back to where it was, and does it then: what it does may move the focus itself. */
function closeAnd(work: () => unknown): void {
  flushSync(() => showDialog(null))
  setTimeout(() => void work(), 0)
}

export function Palette({ mode: opened }: { mode: PaletteMode }) {
  const [text, setText] = useState<string>(opened)
  const [chosen, setChosen] = useState('')
  const first = text[0]
  const mode: PaletteMode = first !== undefined && first in modes ? (first as PaletteMode) : ''
  const query = (mode === '' ? text : text.slice(1)).trim()
  return (
    <Dialog open onOpenChange={() => showDialog(null)} title="Command palette" bare width={620}>
      <List
        label="Command palette"
        shouldFilter={false}
        loop
        value={chosen}
        onValueChange={setChosen}
        className="flex min-h-0 grow flex-col"
      >
        <List.Input
          value={text}
          onValueChange={setText}
          onFocus={({ currentTarget: field }) =>
            requestAnimationFrame(() => field.setSelectionRange(field.value.length, field.value.length))
          }
          placeholder="Go to a session or file, or type > for commands, ? for help"
          className="h-44 shrink-0 border-b border-line bg-transparent px-16 text-14 outline-none placeholder:text-faint"
        />
        <List.List className="min-h-0 grow overflow-y-auto overscroll-contain p-6 [scrollbar-width:thin]">
          {mode === '>' ? (
            <Commands query={query} />
          ) : mode === '?' ? (
            <Help onChoose={setText} />
          ) : (
            <Places mode={mode} query={query} chosen={chosen} onChosen={setChosen} />
          )}
        </List.List>
      </List>
    </Dialog>
  )
}

const row =
  'flex h-32 cursor-default items-center gap-8 rounded-6 px-10 text-13 text-ink select-none data-[selected=true]:bg-selected aria-disabled:text-faint'

function Group({ heading, children }: { heading: string; children: ReactNode }) {
  return (
    <List.Group
      heading={heading}
      className="[&_[cmdk-group-heading]]:px-10 [&_[cmdk-group-heading]]:pt-8 [&_[cmdk-group-heading]]:pb-4 [&_[cmdk-group-heading]]:text-11 [&_[cmdk-group-heading]]:font-medium [&_[cmdk-group-heading]]:text-faint"
    >
      {children}
    </List.Group>
  )
}

function Nothing({ children }: { children: ReactNode }) {
  return <List.Empty className="px-10 py-24 text-center text-13 text-muted">{children}</List.Empty>
}

function Commands({ query }: { query: string }) {
  const recent = usePreference('palette.recent')
  const overrides = useWorkbench(({ settings }) => settings.keys)
  const keys = useMemo(() => new Map(boundCommands(overrides).map((bound) => [bound.id, bound.keys])), [overrides])
  const mayAct = useMayAct()
  const offered = useMemo(() => commands.filter((one) => !one.keysOnly && (mayAct || isOffered(one))), [mayAct])
  if (query !== '') {
    const found = fuzzyRank(offered, query, ({ title, category }) => `${title} ${category}`, shownMax)
    return (
      <>
        <Nothing>No command has that name.</Nothing>
        {found.map(({ candidate, match }) => (
          <CommandRow key={candidate.id} command={candidate} keys={keys.get(candidate.id) ?? null} match={match} />
        ))}
      </>
    )
  }
  const recently = recent.flatMap((id) => offered.find((command) => command.id === id) ?? []).slice(0, 5)
  return (
    <>
      {recently.length > 0 && (
        <Group heading="Recent">
          {recently.map((command) => (
            <CommandRow key={command.id} command={command} keys={keys.get(command.id) ?? null} prefix="recent " />
          ))}
        </Group>
      )}
      {categories.map((category) => (
        <Group key={category} heading={category}>
          {offered
            .filter((command) => command.category === category && !recently.includes(command))
            .map((command) => (
              <CommandRow key={command.id} command={command} keys={keys.get(command.id) ?? null} />
            ))}
        </Group>
      ))}
    </>
  )
}

function CommandRow({
  command,
  keys,
  match,
  prefix = '',
}: {
  command: Command
  keys: string | null
  match?: Match
  prefix?: string
}) {
  const allowed = command.when?.() ?? true
  // The category was searched too, but only the title is marked.
  const ranges = (match?.ranges ?? []).filter(([, to]) => to <= command.title.length)
  return (
    <List.Item
      value={`${prefix}${command.id}`}
      disabled={allowed !== true}
      onSelect={() => closeAnd(() => runCommand(command.id))}
      className={row}
    >
      <span className="min-w-0 grow truncate">
        <Marked text={command.title} ranges={ranges} />
      </span>
      {allowed !== true && <span className="shrink-0 text-11 text-faint">{allowed}</span>}
      {match && <span className="shrink-0 text-11 text-faint">{command.category}</span>}
      {keys !== null && <Kbd keys={shownKeys(keys)} />}
    </List.Item>
  )
}

function Places({
  mode,
  query,
  chosen,
  onChosen,
}: {
  mode: '' | '@' | '#'
  query: string
  chosen: string
  onChosen: (value: string) => void
}) {
  const [workspace] = useState(currentWorkspace)
  const asksFiles = mode === '@' || (mode === '' && query !== '')
  const found = useFoundFiles(workspace ?? '', asksFiles ? query : null)
  const files = useMemo(
    () => found.filter(({ kind }) => kind === 'file').slice(0, mode === '@' ? shownMax : 20),
    [found, mode],
  )
  const entries = useEntries()
  const sessions = useMemo(() => {
    if (mode === '@') return []
    const newest = [...entries].sort((a, b) => b.updatedAt - a.updatedAt)
    return fuzzyRank(newest, query, ({ title }) => title, mode === '#' ? shownMax : query === '' ? 12 : 20)
  }, [entries, mode, query])
  /** As the list calls them, which it trims. */
  const values = useMemo(
    () => [
      ...sessions.map(({ candidate }) => `session ${candidate.id}`),
      ...(workspace === null ? [] : files.map(({ path }) => `file ${path}`.trim())),
    ],
    [sessions, files, workspace],
  )
  // Answers come after what was typed: one that takes the chosen place away leaves the first one chosen.
  useLayoutEffect(() => {
    if (values.length > 0 && !values.includes(chosen)) onChosen(values[0]!)
  }, [values, chosen, onChosen])
  const labels = useMemo(() => folderLabels(sessions.map(({ candidate }) => candidate.workspace)), [sessions])
  return (
    <>
      <Nothing>
        {mode === '@' && workspace === null
          ? 'Open a folder to go to its files.'
          : mode === '@'
            ? 'No file has that name.'
            : 'Nothing has that name.'}
      </Nothing>
      {sessions.length > 0 && (
        <Group heading={query === '' ? 'Recent sessions' : 'Sessions'}>
          {sessions.map(({ candidate, match }) => (
            <List.Item
              key={candidate.id}
              value={`session ${candidate.id}`}
              onSelect={() => closeAnd(() => showSession(candidate.id))}
              className={row}
            >
              <IndicatorMark indicator={candidate.indicator} />
              <bdi className="min-w-0 grow truncate">
                <Marked
                  text={shownText(candidate.title) || 'Untitled'}
                  ranges={shownText(candidate.title) === candidate.title ? match.ranges : []}
                />
              </bdi>
              <span className="max-w-140 shrink-0 truncate text-11 text-faint">{labels.get(candidate.workspace)}</span>
              <IndicatorText entry={candidate} />
            </List.Item>
          ))}
        </Group>
      )}
      {files.length > 0 && workspace !== null && (
        <Group heading="Files">
          {files.map(({ path }) => (
            <List.Item
              key={path}
              value={`file ${path}`}
              onSelect={() => closeAnd(() => openFile(workspace, path))}
              className={row}
            >
              <File size={14} strokeWidth={1.75} aria-hidden className="shrink-0 text-faint" />
              <FoundPath path={path} query={query} />
            </List.Item>
          ))}
        </Group>
      )}
    </>
  )
}

const helpIcons = { '>': SquareTerminal, '@': File, '#': Clock }

function Help({ onChoose }: { onChoose: (text: string) => void }) {
  return (
    <Group heading="Begin with">
      {(['>', '@', '#'] as const).map((prefix) => {
        const Icon = helpIcons[prefix]
        return (
          <List.Item key={prefix} value={prefix} onSelect={() => onChoose(prefix)} className={row}>
            <Icon size={14} strokeWidth={1.75} aria-hidden className="text-faint" />
            <span className="grow">{modes[prefix]}</span>
            <Kbd keys={prefix} />
          </List.Item>
        )
      })}
      <List.Item value="plain" onSelect={() => onChoose('')} className={row}>
        <span className="w-14" />
        <span className="grow">Nothing: sessions and files together</span>
      </List.Item>
    </Group>
  )
}
