import type { ReactNode } from 'react'
import { attempt } from '../app/attempt.ts'
import { locateFolder } from '../sessions/session-actions.ts'
import { openSession, useSession, useView } from '../state/session-store.ts'
import { useWorkbench } from '../state/workbench-store.ts'
import { shownText } from '../transcript/shown-text.ts'
import { Button } from '../ui/button.tsx'

/** Why nothing can be sent now, with what mends it; null where all is well (S-105). */
export function useBlocked(sessionId: string, chooseModel: () => void): { text: string; fix: ReactNode } | null {
  const refused = useSession(sessionId, (state) => state.phase === 'refused')
  const unsaved = useSession(sessionId, (state) => state.unsaved)
  const deleted = useView(sessionId, ({ header }) => header.deletedAt !== null, false)
  const path = useView(sessionId, ({ header }) => header.workspace, '')
  // Without a choice of its own the default answers; the list of models comes after the settings that name it.
  const modelless = useWorkbench(
    ({ settings, providersLoading }) => providersLoading === 'ready' && settings.model === null,
  )
  const chosen = useView(sessionId, ({ header }) => header.model !== null, true)
  const missing = useWorkbench(({ workspaces }) => workspaces.get(path)?.state === 'missing')
  const link = useWorkbench((state) => state.link)
  if (refused) return { text: 'This session is not open. What you write is kept.', fix: null }
  if (deleted) return { text: 'This session was deleted.', fix: null }
  if (unsaved) {
    return {
      text: `Nothing can be saved at the moment; nothing is lost, and it is tried again. ${shownText(unsaved.hint ?? '')}`.trim(),
      fix: (
        <Button
          size="small"
          onClick={() =>
            void attempt('It could not be tried again', () => openSession(sessionId).controller.retrySaving())
          }
        >
          Try again
        </Button>
      ),
    }
  }
  if (missing) {
    return {
      text: 'The folder of this session is missing.',
      fix: (
        <Button size="small" onClick={() => void locateFolder(path)}>
          Locate…
        </Button>
      ),
    }
  }
  if (modelless && !chosen) {
    return {
      text: 'No model is chosen yet.',
      fix: (
        <Button size="small" onClick={chooseModel}>
          Choose model
        </Button>
      ),
    }
  }
  if (link === 'refused') return { text: 'Not connected. What you write is kept.', fix: null }
  return link === 'lost' ? { text: 'Reconnecting. What you write is kept.', fix: null } : null
}
