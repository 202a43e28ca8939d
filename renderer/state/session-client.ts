/** The calls a session makes, and what a failed one means. */
import type { ContractRouterClient } from '@orpc/contract'
import { LatheError, type ErrorBody } from '../../preload/contract/errors.ts'
import type { Contract } from '../../preload/contract/routes.ts'

type Rooms =
  | 'session'
  | 'sessions'
  | 'steers'
  | 'followUps'
  | 'approvals'
  | 'questions'
  | 'recovery'
  | 'attachments'
  | 'changes'
  | 'files'

/** The contract as far as a session uses it: what a test or a fixture page must stand in for. */
export type SessionClient = Pick<ContractRouterClient<Contract>, Rooms>

/** Whatever a call threw as the one error class; what is not a typed refusal means the host could not be reached. */
export function asLatheError(thrown: unknown): LatheError {
  if (thrown instanceof LatheError) return thrown
  const body = refusalOf(thrown)
  if (body)
    return new LatheError(body.code, body.message, {
      hint: body.hint,
      reason: body.reason,
      data: body.data,
      cause: thrown,
    })
  return new LatheError('host.unreachable', 'Lathe could not be reached.', {
    hint: 'It tries again by itself.',
    cause: thrown,
  })
}

/** The typed body that a refused call carries over the wire. */
function refusalOf(thrown: unknown): ErrorBody | null {
  if (typeof thrown !== 'object' || thrown === null || !('data' in thrown)) return null
  const { data } = thrown
  if (typeof data !== 'object' || data === null || !('code' in data) || !('message' in data)) return null
  return data as ErrorBody
}
