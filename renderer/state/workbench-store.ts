/**
 * What the window knows of the workbench as a whole: sessions, workspaces, settings, models, rules, terminals, the host
 * itself. Filled by subscribing first and reading the lists then, so nothing falls between; every event carries the whole
 * value of what it names, so applying one twice changes nothing (T-215).
 */
import { create } from 'zustand'
import { useShallow } from 'zustand/react/shallow'
import type { Browser } from '../../preload/contract/browsers.ts'
import type { TerminalState, WorkbenchEvent, Workspace } from '../../preload/contract/events.ts'
import { listPageMax } from '../../preload/contract/limits.ts'
import type { Rule } from '../../preload/contract/items.ts'
import type { HostInfo } from '../../preload/contract/workbench-routes.ts'
import type { ProviderEntry } from '../../preload/contract/model-routes.ts'
import type { Entry, Indicator } from '../../preload/contract/session.ts'
import { defaultSettings, type Settings } from '../../preload/contract/settings.ts'
import { isFolderTrusted } from '../../preload/contract/trust.ts'
import { noUpdate, type Update } from '../../preload/contract/update.ts'
import type { ErrorBody } from '../../preload/contract/errors.ts'
import { act, type Client, failure, type Link, type LinkState } from './link.ts'

export type Loading = 'loading' | 'ready' | ErrorBody

interface WorkbenchState {
  link: LinkState
  /** Since when the connection is not there, epoch milliseconds; null while it is. */
  lostAt: number | null
  info: HostInfo | null
  host: Extract<WorkbenchEvent, { type: 'host.changed' }> | null
  /** Who signed in to the web host; to a window that only watches, itself alone. */
  browsers: Browser[]
  update: Update
  /** The same map all along, filled in place; `entriesRev` rises with every change of it. */
  entries: Map<string, Entry>
  entriesRev: number
  entriesLoading: Loading
  /** Whether archived sessions have been asked for; they come only then. */
  archivedLoaded: boolean
  workspaces: Map<string, Workspace>
  settings: Settings
  providers: ProviderEntry[]
  providersLoading: Loading
  rules: Rule[]
  terminals: TerminalState[]
  /** Latest change in a workspace's files: what shows files compares `rev` and reads again. */
  filesChanged: Map<string, { rev: number; paths: string[] | 'rescan' }>
}

const initial: WorkbenchState = {
  link: 'connecting',
  lostAt: null,
  info: null,
  host: null,
  browsers: [],
  update: noUpdate,
  entries: new Map(),
  entriesRev: 0,
  entriesLoading: 'loading',
  archivedLoaded: false,
  workspaces: new Map(),
  settings: defaultSettings,
  providers: [],
  providersLoading: 'loading',
  rules: [],
  terminals: [],
  filesChanged: new Map(),
}

export const useWorkbench = create<WorkbenchState>()(() => ({ ...initial, entries: new Map() }))
const { getState, setState } = useWorkbench

/** Applies one event of `host.watch`. Those of other rooms (preferences, notifications) pass through untouched. */
export function applyWorkbenchEvent(event: WorkbenchEvent): void {
  const state = getState()
  switch (event.type) {
    case 'entry.put':
      state.entries.set(event.entry.id, event.entry)
      touched.add(event.entry.id)
      setState({ entriesRev: state.entriesRev + 1 })
      return
    case 'entry.removed':
      touched.add(event.id)
      if (state.entries.delete(event.id)) setState({ entriesRev: state.entriesRev + 1 })
      return
    case 'settings.changed':
      setState({ settings: { ...state.settings, ...(event.settings as Partial<Settings>) } })
      return
    case 'workspace.changed':
      setState({ workspaces: new Map(state.workspaces).set(event.workspace.path, event.workspace) })
      return
    case 'rules.changed':
      setState({ rules: event.rules })
      return
    case 'terminal.changed': {
      const { terminal, removed } = event
      const others = state.terminals.filter(({ id }) => id !== (terminal?.id ?? removed))
      if (!terminal) return setState({ terminals: others })
      // In the order they were opened, which is the order of their ids.
      return setState({ terminals: [...others, terminal].sort(byAge) })
    }
    case 'models.changed':
      void loadProviders()
      return
    case 'notification.put':
    case 'notification.removed':
    case 'preferences.changed':
      return
    case 'browsers.changed':
      setState({ browsers: event.browsers })
      return
    case 'host.changed':
      setState({ host: event })
      return
    case 'update.changed':
      setState({ update: event.update })
      return
    case 'files.changed': {
      const rev = (state.filesChanged.get(event.workspace)?.rev ?? 0) + 1
      setState({ filesChanged: new Map(state.filesChanged).set(event.workspace, { rev, paths: event.paths }) })
      return
    }
  }
}

/** Ids that events named since the lists were last asked for: what they say is newer than the lists. */
const touched = new Set<string>()
let client: Client | undefined

/** Reads all that stands beside the session list, each by itself, so that one failure leaves the others. */
async function loadLists(from: Client): Promise<void> {
  const put = <T>(reading: Promise<T>, apply: (value: T) => void) => reading.then(apply, () => {})
  await Promise.all([
    // The window is drawn once `info` is there: by then it must know the folders, or "New session" would ask for one, and
    // the settings, or it would change under the eye.
    put(
      Promise.all([from.host.info(), from.workspaces.list().catch(() => null), from.settings.get().catch(() => null)]),
      ([info, list, settings]) =>
        setState({
          info,
          ...(list && { workspaces: new Map(list.map((workspace) => [workspace.path, workspace])) }),
          ...(settings && { settings }),
        }),
    ),
    put(from.host.update(), (update) => setState({ update })),
    put(from.browsers.list(), (browsers) => setState({ browsers })),
    put(from.approvals.rules(), (rules) => setState({ rules })),
    put(from.terminals.list(), (list) => setState({ terminals: list.sort(byAge) })),
    loadProviders(),
    loadEntries(from, false),
    ...(getState().archivedLoaded ? [loadEntries(from, true)] : []),
  ])
}

/** Pages through the sessions by key (S-50). Ends with what is no longer listed taken out. */
async function loadEntries(from: Client, archived: boolean): Promise<void> {
  const listed = new Set<string>()
  let before: { updatedAt: number; id: string } | undefined
  try {
    for (;;) {
      const { entries, more } = await from.sessions.list({
        limit: listPageMax,
        ...(archived ? { archived } : {}),
        ...(before ? { before } : {}),
      })
      const state = getState()
      for (const entry of entries) {
        listed.add(entry.id)
        if (!touched.has(entry.id)) state.entries.set(entry.id, entry)
      }
      setState({ entriesRev: state.entriesRev + 1, entriesLoading: 'ready' })
      const last = entries.at(-1)
      if (!more || !last) break
      before = { updatedAt: last.updatedAt, id: last.id }
    }
    const { entries } = getState()
    for (const [id, entry] of entries)
      if ((entry.archivedAt !== null) === archived && !listed.has(id) && !touched.has(id)) entries.delete(id)
    setState((state) => ({ entriesRev: state.entriesRev + 1, ...(archived ? { archivedLoaded: true } : {}) }))
  } catch (thrown) {
    if (getState().entries.size === 0) setState({ entriesLoading: failure(thrown) })
  }
}

let providersAsked = 0

/** Reads the model list; of answers that overtake each other only that of the latest asking counts. */
export async function loadProviders(refresh = false): Promise<void> {
  if (!client) return
  const asked = ++providersAsked
  try {
    const providers = await client.models.list(refresh ? { refresh } : {})
    if (asked === providersAsked) setState({ providers, providersLoading: 'ready' })
  } catch (thrown) {
    if (asked === providersAsked) setState({ providersLoading: failure(thrown) })
  }
}

export function loadArchived(): void {
  if (client && !getState().archivedLoaded) void loadEntries(client, true)
}

export function reloadEntries(): void {
  if (!client) return
  setState({ entriesLoading: 'loading' })
  void loadEntries(client, false)
}

/** Binds the store to a connection until `signal` aborts. `onEvent` sees every event after it was applied. */
export function startWorkbench(link: Link, signal: AbortSignal, onEvent: (event: WorkbenchEvent) => void): void {
  client = link.client
  const follow = () => {
    const state = link.state()
    setState({ link: state, lostAt: state === 'connected' ? null : (getState().lostAt ?? Date.now()) })
  }
  follow()
  signal.addEventListener('abort', link.onState(follow))
  link.read<WorkbenchEvent>(
    (stream, ending) => link.client.host.watch({ stream }, { signal: ending }),
    {
      opened: () => {
        touched.clear()
        void loadLists(link.client)
      },
      frame: (event) => {
        applyWorkbenchEvent(event)
        onEvent(event)
      },
    },
    signal,
  )
}

/** Changes settings; they show at once through `settings.changed`. Throws what the host refuses, the old value kept (S-123). */
export async function changeSettings(settings: Partial<Settings>): Promise<void> {
  if (!client) return
  setState({ settings: await client.settings.set({ ...act(), settings }) })
}

/** Looks for a newer version of Lathe; what is found shows through `update.changed`. */
export async function lookForUpdate(): Promise<void> {
  if (client) setState({ update: await client.host.lookForUpdate() })
}

/** Throws `turn.busy` for `now` while something runs. */
export async function installUpdate(when: 'now' | 'quit'): Promise<void> {
  await client?.host.installUpdate({ ...act(), when })
}

export function useEntry(id: string | null): Entry | undefined {
  return useWorkbench((state) => (id === null ? undefined : state.entries.get(id)))
}

let list: { rev: number; of: Map<string, Entry>; entries: readonly Entry[] } | undefined

/** All entries known, archived ones too; the same array until one changes. */
function entryList({ entries, entriesRev }: WorkbenchState = getState()): readonly Entry[] {
  if (list?.rev !== entriesRev || list.of !== entries)
    list = { rev: entriesRev, of: entries, entries: [...entries.values()] }
  return list.entries
}

export function useEntries(): readonly Entry[] {
  return useWorkbench(entryList)
}

/** Whether leaving now would stop anything. */
export function useSomethingRuns(): boolean {
  return useWorkbench(
    (all) =>
      entryList(all).some(({ runningSince, execRunning }) => runningSince !== null || execRunning > 0) ||
      all.terminals.some(({ busy, state }) => busy && state === 'running'),
  )
}

export function useSetting<Key extends keyof Settings>(key: Key): Settings[Key] {
  return useWorkbench((state) => state.settings[key])
}

export function useWorkspaces(): Workspace[] {
  return useWorkbench(useShallow((state) => [...state.workspaces.values()]))
}

/** Indicators that ask for a person: what badge, tray and title count, computed from the list and never counted (S-120). */
const calling: ReadonlySet<Indicator> = new Set(['needs_you', 'interrupted', 'failed', 'unread'])

export function callingCount(entries: Iterable<Entry>): number {
  let count = 0
  for (const entry of entries) if (entry.archivedAt === null && calling.has(entry.indicator)) count += 1
  return count
}

function byAge(a: TerminalState, b: TerminalState): number {
  return a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)
}

/** Whether the host lets this window read and stream, and nothing else (S-31). */
export function isWatching({ info, browsers }: Pick<WorkbenchState, 'info' | 'browsers'> = getState()): boolean {
  const own = browsers.find(({ id }) => id === info?.browser?.id) ?? info?.browser
  return own?.rights === 'watch'
}

/** Whether turns in a folder may do more than read, and its instructions count (Z-4). */
export function useTrusted(folder: string): boolean {
  return useWorkbench(({ workspaces }) => isFolderTrusted(folder, (path) => workspaces.get(path)?.trusted))
}
