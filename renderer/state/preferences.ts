/**
 * Where things were left: pane sizes, open panes, folded groups, recent commands. Kept by the host, written at most
 * every 400 ms, never in the page's own storage. Each window reads them at start; folding is shared live, layout is not,
 * since two windows of different size may not push each other around.
 */
import { create } from 'zustand'
import { z } from 'zod'
import { act, type Client } from './link.ts'
import { isWatching } from './workbench-store.ts'

const inspectorTabs = ['changes', 'plan', 'files', 'context'] as const
export type InspectorTab = (typeof inspectorTabs)[number]

const Preferences = z.object({
  'panes.list': z.boolean().catch(true),
  'panes.inspector': z.boolean().catch(true),
  'panes.terminal': z.boolean().catch(false),
  /** Pixels. */
  'panes.listWidth': z.number().min(160).max(800).catch(264),
  'panes.inspectorWidth': z.number().min(200).max(2_000).catch(440),
  'panes.terminalHeight': z.number().min(80).max(2_000).catch(260),
  /** Ids of terminals as their tabs were put, those in pairs that stand side by side, and the one in front. */
  'terminal.order': z.array(z.string()).max(100).catch([]),
  'terminal.pairs': z
    .array(z.tuple([z.string(), z.string()]))
    .max(50)
    .catch([]),
  'terminal.front': z.string().nullable().catch(null),
  'inspector.tab': z.enum(inspectorTabs).catch('changes'),
  'list.collapsed': z.array(z.string()).catch([]),
  'list.grouping': z.enum(['workspace', 'time']).catch('workspace'),
  'palette.recent': z.array(z.string()).catch([]),
  'models.recent': z.array(z.string()).catch([]),
  'files.showIgnored': z.boolean().catch(false),
  'changes.style': z.enum(['auto', 'unified', 'split']).catch('auto'),
  'changes.wrap': z.boolean().catch(false),
  'changes.hideWhitespace': z.boolean().catch(false),
  'session.last': z.string().nullable().catch(null),
  'onboarding.done': z.boolean().catch(false),
  'links.trusted': z.array(z.string()).catch([]),
})
type Preferences = z.infer<typeof Preferences>

export const defaultPreferences: Preferences = Preferences.parse({})
const shared = ['list.collapsed', 'list.grouping', 'palette.recent', 'models.recent', 'links.trusted'] as const

export const usePreferences = create<Preferences>()(() => defaultPreferences)

export function preferences(): Preferences {
  return usePreferences.getState()
}

export function usePreference<Key extends keyof Preferences>(key: Key): Preferences[Key] {
  return usePreferences((preferences) => preferences[key])
}

const writeEveryMs = 400
let client: Client | undefined
let unwritten: Partial<Preferences> = {}
let timer: ReturnType<typeof setTimeout> | undefined

/** Reads what was kept. Without an answer the defaults stand and changes are still written later. */
export async function loadPreferences(from: Client): Promise<void> {
  client = from
  const kept = await from.settings.preferences().catch(() => ({}))
  usePreferences.setState({ ...Preferences.parse(kept), ...unwritten })
}

export function prefer(changes: Partial<Preferences>): void {
  usePreferences.setState(changes)
  Object.assign(unwritten, changes)
  timer ??= setTimeout(() => void writePreferences(), writeEveryMs)
}

/** Writes what is waiting now: also called when the page is left. What could not be written waits for the next change. */
export async function writePreferences(): Promise<void> {
  clearTimeout(timer)
  timer = undefined
  // Who only watches arranges this window alone.
  if (!client || isWatching() || Object.keys(unwritten).length === 0) return
  const writing = unwritten
  unwritten = {}
  try {
    await client.settings.setPreferences({ ...act(), preferences: writing })
  } catch {
    unwritten = { ...writing, ...unwritten }
  }
}

/** Another window's change: what is shared is taken, the layout is left. */
export function takeSharedPreferences(kept: Record<string, unknown>): void {
  const parsed = Preferences.parse(kept)
  const taken: Partial<Preferences> = {}
  for (const key of shared) if (key in kept && !(key in unwritten)) Object.assign(taken, { [key]: parsed[key] })
  usePreferences.setState(taken)
}

/** Puts `item` first in a list of recent ones, at most `most` long. */
export function withRecent(recent: readonly string[], item: string, most = 20): string[] {
  return [item, ...recent.filter((other) => other !== item)].slice(0, most)
}
