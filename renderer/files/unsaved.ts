/** Files with edits that were not saved: this window's, and those the host kept from before. */
import { create } from 'zustand'
import { client } from '../state/link.ts'

const useUnsavedFiles = create<ReadonlyMap<string, ReadonlySet<string>>>()(() => new Map())
const none: ReadonlySet<string> = new Set()

export function useUnsaved(workspace: string): ReadonlySet<string> {
  return useUnsavedFiles((files) => files.get(workspace) ?? none)
}

export function noteUnsaved(workspace: string, path: string, unsaved: boolean): void {
  const files = useUnsavedFiles.getState()
  const paths = new Set(files.get(workspace))
  if (paths.has(path) === unsaved) return
  if (unsaved) paths.add(path)
  else paths.delete(path)
  useUnsavedFiles.setState(new Map(files).set(workspace, paths), true)
}

/** Adds those a window before this one left. */
export async function loadUnsaved(workspace: string): Promise<void> {
  const kept = await client()
    .files.drafts({ workspace })
    .catch(() => [])
  for (const path of kept) noteUnsaved(workspace, path, true)
}
