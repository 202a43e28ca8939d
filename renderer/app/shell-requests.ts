/** What the desktop shell asks of this page (a link, a notification, the application menu): it shows or prefills, no more. */
import { ShellRequest } from '../../preload/contract/shell.ts'
import { newSession, openWorkspace } from '../sessions/session-actions.ts'
import { ask, showDialog, showSession } from '../state/window-store.ts'
import { useWorkbench } from '../state/workbench-store.ts'
import { shownText } from '../transcript/shown-text.ts'
import { toast } from '../ui/toast.tsx'
import { attempt } from './attempt.ts'
import { runCommand } from './commands.ts'

/** Takes requests until `signal` aborts; those that come before the lists are there wait for them. */
export function takeShellRequests(signal: AbortSignal): void {
  addEventListener(
    'message',
    ({ source, data }: MessageEvent<unknown>) => {
      // Only the preload script of this very page sends itself a request.
      if (source !== window || typeof data !== 'object' || data === null) return
      const { type, request } = data as { type?: unknown; request?: unknown }
      const parsed = type === 'lathe:request' ? ShellRequest.safeParse(request).data : undefined
      if (parsed) void ready(signal).then(() => obey(parsed))
    },
    { signal },
  )
}

function ready(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (useWorkbench.getState().entriesLoading === 'ready') return resolve()
    const end = useWorkbench.subscribe(({ entriesLoading }) => {
      if (entriesLoading !== 'ready') return
      end()
      resolve()
    })
    signal.addEventListener('abort', end, { once: true })
  })
}

async function obey(request: ShellRequest): Promise<void> {
  switch (request.do) {
    case 'show':
      if (useWorkbench.getState().entries.has(request.sessionId))
        showSession(request.sessionId, request.itemId === null ? undefined : { itemId: request.itemId })
      else toast.failed('This session is not here', { detail: 'It was deleted, or belongs to another data folder.' })
      return
    case 'settings':
      return showDialog({ kind: 'settings', page: request.page })
    case 'command':
      runCommand(request.id)
      return
    case 'new':
      return begin(request)
  }
}

/** An unsent session with the prompt as its draft. A folder that a link names, and Lathe does not know, is asked about. */
async function begin({ workspace, prompt, asked }: Extract<ShellRequest, { do: 'new' }>): Promise<void> {
  const known = workspace === null || useWorkbench.getState().workspaces.has(workspace)
  if (known && !asked) return newSession(workspace ?? undefined, prompt ?? '')
  const yes =
    asked ||
    (await ask({
      title: 'Open this folder?',
      description: `A link asks to open ${shownText(workspace!)} in Lathe.`,
      confirm: 'Open folder',
    }))
  if (yes) await attempt('Could not open the folder', () => openWorkspace(workspace!, prompt ?? '', asked))
}
