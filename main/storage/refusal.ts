import type { ErrorBody, ErrorCode } from '../../preload/contract/errors.ts'

/** A typed error inside the worker, which imports no schema library; the main side makes a `LatheError` of its body. */
export class Refusal extends Error {
  readonly body: ErrorBody

  constructor(code: ErrorCode, message: string, more: { hint?: string; reason?: string } = {}) {
    super(message)
    this.body = { code, message, ...more }
  }
}
