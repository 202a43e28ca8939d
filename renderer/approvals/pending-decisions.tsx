import { useView } from '../state/session-store.ts'
import { ApprovalCard } from './approval-card.tsx'
import { QuestionCard } from './question-card.tsx'

/** The oldest open approval and question of a session, pinned above the message until they are answered. */
export function PendingDecisions({ sessionId }: { sessionId: string }) {
  const approval = useView(sessionId, ({ approvals }) => approvals.head, null)
  const approvals = useView(sessionId, (view) => view.approvals.depth, 0)
  const question = useView(sessionId, ({ questions }) => questions.head, null)
  const questions = useView(sessionId, (view) => view.questions.depth, 0)
  if (!approval && !question) return null
  return (
    <div className="flex flex-col gap-8">
      {approval && <ApprovalCard key={approval.id} sessionId={sessionId} approval={approval} depth={approvals} />}
      {question && <QuestionCard key={question.id} sessionId={sessionId} question={question} depth={questions} />}
    </div>
  )
}
