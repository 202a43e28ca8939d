/** Making room by hand: older turns become a summary in what the model is sent. */
import { attempt } from '../app/attempt.ts'
import { openSession } from '../state/session-store.ts'
import { toast } from '../ui/toast.tsx'

/** `focus` says what matters. What comes of it stands in the transcript; only a refusal, or nothing, is told here. */
export async function compactContext(sessionId: string, focus = ''): Promise<void> {
  const { controller } = openSession(sessionId)
  const came = await attempt('Could not compact the context', () => controller.compact(focus))
  if (came === 'nothing') toast.note('Nothing to compact', { detail: 'The newest turns stay as they are.' })
}
