/** Exec sessions this window looks at, each as a tab beside the person's terminals, and what the person does to them. */
import { create } from 'zustand'
import type { ExecSession } from '../../preload/contract/session.ts'
import { attempt } from '../app/attempt.ts'
import { act, client } from '../state/link.ts'
import { prefer } from '../state/preferences.ts'
import { showPane } from '../state/window-store.ts'

export interface ExecTab {
  /** What its screen is attached to by. */
  id: string
  sessionId: string
  execId: string
  title: string
  workspace: string
}

export const useExecTabs = create<{ tabs: ExecTab[] }>()(() => ({ tabs: [] }))

export function showExec(sessionId: string, { id: execId, preview, folder }: ExecSession): void {
  const id = `${sessionId}_${execId}`
  useExecTabs.setState(({ tabs }) => ({
    tabs: tabs.some((tab) => tab.id === id)
      ? tabs
      : [...tabs, { id, sessionId, execId, title: `${execId} ${preview}`, workspace: folder }],
  }))
  prefer({ 'terminal.front': id })
  showPane('terminal', true)
}

/** The process goes on; only this window no longer looks. */
export function hideExec(id: string): void {
  useExecTabs.setState(({ tabs }) => ({ tabs: tabs.filter((tab) => tab.id !== id) }))
}

export function stopExec(sessionId: string, id: string): Promise<unknown> {
  return attempt(`Could not stop ${id}`, () => client().exec.stop({ ...act(), sessionId, id }))
}

export function holdExec(sessionId: string, id: string, held: boolean): Promise<unknown> {
  return attempt(held ? `Could not take over ${id}` : `Could not hand back ${id}`, () =>
    client().exec.hold({ ...act(), sessionId, id, held }),
  )
}
