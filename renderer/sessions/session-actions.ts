/** What a person can do to a session or a workspace, from a menu, the palette or a key: one function each. */
import { attempt } from '../app/attempt.ts'
import type { Entry } from '../../preload/contract/session.ts'
import { undoDeleteMs } from '../../preload/contract/limits.ts'
import { newId } from '../../preload/contract/ids.ts'
import { composerOf } from '../composer/composer-store.ts'
import { act, client } from '../state/link.ts'
import { prefer } from '../state/preferences.ts'
import { openSession } from '../state/session-store.ts'
import { ask, type FolderPurpose, showDialog, showSession, useWindow } from '../state/window-store.ts'
import { useWorkbench } from '../state/workbench-store.ts'
import { shownText } from '../transcript/shown-text.ts'
import { toast } from '../ui/toast.tsx'
import { holdUnread } from './read-mark.ts'
import { typeAhead } from './typed-ahead.ts'

function entryOf(sessionId: string): Entry | undefined {
  return useWorkbench.getState().entries.get(sessionId)
}

/** The folder a new session starts in: that of the session on screen, else the one opened last. */
export function currentWorkspace(): string | null {
  const { sessionId } = useWindow.getState()
  const { workspaces } = useWorkbench.getState()
  const ofSession = sessionId ? (entryOf(sessionId)?.workspace ?? opened.get(sessionId)) : undefined
  if (ofSession) return ofSession
  return (
    [...workspaces.values()].filter(({ state }) => state === 'present').sort((a, b) => b.openedAt - a.openedAt)[0]
      ?.path ?? null
  )
}

/** Folders of sessions made here that are in no list yet, because they have no message (S-3). */
const opened = new Map<string, string>()

/** `prompt` is put in the composer, never sent. */
export async function newSession(workspace: string | null = currentWorkspace(), prompt = ''): Promise<void> {
  if (workspace === null) return openFolder()
  const typed = prompt === '' ? typeAhead() : () => ''
  const made = await attempt('Could not start a session', async () => {
    const { sessionId } = await client().sessions.create({ ...act(), workspace })
    opened.set(sessionId, workspace)
    if (prompt !== '') await client().session.setDraft({ sessionId, text: prompt, attachments: [], source: 'link' })
    showSession(sessionId)
    return sessionId
  })
  if (made === undefined) return addText(useWindow.getState().sessionId, typed())
  // The composer mounts with the session; the focus goes there once it is on screen.
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      addText(made, typed())
      document.querySelector<HTMLElement>('[data-region="composer"] textarea')?.focus()
    }),
  )
}

function addText(sessionId: string | null, text: string): void {
  if (sessionId === null || text === '') return
  const { store, place } = composerOf(sessionId)
  place(store.getState().text + text)
}

/** Opens a folder as a workspace, and starts a session in it. */
export function openFolder(): Promise<void> {
  return chooseFolder({ do: 'open' }, 'Could not open the folder')
}

/** A folder chosen by the person, in the system's own dialog where the host has one; `refusal` heads why it was not taken. */
async function chooseFolder(purpose: FolderPurpose, refusal: string): Promise<void> {
  const native = useWorkbench.getState().info?.capabilities.includes('open_folder_dialog')
  if (!native) return showDialog({ kind: 'folder', purpose })
  await attempt(refusal, async () => {
    const { path } = await client().host.chooseFolder()
    if (path !== null) await takeFolder(purpose, path)
  })
}

/** Does with a chosen folder what it was chosen for. */
export function takeFolder(purpose: FolderPurpose, path: string): Promise<void> {
  switch (purpose.do) {
    case 'open':
      return openWorkspace(path)
    case 'locate':
      return relocate(purpose.missing, path)
    case 'add':
      return addFolder(purpose.sessionId, path)
  }
}

/** `trust`: the person named it on a command line. Any other folder is asked about before its first session (Z-4). */
export async function openWorkspace(path: string, prompt = '', trust = false): Promise<void> {
  const workspace = await client().workspaces.open({ ...act(), path, ...(trust ? { trust } : {}) })
  useWorkbench.setState((state) => ({ workspaces: new Map(state.workspaces).set(workspace.path, workspace) }))
  prefer({ 'onboarding.done': true })
  // Where it was chosen is done with: the question stands alone.
  showDialog(null)
  if (!workspace.trusted) await askForTrust(workspace.path)
  await newSession(workspace.path, prompt)
}

/** "Trust this folder?"; without a yes it is only read. */
export async function askForTrust(path: string): Promise<void> {
  const yes = await ask({
    title: 'Trust this folder?',
    description: `${shownText(path)} is new here. What lies in it can direct the agent, by instructions and agents of its own. Until you trust it, these are left out and the agent only reads. Trust counts for the folders below it too.`,
    confirm: 'Trust',
    cancel: 'Only read',
    grants: true,
  })
  if (yes) await attempt('Could not trust the folder', () => setTrust(path, true))
}

/** From its next turn on the agent only reads in the folder and those below it, and nothing in it directs the agent (Z-4). */
export async function withdrawTrust(path: string): Promise<void> {
  await attempt('Could not stop trusting the folder', () => setTrust(path, false))
}

async function setTrust(path: string, trusted: boolean): Promise<void> {
  const workspace = await client().workspaces.trust({ ...act(), path, trusted })
  useWorkbench.setState((state) => ({ workspaces: new Map(state.workspaces).set(workspace.path, workspace) }))
}

/** A copy of the demo that has no session yet, else a fresh one, with a task that only has to be sent. */
export async function openDemo(): Promise<void> {
  await attempt('Could not open the demo', async () => {
    const { workspaces, entries } = useWorkbench.getState()
    const used = new Set([...entries.values()].map(({ workspace }) => workspace))
    const unused = [...workspaces.values()].find(
      ({ demo, state, path }) => demo && state === 'present' && !used.has(path),
    )
    const { path } = unused ?? (await client().workspaces.openDemo({ ...act() }))
    await openWorkspace(path, 'Fix the failing test.')
  })
}

/** A folder that is gone: another one takes its place for all of its sessions at once (S-54). */
export function locateFolder(missing: string): Promise<void> {
  return chooseFolder({ do: 'locate', missing }, 'Could not relocate the folder')
}

async function relocate(missing: string, to: string): Promise<void> {
  const workspace = await client().workspaces.locate({ ...act(), path: missing, to })
  showDialog(null)
  if (!workspace.trusted) await askForTrust(workspace.path)
  toast.done('Folder found', { detail: `Its sessions now work in ${workspace.path}.` })
}

/** A folder outside the workspace that the agent may read in this session, chosen by the person (F-104). */
export function chooseFolderToAdd(sessionId: string): Promise<void> {
  return chooseFolder({ do: 'add', sessionId }, 'Could not add the folder')
}

/** It is only read, until the person allows more. */
export async function addFolder(sessionId: string, path: string): Promise<void> {
  await openSession(sessionId).controller.putFolder(path, false)
  showDialog(null)
  toast.done('Folder added', { detail: `In this session the agent may read ${shownText(path)}.` })
}

export async function forgetWorkspace(path: string): Promise<void> {
  await attempt('Could not remove the folder', async () => {
    await client().workspaces.forget({ ...act(), path })
    useWorkbench.setState((state) => {
      const workspaces = new Map(state.workspaces)
      workspaces.delete(path)
      return { workspaces }
    })
  })
}

export const titleLimit = 200

export async function renameSession(sessionId: string, title: string): Promise<void> {
  const clean = title.trim().replaceAll(/\s+/g, ' ').slice(0, titleLimit)
  if (clean === entryOf(sessionId)?.title) return
  await attempt('Could not rename the session', () => client().sessions.rename({ ...act(), sessionId, title: clean }))
}

export async function pinSession(sessionId: string, pinned: boolean): Promise<void> {
  await attempt('Could not pin the session', () => client().sessions.pin({ ...act(), sessionId, pinned }))
}

export async function archiveSession(sessionId: string, archived: boolean): Promise<void> {
  const done = await attempt('Could not archive the session', () =>
    client().sessions.archive({ ...act(), sessionId, archived }),
  )
  if (!done || !archived) return
  leave(sessionId)
  toast.done('Session archived', { action: { label: 'Undo', onSelect: () => void archiveSession(sessionId, false) } })
}

export async function markUnread(sessionId: string): Promise<void> {
  holdUnread(sessionId)
  await attempt('Could not mark the session', () =>
    client().sessions.markRead({ ...act(), sessionId, seq: 0, unread: true }),
  )
}

/** Deletes; asks only for a running or pinned session (S-53), since it can be undone. */
export async function deleteSession(sessionId: string): Promise<void> {
  const entry = entryOf(sessionId)
  if (entry && (entry.runningSince !== null || entry.pinnedAt !== null)) {
    const yes = await ask({
      title: `Delete "${entry.title}"?`,
      description:
        entry.runningSince === null
          ? 'It is pinned. It can be restored for 7 days.'
          : 'Its turn still runs and is stopped. The session can be restored for 7 days.',
      confirm: 'Delete session',
      danger: true,
    })
    if (!yes) return
  }
  const done = await attempt('Could not delete the session', () => client().sessions.delete({ ...act(), sessionId }))
  if (done) leaveDeleted(sessionId)
}

/** A deleted session leaves the window, whichever deleted it, with a way back for who may act (S-21). */
export function leaveDeleted(sessionId: string, mayAct = true): void {
  leave(sessionId)
  const undo = { label: 'Undo', onSelect: () => void restoreSession(sessionId) }
  toast.note('Session deleted', {
    id: `deleted ${sessionId}`,
    lasts: undoDeleteMs,
    action: mayAct ? undo : undefined,
  })
}

export async function restoreSession(sessionId: string): Promise<void> {
  const done = await attempt('Could not restore the session', () => client().sessions.restore({ ...act(), sessionId }))
  if (done) showSession(sessionId)
}

/** "Delete permanently": asks, since nothing brings it back (S-21). */
export async function purgeSession(sessionId: string, title: string): Promise<void> {
  const yes = await ask({
    title: `Delete "${title}" permanently?`,
    description: 'Its transcript, journal and settings are gone for good.',
    confirm: 'Delete permanently',
    danger: true,
  })
  if (yes) await attempt('Could not delete the session', () => client().sessions.purge({ ...act(), sessionId }))
}

function leave(sessionId: string): void {
  if (useWindow.getState().sessionId === sessionId) showSession(null)
}

/** A new session with all of this one up to its newest settled answer, or up to `at` (S-73). */
export async function forkSession(sessionId: string, at?: string, title?: string): Promise<void> {
  const forked = await attempt('Could not fork the session', () =>
    client().sessions.fork({
      ...act(),
      sessionId,
      ...(at === undefined ? {} : { at }),
      ...(title === undefined ? {} : { title }),
    }),
  )
  if (!forked) return
  showSession(forked.id)
  toast.done('Forked', { detail: forked.title })
}

export async function exportSession(sessionId: string, format: 'md' | 'json' | 'html'): Promise<void> {
  await attempt('Could not export the session', async () => {
    const exportId = newId()
    // A blob keeps its bytes outside the page's memory.
    const blobs: Blob[] = []
    for (;;) {
      const part = await client().sessions.export({ sessionId, exportId, part: blobs.length, format })
      blobs.push(new Blob([part.text]))
      if (part.last) return save(part.name, new Blob(blobs, { type: part.mediaType }))
    }
  })
}

function save(name: string, file: Blob): void {
  const url = URL.createObjectURL(file)
  const anchor = Object.assign(document.createElement('a'), { href: url, download: name })
  anchor.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

export async function copySessionLink(sessionId: string): Promise<void> {
  await attempt('Could not copy the link', () => navigator.clipboard.writeText(`lathe://session/${sessionId}`))
  toast.done('Link copied')
}
