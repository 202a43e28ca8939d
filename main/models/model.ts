/**
 * What the agent loop knows of a model: neutral messages in, one stream of events out (models.md 6).
 * A provider adapter turns both into its wire; nothing outside this room sees a vendor's types.
 */
import type { ErrorBody } from '../../preload/contract/errors.ts'

export type ModelMessage =
  | { role: 'system'; text: string }
  | { role: 'user'; parts: UserPart[] }
  | { role: 'assistant'; parts: AssistantPart[] }
  | { role: 'tool'; results: ToolResultPart[] }

export type UserPart = { type: 'text'; text: string } | { type: 'image'; mediaType: string; data: Uint8Array }

export type AssistantPart =
  | { type: 'text'; text: string }
  /** Reasoning is never sent as text to another model; `carrier` is the provider's own opaque proof of it. */
  | { type: 'reasoning'; text: string; carrier?: unknown }
  | { type: 'call'; callId: string; name: string; args: unknown }

export type ToolResultPart = { callId: string; name: string; text: string; isError: boolean; image?: { mediaType: string; data: Uint8Array } }

export type ToolSpec = { name: string; description: string; /** JSON Schema of the arguments. */ parameters: Record<string, unknown> }

export type ModelRequest = {
  /** `PROVIDER/MODEL`, split at the first slash (M-2). */
  model: string
  messages: ModelMessage[]
  tools: ToolSpec[]
  effort?: string | undefined
  /** Output tokens; the model's own limit where absent (M-33). */
  maxOutput?: number | undefined
  /** Stable per session, for prompt caching (M-38). */
  sessionId: string
  /** False for requests beside a turn (titles): no retry waits are shown, an open circuit is respected. */
  interactive: boolean
}

/** Tokens of one request, kept as the provider reported them; null where it did not say (T-87). */
export type ModelUsage = { input: number | null; output: number | null; reasoning: number | null; cacheRead: number | null; cacheWrite: number | null; total: number | null }

export type ModelEvent =
  | { type: 'started'; provider: string; model: string; requestId?: string | undefined }
  | { type: 'phase'; name: 'prompt_reading' | 'loading'; percent: number | null }
  | { type: 'text'; delta: string }
  | { type: 'reasoning'; delta: string }
  | { type: 'carrier'; opaque: unknown }
  /** Arguments of a call while they arrive; for progress only. */
  | { type: 'call'; index: number; id: string; name: string; argsDelta: string }
  /** `args` where the arguments are an object; else `invalid` says why, with `raw` (at most 200 characters) (M-63). */
  | { type: 'callDone'; id: string; name: string; args: Record<string, unknown> }
  | { type: 'callDone'; id: string; name: string; raw: string; invalid: string }
  | { type: 'usage'; usage: ModelUsage }
  /** What this step streamed so far is discarded: a retry after visible output follows (M-78). */
  | { type: 'reset' }
  | { type: 'wait'; wait: ModelWait | null }
  | { type: 'warning'; kind: 'fallback' | 'dropped_parameter' | 'retry_after_output' | 'dropped_call'; text: string }
  | { type: 'finish'; reason: 'stop' | 'tools' | 'length' | 'refused' | 'overflow' | 'paused' | 'unknown'; empty: boolean }
  | { type: 'error'; error: ModelError }

export type ModelWait = { code: string; provider: string; label: string; until: number | null; untilKind: 'reset' | 'retry'; attempt: number; of: number }

export type ModelError = ErrorBody & { provider: string; model: string; status?: number | undefined; providerCode?: string | undefined; requestId?: string | undefined; retryAt?: number | undefined; detail?: string | undefined }

/** One model as the picker and `lathe doctor` see it (M-12). */
export type ModelInfo = {
  /** `PROVIDER/MODEL`. */
  name: string
  label: string
  contextLength: number
  contextLengthSource: 'config' | 'server' | 'catalog' | 'assumed'
  maxOutput: number
  tools: boolean | null
  vision: boolean | null
  efforts: string[] | null
  /** Per million tokens in US dollars; null where unknown, never 0 for unknown. */
  price: { input: number; output: number; cacheRead?: number | undefined } | null
}

export interface Models {
  /** The stream never throws for an expected failure: it ends with exactly one `finish` or `error` (M-43). */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>
  /** Throws `model.unknown` (with the valid names as hint) or `config.invalid`. */
  resolve(name: string): ModelInfo
}
