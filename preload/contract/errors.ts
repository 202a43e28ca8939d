/**
 * The one shape of a refusal, failure or tool error: a closed code, a sentence for people, a way out.
 * Codes are the closed list of the specification; adding one means adding it here first.
 */
import { z } from 'zod'

export const errorCodes = [
  'access.denied',
  'agent.unavailable',
  'app.closing',
  'app.internal',
  'approval.denied',
  'approval.gone',
  'approval.nobody_answered',
  'approval.unattended',
  'attachment.rejected',
  'automatic.held',
  'changes.hunk_conflict',
  'command.check_timeout',
  'command.forbidden',
  'command.opaque',
  'config.invalid',
  'config.stale',
  'context.exhausted',
  'document.failed',
  'document.not_editable',
  'document.timeout',
  'document.unsafe',
  'edit.ambiguous_match',
  'edit.count_mismatch',
  'edit.no_change',
  'edit.no_match',
  'edit.not_empty',
  'edit.occurrence_out_of_range',
  'exec.disabled',
  'exec.limit',
  'exec.not_found',
  'exec.person_owned',
  'exec.secret_prompt',
  'exec.shell_not_found',
  'exec.spawn_failed',
  'exec.stdin_closed',
  'exec.stopped_by_person',
  'exec.timed_out',
  'file.binary',
  'file.busy',
  'file.changed_during_edit',
  'file.disk_full',
  'file.encoding_unsupported',
  'file.is_directory',
  'file.not_found',
  'file.not_read',
  'file.not_regular',
  'file.offset_past_end',
  'file.read_only',
  'file.stale',
  'file.too_large',
  'file.unencodable',
  'follow_up.gone',
  'follow_up.stale',
  'fork.bad_point',
  'fork.not_settled',
  'host.foreign',
  'host.not_here',
  'host.unreachable',
  'host.version_mismatch',
  'import.duplicate',
  'import.invalid',
  'import.unsupported',
  'mention.missing',
  'message.empty',
  'message.too_large',
  'model.none',
  'model.not_found',
  'model.unknown',
  'network.blocked',
  'network.timed_out',
  'network.too_large',
  'patch.rolled_back',
  'path.invalid',
  'path.outside_workspace',
  'path.protected',
  'path.secret',
  'path.swapped',
  'path.unresolvable',
  'person.needed',
  'policy.denied',
  'provider.auth_invalid',
  'provider.auth_missing',
  'provider.carrier_rejected',
  'provider.content_refused',
  'provider.credentials_exhausted',
  'provider.context_overflow',
  'provider.input_rejected',
  'provider.local_server_off',
  'provider.malformed_calls',
  'provider.no_response',
  'provider.protocol_error',
  'provider.quota_exhausted',
  'provider.rate_limited',
  'provider.request_rejected',
  'provider.response_interrupted',
  'provider.stopped',
  'provider.stream_stalled',
  'provider.unavailable',
  'provider.unreachable',
  'question.gone',
  'question.invalid',
  'question.no_answer',
  'queue.full',
  'queue.not_empty',
  'recovery.not_continuable',
  'recovery.stale',
  'redaction.placeholder',
  'request.conflict',
  'request.invalid',
  'search.budget',
  'search.invalid_pattern',
  'session.conflict',
  'session.deleted',
  'session.not_found',
  'session.read_only',
  'steer.full',
  'steer.not_running',
  'steer.unsupported',
  'storage.busy',
  'storage.failed',
  'storage.low',
  'storage.timeout',
  'subagent.queue_full',
  'terminal.failed',
  'terminal.limit',
  'tool.failed',
  'tool.invalid_arguments',
  'tool.repeated_lookup',
  'tool.timed_out',
  'tool.unknown',
  'turn.busy',
  'web.http_error',
  'web.unsupported_type',
  'workspace.busy',
  'workspace.missing',
] as const

export const ErrorCode = z.enum(errorCodes)
export type ErrorCode = z.infer<typeof ErrorCode>

/** What crosses the contract instead of an exception: never a stack. `reason` is one word of a closed list of its code. */
export const ErrorBody = z.object({
  code: ErrorCode,
  message: z.string(),
  hint: z.string().optional(),
  reason: z.string().optional(),
  data: z.record(z.string(), z.unknown()).optional(),
})
export type ErrorBody = z.infer<typeof ErrorBody>

/** The only error class thrown on purpose. `message` is for people; `hint` says what to do next. */
export class LatheError extends Error {
  readonly code: ErrorCode
  readonly hint: string | undefined
  readonly reason: string | undefined
  readonly data: Record<string, unknown> | undefined

  constructor(
    code: ErrorCode,
    message: string,
    more: {
      hint?: string | undefined
      reason?: string | undefined
      data?: Record<string, unknown> | undefined
      cause?: unknown
    } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause })
    this.name = 'LatheError'
    this.code = code
    this.hint = more.hint
    this.reason = more.reason
    this.data = more.data
  }

  toBody(): ErrorBody {
    return {
      code: this.code,
      message: this.message,
      ...(this.hint === undefined ? {} : { hint: this.hint }),
      ...(this.reason === undefined ? {} : { reason: this.reason }),
      ...(this.data === undefined ? {} : { data: this.data }),
    }
  }
}

/** Any thrown value as a typed body: ours keeps its code, all else is a fault of ours. */
export function errorBody(thrown: unknown): ErrorBody {
  if (thrown instanceof LatheError) return thrown.toBody()
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  return { code: 'app.internal', message: message || 'Something went wrong inside Lathe.' }
}
