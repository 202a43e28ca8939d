import { attempt } from '../app/attempt.ts'
import { act, client } from '../state/link.ts'
import { openSession } from '../state/session-store.ts'
import { showSession } from '../state/window-store.ts'

/** A new session in the same folder with the same model and mode; this one stays as it is. With `text` its first message is sent. */
export async function newSessionHere(sessionId: string, text = ''): Promise<string | null> {
  const header = openSession(sessionId).store.getState().view?.header
  if (!header) return null
  const { workspace, model, approvalMode } = header
  const made = await attempt('Could not start a session', async () => {
    const created = await client().sessions.create({
      ...act(),
      workspace,
      approvalMode,
      ...(model === null ? {} : { model }),
    })
    if (text !== '') await openSession(created.sessionId).controller.submit({ text, attachments: [] }, 'refuse')
    return created.sessionId
  })
  if (made === undefined) return null
  showSession(made)
  return made
}
