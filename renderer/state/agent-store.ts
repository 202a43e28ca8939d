/** Agents that can be chosen, by folder. They are files: read when a session is shown, and again when somebody looks. */
import { useEffect } from 'react'
import { create } from 'zustand'
import type { AgentEntry } from '../../preload/contract/agents.ts'
import { client } from './link.ts'
import { useView } from './session-store.ts'
import { useTrusted, useWorkbench } from './workbench-store.ts'

const none: readonly AgentEntry[] = []

const useStore = create<{ byFolder: ReadonlyMap<string, readonly AgentEntry[]> }>()(() => ({ byFolder: new Map() }))

/** Reads them again; what is known stays where that fails. `folder` is empty for the person's own alone. */
export async function loadAgents(folder: string): Promise<readonly AgentEntry[]> {
  const found = await client()
    .agents.list({ workspace: folder === '' ? null : folder })
    .catch(() => null)
  if (found) useStore.setState(({ byFolder }) => ({ byFolder: new Map(byFolder).set(folder, found) }))
  return useStore.getState().byFolder.get(folder) ?? none
}

/**
 * What can be chosen in a folder, as it was read last; read anew with the folder, its files, its trust, and a return
 * to the window.
 */
export function useAgents(folder: string): readonly AgentEntry[] {
  const changed = useWorkbench(({ filesChanged }) => {
    const last = filesChanged.get(folder)
    return last && (last.paths === 'rescan' || last.paths.some((path) => path.startsWith('.lathe/'))) ? last.rev : 0
  })
  const trusted = useTrusted(folder)
  useEffect(() => {
    const load = () => void loadAgents(folder)
    addEventListener('focus', load)
    return () => removeEventListener('focus', load)
  }, [folder])
  useEffect(() => {
    void loadAgents(folder)
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- what happens to the files and to trust asks again
  }, [folder, changed, trusted])
  return useKnownAgents(folder)
}

/** The same, for what is shown beside something that reads them. */
export function useKnownAgents(folder: string): readonly AgentEntry[] {
  return useStore(({ byFolder }) => byFolder.get(folder) ?? none)
}

/** The one a session's next turn is done by; null for the built-in one, or where its file is not known. */
export function useChosenAgent(sessionId: string): AgentEntry | null {
  const name = useView(sessionId, ({ header }) => header.agent ?? null, null)
  const folder = useView(sessionId, ({ header }) => header.workspace, '')
  return useStore(({ byFolder }) => byFolder.get(folder)?.find((one) => one.name === name) ?? null)
}
