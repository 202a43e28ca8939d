/** Answers of the routes by which a person decides: approvals, questions, what an interrupted turn left. */
import type { RulesStore } from '../../sessions/rules-store.ts'
import type { Sessions } from '../../sessions/sessions.ts'
import { ok, type Handlers } from '../handlers.ts'

export type DecisionServices = { sessions: Sessions; rules: RulesStore }

export function decisionAnswers({
  sessions,
  rules,
}: DecisionServices): Pick<Handlers, 'approvals' | 'questions' | 'recovery'> {
  return {
    approvals: {
      answer: ({ sessionId, approvalId, argsHash, decision, scope, feedback }, client) =>
        sessions.subagents.answerApproval(
          sessionId,
          {
            approvalId,
            argsHash,
            decision,
            scope: scope ?? 'workspace',
            ...(feedback === undefined ? {} : { feedback }),
          },
          client.rights,
        ),
      rules: async () => [...rules.get()],
      removeRule: async ({ id }) => {
        await rules.remove(id)
        return ok
      },
    },
    questions: {
      answer: ({ sessionId, questionId, choices, text, secret, declined }, client) =>
        sessions.subagents.toQuestion(
          sessionId,
          {
            type: 'question.answer',
            questionId,
            choices: choices ?? [],
            text: text ?? null,
            secret: secret ?? null,
            declined: declined ?? false,
          },
          client.rights,
        ),
      touch: ({ sessionId, questionId }, client) =>
        sessions.subagents.toQuestion(sessionId, { type: 'question.touched', questionId }, client.rights),
    },
    recovery: {
      continue: ({ sessionId, requestId, recoveryId }, client) =>
        sessions.turns.continueRecovery(sessionId, requestId, recoveryId, client.attendance, client.rights),
      dismiss: ({ sessionId, recoveryId }, client) =>
        sessions.command(sessionId, { type: 'recovery.dismiss', recoveryId }, client.rights),
    },
  }
}
