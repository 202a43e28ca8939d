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

export function userMessage(text: string): ModelMessage {
  return { role: 'user', parts: [{ type: 'text', text }] }
}

export type UserPart = { type: 'text'; text: string } | { type: 'image'; mediaType: string; data: Uint8Array }

export type AssistantPart =
  | { type: 'text'; text: string }
  /** Reasoning is never sent as text to another model; `carrier` is the provider's own opaque proof of it. */
  | { type: 'reasoning'; text: string; carrier?: unknown }
  | { type: 'call'; callId: string; name: string; args: unknown }

export type ToolResultPart = {
  callId: string
  name: string
  text: string
  isError: boolean
  image?: { mediaType: string; data: Uint8Array } | undefined
  /** The transcript's entry, what holds the whole of it, and whether it is left out already (C-52). Never sent. */
  origin?: { itemId: string; kept?: string | undefined; pruned?: boolean } | undefined
}

export type ToolSpec = {
  name: string
  description: string
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown>
}

export type ModelRequest = {
  /** `PROVIDER/MODEL`, split at the first slash (M-2). */
  model: string
  messages: ModelMessage[]
  tools: ToolSpec[]
  effort?: string | undefined
  /** Output tokens; the model's own limit where absent (M-33). */
  maxOutput?: number | undefined
  /** Never sent where absent (M-23). */
  temperature?: number | undefined
  /** What to try after `model`, in order (M-81); the configured `fallback` where absent. */
  fallback?: string[] | undefined
  /** This request fitted to a fallback model; null where it cannot be, and that model is skipped (C-57). */
  rebuild?:
    | ((candidate: ModelInfo) => Promise<Pick<ModelRequest, 'messages' | 'tools' | 'maxOutput'> | null>)
    | undefined
  /** The tools are there only so that the request begins like others: none may be called (C-60). */
  callsForbidden?: boolean | undefined
  /** For prompt caching, by its hash only (M-38). */
  sessionId: string
  /** False for requests beside a turn (titles): no retry waits are shown, an open circuit is respected. */
  interactive: boolean
}

/**
 * Tokens of one request, kept as the provider reported them; null where it did not say (T-87). `input` includes cached
 * and cache-writing tokens, `output` includes reasoning (M-108).
 */
export type ModelUsage = {
  input: number | null
  output: number | null
  reasoning: number | null
  cacheRead: number | null
  cacheWrite: number | null
  total: number | null
  /** Counted by us because the provider reported nothing (M-56). */
  estimated: boolean
}

export type ModelEvent =
  /** One request was accepted; each try starts anew. The model named here answers, which may be a fallback. */
  | { type: 'started'; provider: string; model: string; requestId?: string | undefined }
  | { type: 'phase'; name: 'prompt_reading' | 'loading'; percent: number | null }
  /** `deltas` of the provider that came together are one event. */
  | { type: 'text'; delta: string; deltas: number }
  | { type: 'reasoning'; delta: string; deltas: number }
  | { type: 'carrier'; opaque: unknown }
  /** Arguments of a call while they arrive; for progress only. */
  | { type: 'call'; index: number; id: string; name: string; argsDelta: string }
  /** `args` where the arguments are an object; else `invalid` says why, with `raw` (at most 200 characters) (M-63). */
  | { type: 'callDone'; id: string; name: string; args: Record<string, unknown> }
  | { type: 'callDone'; id: string; name: string; raw: string; invalid: string }
  /** The last one after a `started` counts; a step's usage is the sum over its tries, failed ones included (M-78). */
  | { type: 'usage'; usage: ModelUsage }
  /** What this step streamed so far is discarded: a retry after visible output follows (M-78). */
  | { type: 'reset' }
  | { type: 'wait'; wait: ModelWait | null }
  | { type: 'warning'; kind: 'fallback' | 'dropped_parameter' | 'retry_after_output' | 'dropped_call'; text: string }
  /** `refused` and `overflow` (M-48) arrive as `error`, so that a failed step has one shape. */
  | { type: 'finish'; reason: FinishReason; empty: boolean }
  | { type: 'error'; error: ModelError }

export type FinishReason = 'stop' | 'tools' | 'length' | 'paused' | 'unknown'

export type ModelWait = {
  code: string
  provider: string
  label: string
  /** Milliseconds since 1970. */
  until: number | null
  untilKind: 'reset' | 'retry'
  attempt: number
  of: number
}

/** Redacted, free of markup; `message` at most 2,000 characters, `detail` 1,200 (M-67). */
export type ModelError = ErrorBody & {
  provider: string
  model: string
  status?: number | undefined
  providerCode?: string | undefined
  requestId?: string | undefined
  retryAt?: number | undefined
  detail?: string | undefined
  /** Tokens a request may have, where the refusal of a longer one named them (C-55). */
  contextLimit?: number | undefined
}

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
  price: { input: number; output: number; cacheRead?: number | undefined; cacheWrite?: number | undefined } | null
  /** Served by this machine: costs nothing and is marked so (M-111). */
  local: boolean
}

export interface Models {
  /** The stream never throws for an expected failure: it ends with exactly one `finish` or `error` (M-43). */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>
  /** Throws `model.unknown` (with the valid names as hint) or `config.invalid`. No network, no disk. */
  resolve(name: string): ModelInfo
  /** The same, after asking a server on this machine once what it knows of the model (limit: 1 second) (M-16, M-18). */
  describe(name: string, signal: AbortSignal): Promise<ModelInfo>
  /** This model took no more than so many tokens: from now on its context is no longer than that (C-55). */
  learnLimit(name: string, tokens: number): void
  /**
   * The same models for one turn: the configuration as it is now (M-3), the candidate that worked is asked first for the
   * rest of it (M-82), and a refused key is read again once (M-93).
   */
  forTurn(): Models
}
