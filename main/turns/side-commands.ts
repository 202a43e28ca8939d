/** A command and its answer (S-108): stored together, visible, never sent to a model, no turn (T-24). */
import type { Decision } from './decision.ts'
import { checkMutable } from './requests.ts'

export type SideCommand = { type: 'side.answered'; line: string; answer: string }

/** False where the session is unsent: nothing is stored before its first message (S-3). */
export function answerAside(decision: Decision, { line, answer }: SideCommand): boolean {
  checkMutable(decision.state)
  if (!decision.state.stored) return false
  const place = {
    turnId: null,
    stepId: null,
    source: 'command',
    status: 'final',
    endedAt: decision.now,
    contextual: false,
  } as const
  decision.put({ kind: 'user', id: decision.newId(), text: line, attachments: [], ...place })
  decision.put({ kind: 'notice', id: decision.newId(), level: 'info', text: answer, ...place })
  return true
}
