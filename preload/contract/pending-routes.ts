/** What waits in a session: words for the agent, and what the agent or a crash left for the person to decide. */
import { z } from 'zod'
import { Id } from './ids.ts'
import { ApprovalDecision, Rule } from './items.ts'
import { act, done, inSession, message, route } from './route.ts'
import { FollowUp, Steer } from './session.ts'
import { SubmitReply } from './session-routes.ts'

export const pendingRoutes = {
  steers: {
    add: route
      .input(
        z.object({
          ...act,
          ...inSession,
          turnId: Id,
          ...message,
        }),
      )
      .output(z.object({ steerId: Id })),
    edit: route
      .input(
        z.object({
          ...act,
          ...inSession,
          steerId: Id,
          ...message,
        }),
      )
      .output(z.object({ done: z.boolean(), why: z.enum(['taken', 'not_running']).optional() })),
    withdraw: route
      .input(z.object({ ...act, ...inSession, steerId: Id }))
      .output(
        z.object({ done: z.boolean(), why: z.enum(['taken', 'not_running']).optional(), steer: Steer.optional() }),
      ),
    sendNow: route
      .input(z.object({ ...act, ...inSession, steerId: Id }))
      .output(z.object({ sent: z.enum(['delivered', 'next_step', 'taken', 'not_running']) })),
  },
  followUps: {
    add: route
      .input(
        z.object({
          ...act,
          ...inSession,
          ...message,
        }),
      )
      .output(FollowUp),
    edit: route
      .input(
        z.object({
          ...act,
          ...inSession,
          id: Id,
          revision: z.number().int(),
          ...message,
        }),
      )
      .output(FollowUp),
    move: route.input(z.object({ ...act, ...inSession, id: Id, before: Id.nullable() })).output(done),
    remove: route.input(z.object({ ...act, ...inSession, id: Id })).output(FollowUp),
    clear: route.input(z.object({ ...act, ...inSession })).output(z.array(FollowUp)),
    steerNow: route.input(z.object({ ...act, ...inSession, id: Id })).output(z.object({ steerId: Id })),
    startNow: route.input(z.object({ ...act, ...inSession, id: Id })).output(SubmitReply),
    pause: route.input(z.object({ ...act, ...inSession })).output(done),
    resume: route.input(z.object({ ...act, ...inSession })).output(done),
  },
  approvals: {
    answer: route
      .input(
        z.object({
          ...act,
          ...inSession,
          approvalId: Id,
          argsHash: z.string().max(100),
          decision: ApprovalDecision,
          scope: z.enum(['workspace', 'always']).optional(),
          feedback: z.string().max(2_000).optional(),
        }),
      )
      .output(done),
    rules: route.output(z.array(Rule)),
    removeRule: route.input(z.object({ ...act, id: Id })).output(done),
  },
  questions: {
    answer: route
      .input(
        z.object({
          ...act,
          ...inSession,
          questionId: Id,
          choices: z.array(z.string().max(64)).max(12).optional(),
          text: z.string().max(20_000).optional(),
          secret: z.string().max(20_000).optional(),
          declined: z.boolean().optional(),
        }),
      )
      .output(done),
    /** The person types or chooses: the count begins anew (T-149). Sent at most once a second. */
    touch: route.input(z.object({ ...act, ...inSession, questionId: Id })).output(done),
  },
  recovery: {
    continue: route.input(z.object({ ...act, ...inSession, recoveryId: Id })).output(SubmitReply),
    dismiss: route.input(z.object({ ...act, ...inSession, recoveryId: Id })).output(done),
  },
}
