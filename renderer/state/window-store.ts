/** What this window looks at: the session, the open dialog, the file in the inspector, panes drawn over a narrow window. */
import { create } from 'zustand'
import type { ReactNode } from 'react'
import type { Parent } from '../../preload/contract/session.ts'
import { addressOfSession, type settingsPages } from '../../preload/contract/shell.ts'
import { client } from './link.ts'
import type { Message } from './session-controller.ts'
import { type InspectorTab, prefer, usePreferences } from './preferences.ts'

export type PaletteMode = '' | '>' | '@' | '#' | '?'
export type SettingsPage = (typeof settingsPages)[number]

type OpenDialog =
  | { kind: 'palette'; mode: PaletteMode }
  | { kind: 'settings'; page: SettingsPage }
  | { kind: 'search' }
  | { kind: 'shortcuts' }
  | { kind: 'deleted' }
  | { kind: 'models'; of?: 'session' | 'default' }
  | { kind: 'connect' }
  | { kind: 'undo'; sessionId: string; turnId: string; redo: boolean; andLater?: boolean }
  | ({ kind: 'goBack' } & GoBack)
  | { kind: 'folder'; purpose: FolderPurpose }

/** What a folder is chosen for: to work in, in place of one that is `missing`, or for a session to reach too (F-104). */
export type FolderPurpose = { do: 'open' } | { do: 'locate'; missing: string } | { do: 'add'; sessionId: string }

/** Going back to before a message whose turns changed files: with them or without is for the person to say (S-80). */
export type GoBack = {
  sessionId: string
  /** The message, the opening one of this turn. */
  itemId: string
  turnId: string
  /** What it is for: delete from here, say it differently, or undo with the words back in the composer. */
  purpose: 'delete' | 'edit' | 'undo'
  /** The message as it is now: sent instead for `edit`, put into the composer for `undo`. */
  message: Message
}

/** A question put before something happens; the promise settles with the answer. */
export interface Asking {
  title: string
  description: ReactNode
  confirm: string
  /** What not doing it is called, where "Cancel" says too little. */
  cancel?: string
  danger?: boolean
  /** A yes gives something more power, such as trust: it does not stand out. */
  grants?: boolean
  /** A box to tick, such as "Do not ask again in this terminal"; `ticked` hears of it together with a yes. */
  option?: { label: string; ticked: () => void }
  /** Another way to go on, which `choose` tells apart. */
  other?: string
  answer: (said: Said) => void
}
export type Said = 'yes' | 'other' | 'no'

export interface ShownFile {
  workspace: string
  path: string
  line?: number
  /** From 1, in UTF-16 units. */
  column?: number
  /** Rises with each opening, so that opening the same line again scrolls to it again. */
  opened: number
}

interface WindowState {
  sessionId: string | null
  /** An item to bring into view once its session is open (search hit, notification, link). */
  target: { sessionId: string; itemId: string; words?: string[]; keepFocus?: boolean } | null
  dialog: OpenDialog | null
  asking: Asking | null
  /** Panes floating over a narrow window; at most one. */
  overlay: 'list' | 'inspector' | null
  file: ShownFile | null
  /** The session whose title is being edited, and where. */
  renaming: { sessionId: string; place: 'list' | 'title' } | null
  width: number
}

export const useWindow = create<WindowState>()(() => ({
  sessionId: null,
  target: null,
  dialog: null,
  asking: null,
  overlay: null,
  file: null,
  renaming: null,
  width: typeof innerWidth === 'number' ? innerWidth : 1_200,
}))
const { getState, setState } = useWindow

/** Below 900 px side panes float; below 600 px there is one column (S-176). */
export type Frame = 'wide' | 'medium' | 'narrow'
export function frameOf(width: number): Frame {
  return width >= 900 ? 'wide' : width >= 600 ? 'medium' : 'narrow'
}
export function useFrame(): Frame {
  return useWindow((state) => frameOf(state.width))
}

export function showDialog(dialog: OpenDialog | null): void {
  setState({ dialog })
}

/** Asks; answers whether the person said yes. */
export async function ask(question: Omit<Asking, 'answer' | 'other'>): Promise<boolean> {
  return (await choose(question)) === 'yes'
}

/** Asks where there are two ways to go on. A second question answers the first with no. */
export function choose(question: Omit<Asking, 'answer'>): Promise<Said> {
  getState().asking?.answer('no')
  return new Promise((resolve) => {
    setState({
      asking: {
        ...question,
        answer: (said) => {
          setState({ asking: null })
          resolve(said)
        },
      },
    })
  })
}

export function showSession(sessionId: string | null, target?: { itemId: string; words?: string[] }): void {
  setState({ sessionId, overlay: null, target: sessionId && target ? { sessionId, ...target } : null })
  // In the address too, so that this window shows it again after a reload or a crash, whatever others show (S-121).
  history.replaceState(null, '', `${location.pathname}${location.search}${addressOfSession(sessionId)}`)
  prefer({ 'session.last': sessionId })
}

/** What a subagent does, for as long as somebody looks: the window stays the session's that asked for it. */
export function showSubagent(sessionId: string): void {
  setState({ sessionId, overlay: null, target: null })
}

/** Back to where the subagent's card stands. */
export function showParent({ sessionId, itemId }: Pick<Parent, 'sessionId' | 'itemId'>): void {
  setState({ sessionId, overlay: null, target: { sessionId, itemId } })
}

const panePreference = { list: 'panes.list', inspector: 'panes.inspector', terminal: 'panes.terminal' } as const
type PaneName = keyof typeof panePreference

export function paneShown(pane: PaneName): boolean {
  const seen = getState()
  if (pane !== 'terminal' && frameOf(seen.width) !== 'wide') return seen.overlay === pane
  return usePreferences.getState()[panePreference[pane]]
}

export function usePaneShown(pane: PaneName): boolean {
  const floats = useFrame() !== 'wide' && pane !== 'terminal'
  const overlaid = useWindow((state) => state.overlay === pane)
  const preferred = usePreferences((preferences) => preferences[panePreference[pane]])
  return floats ? overlaid : preferred
}

export function showPane(pane: PaneName, shown: boolean): void {
  if (pane !== 'terminal' && frameOf(getState().width) !== 'wide') setState({ overlay: shown ? pane : null })
  else prefer({ [panePreference[pane]]: shown })
}

export function showInspector(tab: InspectorTab): void {
  prefer({ 'inspector.tab': tab })
  showPane('inspector', true)
}

/** Shows a workspace file in the tab Files, at a place if one is given. Paths are as the files room takes them. */
export function openFile(workspace: string, path: string, place: { line?: number; column?: number } = {}): void {
  setState({ file: { workspace, path, ...place, opened: Date.now() } })
  showInspector('files')
}

const openable = new Set(['http:', 'https:', 'mailto:'])

/** Opens a link outside, after the person saw its host once (Z-196). What is no web or mail link is not opened. */
export async function openLink(url: string): Promise<void> {
  const parsed = URL.canParse(url) ? new URL(url) : null
  if (!parsed || !openable.has(parsed.protocol)) return
  const host = parsed.protocol === 'mailto:' ? `mail to ${parsed.pathname}` : parsed.host
  const trusted = usePreferences.getState()['links.trusted']
  if (!trusted.includes(host)) {
    const yes = await ask({ title: `Open ${host}?`, description: parsed.href, confirm: 'Open link' })
    if (!yes) return
    prefer({ 'links.trusted': [host, ...trusted].slice(0, 200) })
  }
  await client().host.openExternal({ url: parsed.href })
}
