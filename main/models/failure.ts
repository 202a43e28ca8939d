/**
 * Why a request failed, as one closed code with what may follow from it (models.md 8). Evidence in this order: our own
 * stop, a structured code, the HTTP status, the transport's code, whole phrases of the text last (M-68). Quota beats
 * rate limit, rate limit beats authentication, authentication beats "not found" (M-69).
 */
import type { ErrorCode } from '../../preload/contract/errors.ts'
import type { NetError } from '../platform/net.ts'
import { isRecord, type Provider } from './config.ts'
import type { ModelError } from './model.ts'
import { retryAfter } from './retry-after.ts'

/** What a request can do without, once a provider has refused it (M-30). */
export type Droppable = 'tools' | 'images' | 'effort' | 'temperature' | 'usage'

export type Failure = {
  code: ErrorCode
  /** One word of the code's closed list; `firstToken` and the like for a stalled stream. */
  reason?: string | undefined
  /** The provider's own words, uncleaned. */
  text?: string | undefined
  status?: number | undefined
  providerCode?: string | undefined
  requestId?: string | undefined
  retryAfterMs?: number | undefined
  detail?: string | undefined
  /** The server is still loading the model: asked again every 2 s (M-18). */
  loading?: boolean | undefined
  drop?: Droppable | undefined
  /** One of the pictures is not to its liking; it takes others (F-1225). */
  badImage?: boolean | undefined
  /** Tokens a request may have, as a refusal named them (C-55). */
  contextLimit?: number | undefined
}

/** Thrown inside the room to end an attempt. */
export class RequestFailure extends Error {
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.text ?? failure.code)
    this.failure = failure
  }
}

type Handling = { retries: number; fallback: boolean; circuit: boolean }

const never: Handling = { retries: 0, fallback: false, circuit: false }

/** The table of M-68. */
export function handling(failure: Failure): Handling {
  switch (failure.code) {
    case 'provider.rate_limited':
      return { retries: 3, fallback: true, circuit: false }
    case 'provider.unavailable':
      return failure.reason === 'circuit'
        ? { retries: 0, fallback: true, circuit: false }
        : { retries: 3, fallback: true, circuit: true }
    case 'provider.unreachable':
    case 'provider.response_interrupted':
      return { retries: 3, fallback: true, circuit: true }
    case 'provider.local_server_off':
      return { retries: 1, fallback: true, circuit: false }
    case 'provider.stream_stalled':
      return failure.reason === 'firstToken' || failure.reason === 'idle'
        ? { retries: 1, fallback: true, circuit: true }
        : never
    case 'provider.protocol_error':
      return { retries: 1, fallback: true, circuit: true }
    case 'provider.quota_exhausted':
    case 'provider.input_rejected':
    case 'provider.context_overflow':
    case 'model.not_found':
      return { retries: 0, fallback: true, circuit: false }
    default:
      return never
  }
}

type Sentence = (provider: Provider, model: string) => string
type Words = { message: Sentence; hint: Sentence }

/** One sentence and one way out per code, on every path (M-70). */
const words: Partial<Record<ErrorCode, Words>> = {
  'provider.stopped': { message: () => 'Stopped.', hint: () => '' },
  'provider.auth_missing': {
    message: (p) => `${p.label} wants a key, and none is set.`,
    hint: (p) =>
      p.apiKeyEnv
        ? `Set the variable ${p.apiKeyEnv}, or add a key in Settings, Models.`
        : 'Add a key in Settings, Models.',
  },
  'provider.auth_invalid': {
    message: (p) => `${p.label} refused the key.`,
    hint: () => 'Check the key in Settings, Models.',
  },
  'provider.quota_exhausted': {
    message: (p) => `The account at ${p.label} has no quota left.`,
    hint: () => 'Top up the account, or choose another model.',
  },
  'provider.rate_limited': {
    message: (p) => `${p.label} is limiting requests.`,
    hint: () => 'Wait a little, or choose another model.',
  },
  'provider.unavailable': {
    message: (p) => `${p.label} is not available at the moment.`,
    hint: () => 'Try again later, or choose another model.',
  },
  'provider.unreachable': {
    message: (p) => `${p.label} could not be reached.`,
    hint: () => 'Check the network and the address in Settings, Models.',
  },
  'provider.local_server_off': {
    message: (p) => `No server answers at ${p.baseUrl}.`,
    hint: (p) => `Start ${p.label} and try again.`,
  },
  'provider.response_interrupted': { message: (p) => `The answer of ${p.label} broke off.`, hint: () => 'Try again.' },
  'provider.stream_stalled': {
    message: (p) => `${p.label} stopped sending.`,
    hint: () => 'Try again, or raise the time limits of this provider.',
  },
  'provider.protocol_error': {
    message: (p) => `${p.label} sent something that is not an answer.`,
    hint: () => 'Check the address and the kind in Settings, Models.',
  },
  'provider.content_refused': {
    message: (p, model) => `${p.label}/${model} refused to answer this.`,
    hint: () => 'Rephrase the request.',
  },
  'provider.context_overflow': {
    message: (_, model) => `The conversation is too long for ${model}.`,
    hint: () => 'Compact the session, or choose a model with a longer context.',
  },
  'provider.input_rejected': {
    message: (_, model) => `${model} did not accept an image or attachment.`,
    hint: () => 'Leave it out, or choose another model.',
  },
  'provider.request_rejected': {
    message: (p) => `${p.label} rejected the request.`,
    hint: () => 'See the details, or choose another model.',
  },
  'provider.carrier_rejected': {
    message: (p) => `${p.label} did not accept earlier reasoning.`,
    hint: () => 'Try again.',
  },
  'model.not_found': {
    message: (p, model) => `${p.label} does not know the model ${model}.`,
    hint: () => 'Choose another model.',
  },
}

/** The error a person sees. Inner codes that nobody acts on any more become their outer ones (M-68). */
export function modelError(
  failure: Failure,
  provider: Provider,
  model: string,
  key: string | null,
  retryAt?: number,
): ModelError {
  const said = clean(failure.text ?? '', 2_000, key)
  const word = words[failure.code]
  const label = word?.message(provider, model) ?? 'Something went wrong inside Lathe.'
  const outer = outerCode(failure)
  const detail = clean(failure.detail ?? '', 1_200, key)
  return {
    ...outer,
    message: said === '' ? label : `${label} ${said}`.slice(0, 2_000),
    hint: word?.hint(provider, model) ?? 'This is a fault of ours; please report it.',
    provider: provider.id,
    model,
    ...(failure.status === undefined ? {} : { status: failure.status }),
    ...(failure.providerCode === undefined ? {} : { providerCode: failure.providerCode }),
    ...(failure.requestId === undefined ? {} : { requestId: failure.requestId }),
    ...(retryAt === undefined ? {} : { retryAt }),
    ...(detail === '' ? {} : { detail }),
    ...(failure.contextLimit === undefined ? {} : { contextLimit: failure.contextLimit }),
  }
}

function outerCode({ code, reason }: Failure): { code: ErrorCode; reason?: string } {
  if (code === 'provider.protocol_error') return { code: 'provider.unavailable', reason: 'protocol' }
  if (code === 'provider.input_rejected') return { code: 'provider.request_rejected' }
  return reason === undefined ? { code } : { code, reason }
}

/** No markup, one line, no secrets, bounded. */
function clean(text: string, limit: number, key: string | null): string {
  // Markup of an error page may be long; what is shown is not.
  const plain = text
    .slice(0, 65_536)
    .replace(/<(script|style)\b[^]*?<\/\1>/gi, ' ')
    .replace(/<\/?[a-zA-Z!][^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  const hidden = key ? plain.replaceAll(key, '[redacted]') : plain
  return hidden
    .replace(/\b(sk|pk|key|ghp|xai|gsk)[-_][\w-]{12,}|Bearer\s+[\w.~+/-]{8,}=*/gi, '[redacted]')
    .slice(0, limit)
}

const codeOf = {
  'provider.quota_exhausted': [
    'insufficient_quota',
    'quota_exceeded',
    'exceeded_current_quota_error',
    'billing_error',
    'billing_hard_limit_reached',
    'billing_not_active',
    'insufficient_balance',
    'insufficient_credits',
    'payment_required',
    'usage_limit_reached',
    'usage_limit_exceeded',
  ],
  'provider.rate_limited': [
    'rate_limit_exceeded',
    'rate_limit_error',
    'rate_limit_reached_error',
    'too_many_requests',
    'requests',
    'tokens',
  ],
  'provider.auth_invalid': [
    'invalid_api_key',
    'incorrect_api_key',
    'authentication_error',
    'invalid_authentication_error',
    'permission_error',
    'permission_denied',
    'unauthorized',
    'account_deactivated',
  ],
  'provider.unavailable': [
    'overloaded_error',
    'overloaded',
    'server_overloaded',
    'engine_overloaded_error',
    'engine_overloaded',
  ],
  'provider.content_refused': [
    'content_filter',
    'content_policy_violation',
    'responsible_ai_policy_violation',
    'refusal',
    'safety',
  ],
  'provider.context_overflow': [
    'context_length_exceeded',
    'context_window_exceeded',
    'exceed_context_size_error',
    'request_too_large',
    'prompt_too_long',
  ],
  'model.not_found': ['model_not_found', 'model_not_available', 'unknown_model', 'not_found_error'],
} satisfies Partial<Record<ErrorCode, string[]>>

type Phrase = [RegExp, Partial<Failure>]

/** Whole phrases, looked at last and only in refusals of a request. */
const refusals: Phrase[] = [
  [/credit balance is too low|exceeded your current quota/i, { code: 'provider.quota_exhausted' }],
  [
    /prompt is too long|maximum context length is|exceeds? the (available context size|context window|model's context)|input is too long for/i,
    { code: 'provider.context_overflow' },
  ],
  [
    /(invalid|expected|missing)[^.]{0,40}`?(signature|thought_signature|encrypted_content)`?|reasoning_details? (is|are) (invalid|not valid)/i,
    { code: 'provider.carrier_rejected' },
  ],
]
const lacks: Phrase[] = [
  [
    /(could not|unable to|cannot|failed to) (process|decode|read|parse|download) (the |an? |this |input |provided )*image|(invalid|corrupt(ed)?|malformed|unsupported) (base64[ -]encoded )?image|image[^.]{0,60}(is (not valid|invalid|corrupt|malformed|too large|too small|empty)|exceeds|could not be (processed|decoded|read)|dimensions|media type)/i,
    { code: 'provider.input_rejected', badImage: true },
  ],
  [
    /(does|do) not support (tools|tool use|tool calling|function calling)|no endpoints found that support tool use|tool (use|choice) (is not supported|requires)|tools are not supported/i,
    { drop: 'tools' },
  ],
  [
    /(does|do) not support (images?|image inputs?|vision|multimodal)|image input is not supported|image_url is only supported|no endpoints found that support image input/i,
    { code: 'provider.input_rejected', drop: 'images' },
  ],
  [
    /(does|do) not support (thinking|reasoning|effort)|(thinking|reasoning(_effort)?|effort) is not supported/i,
    { drop: 'effort' },
  ],
]

/** The names of refused parameters, as they stand in `param` or in quotes in the message. */
const parameters: Record<Droppable, string[]> = {
  effort: ['reasoning_effort', 'reasoning', 'output_config', 'thinking', 'think', 'effort'],
  temperature: ['temperature'],
  usage: ['stream_options'],
  tools: ['tools', 'tool_choice'],
  images: ['image_url', 'images'],
}

export type ErrorAnswer = { status: number | undefined; headers: Record<string, string>; body: unknown; text: string }

/** Classifies a failed response, or an error object inside a good one (status undefined) (M-55, M-68). */
export function classify(answer: ErrorAnswer, keySent: boolean, now: number): Failure {
  const error = errorObject(answer.body)
  const codes = [error.code, error.type, error.status]
    .filter((code) => typeof code === 'string')
    .map((code) => code.toLowerCase())
  // Some routers put the HTTP status of the real failure into the error object of a 200.
  const status =
    answer.status ??
    [error.code, error.status].find((code): code is number => typeof code === 'number' && code >= 400 && code < 600)
  const found: Failure = {
    code: 'provider.request_rejected',
    text: error.message,
    status,
    providerCode: codes[0],
    requestId: requestIdOf(answer.headers),
    detail: answer.text,
    ...byCode(codes),
  }
  if (found.code === 'provider.request_rejected') Object.assign(found, byStatus(status))
  if (found.code === 'provider.request_rejected') Object.assign(found, byText(error))
  const decided =
    found.code !== 'provider.request_rejected' || found.drop !== undefined || codes.includes('invalid_request_error')
  if (status === undefined && !decided) found.code = 'provider.unavailable'
  if (found.code === 'provider.context_overflow') found.contextLimit = namedLimit(error.message)
  if (found.code === 'provider.auth_invalid' && !keySent) found.code = 'provider.auth_missing'
  if (found.code === 'provider.unavailable') {
    found.reason = codes.some((code) => code.includes('overload')) || status === 529 ? 'overloaded' : 'server'
    found.loading = status === 503 && /\bloading model\b|model is loading/i.test(error.message)
  }
  if (['provider.rate_limited', 'provider.unavailable', 'provider.quota_exhausted'].includes(found.code))
    found.retryAfterMs = retryAfter(answer.headers, answer.body, now)
  return found
}

/** The length of a model as refusals of longer requests name it; undefined where they do not. */
function namedLimit(text: string): number | undefined {
  const [, digits] =
    /maximum context length is (\d[\d,]*)|tokens > (\d[\d,]*) maximum|context (?:size|window|length)[^\d]{1,20}(\d[\d,]*)/i
      .exec(text)
      ?.filter((part) => part !== undefined) ?? []
  const tokens = Number(digits?.replaceAll(',', ''))
  return Number.isSafeInteger(tokens) && tokens > 0 ? tokens : undefined
}

function byCode(codes: string[]): Partial<Failure> {
  const found = Object.entries(codeOf).find(([, known]) => codes.some((code) => known.includes(code)))
  return found ? { code: found[0] as ErrorCode } : {}
}

function byStatus(status: number | undefined): Partial<Failure> {
  if (status === undefined) return {}
  if (status === 402) return { code: 'provider.quota_exhausted' }
  if (status === 429) return { code: 'provider.rate_limited' }
  if (status === 401 || status === 403) return { code: 'provider.auth_invalid' }
  if (status === 404) return { code: 'model.not_found' }
  if (status === 413) return { code: 'provider.context_overflow' }
  return status === 408 || status >= 500 ? { code: 'provider.unavailable' } : {}
}

function byText({ message, param }: ErrorObject): Partial<Failure> {
  const refusal = refusals.find(([phrase]) => phrase.test(message))
  if (refusal) return refusal[1]
  for (const [drop, names] of Object.entries(parameters) as [Droppable, string[]][]) {
    const quoted = names.some((name) => new RegExp(`['"\`]${name}['"\`]`).test(message))
    if (names.includes(param) || quoted) return drop === 'images' ? { code: 'provider.input_rejected', drop } : { drop }
  }
  return lacks.find(([phrase]) => phrase.test(message))?.[1] ?? {}
}

type ErrorObject = { message: string; code: unknown; type: unknown; status: unknown; param: string }

/** The forms in use: `{error: {...}}`, `{error: "..."}`, a list of one, or the fields at the top. */
function errorObject(body: unknown): ErrorObject {
  const first = Array.isArray(body) ? body[0] : body
  const outer = isRecord(first) ? first : {}
  const inner = isRecord(outer['error']) ? outer['error'] : outer
  const said = [inner['message'], outer['error'], outer['detail'], outer['message']].find(
    (text) => typeof text === 'string',
  )
  return {
    message: said ?? '',
    code: inner['code'],
    type: inner['type'],
    status: inner['status'],
    param: typeof inner['param'] === 'string' ? inner['param'] : '',
  }
}

/** A connection that never stood or broke before an answer (M-69: on this machine, the server is off). */
export function transportFailure(error: NetError, provider: Provider): Failure {
  return {
    code: provider.loopback ? 'provider.local_server_off' : 'provider.unreachable',
    providerCode: error.transportCode,
    detail: error.message,
  }
}

export function requestIdOf(headers: Record<string, string>): string | undefined {
  return headers['x-request-id'] ?? headers['request-id']
}
