/** What a failure says and offers: one title, hint and set of actions a code, on every path (T-155, M-70). */
import type { ErrorBody, ErrorCode } from '../../preload/contract/errors.ts'
import type { ItemOf } from '../../preload/contract/items.ts'
import { errorDetailCharsMax, errorMessageCharsMax } from '../../preload/contract/limits.ts'

type Action = ItemOf<'error'>['actions'][number]
type Card = Pick<ItemOf<'error'>, 'code' | 'title' | 'message' | 'hint' | 'actions' | 'retryAt' | 'agent'> & {
  details?: string
}

const cards: Partial<Record<ErrorCode, { title: string; hint: string; actions: Action[] }>> = {
  'context.exhausted': {
    title: 'The conversation is too long for this model',
    hint: 'Start a new, focused session, or choose a model with a larger context.',
    actions: ['new_session', 'choose_model'],
  },
  'provider.local_server_off': {
    title: 'The local model server does not answer',
    hint: 'Start it, or choose another model.',
    actions: ['retry', 'choose_model'],
  },
  'provider.auth_missing': {
    title: 'This provider wants a key',
    hint: 'Add one under Settings, Models.',
    actions: ['settings', 'choose_model'],
  },
  'provider.auth_invalid': {
    title: 'The provider refused the key',
    hint: 'Check the key under Settings, Models.',
    actions: ['settings', 'retry', 'choose_model'],
  },
  'provider.credentials_exhausted': {
    title: 'Every key of this provider is used up',
    hint: 'Wait, add a key, or choose another model.',
    actions: ['wait', 'settings', 'choose_model'],
  },
  'provider.response_interrupted': {
    title: 'The answer was cut off',
    hint: 'Try again; what arrived is kept.',
    actions: ['retry', 'continue'],
  },
  'provider.quota_exhausted': {
    title: 'The quota of this account is used up',
    hint: 'Top it up, wait for the reset, or choose another model.',
    actions: ['choose_model', 'wait', 'retry'],
  },
  'provider.rate_limited': {
    title: 'The provider asks to wait',
    hint: 'Try again later, or choose another model.',
    actions: ['retry', 'choose_model'],
  },
  'model.not_found': {
    title: 'The provider does not know this model',
    hint: 'Choose another model.',
    actions: ['choose_model'],
  },
  'provider.content_refused': {
    title: 'The model refused this request',
    hint: 'Say it differently.',
    actions: ['retry', 'choose_model'],
  },
  'provider.request_rejected': {
    title: 'The provider rejected the request',
    hint: 'See the details, then try again.',
    actions: ['retry', 'choose_model'],
  },
  'provider.unavailable': {
    title: 'The provider is not available',
    hint: 'Try again, or choose another model.',
    actions: ['retry', 'choose_model'],
  },
  'provider.unreachable': {
    title: 'The provider cannot be reached',
    hint: 'Check the network and the address, then try again.',
    actions: ['retry', 'settings'],
  },
  'provider.stream_stalled': {
    title: 'The answer stopped coming',
    hint: 'Try again.',
    actions: ['retry', 'choose_model'],
  },
  'provider.no_response': {
    title: 'The model gave no answer',
    hint: 'This may be a silent limit of the provider. Try again, or choose another model.',
    actions: ['retry', 'choose_model'],
  },
  'agent.unavailable': {
    title: 'The agent cannot be started',
    hint: 'Check that it is installed.',
    actions: ['settings', 'retry'],
  },
  'config.invalid': {
    title: 'The configuration cannot be used',
    hint: 'Open config.json and mend it.',
    actions: ['open_config', 'settings'],
  },
  'person.needed': {
    title: 'A person is needed',
    hint: 'Run it in a window, choose another --approve, or add a rule.',
    actions: ['continue'],
  },
  'storage.failed': {
    title: 'The work could not be saved',
    hint: 'Free disk space, then try again.',
    actions: ['retry'],
  },
  'workspace.missing': { title: 'The folder is gone', hint: 'Locate it, then try again.', actions: ['retry'] },
  'app.internal': {
    title: 'Something went wrong inside Lathe',
    hint: 'Try again. If it happens again, report it.',
    actions: ['retry', 'report'],
  },
}

export function failureCard(error: ErrorBody & { detail?: string | undefined; retryAt?: number | undefined }): Card {
  const agent = typeof error.data?.['agent'] === 'string' ? error.data['agent'] : null
  const card = agent === null ? (cards[error.code] ?? cards['app.internal']!) : agentCard(error)
  const details = error.detail ? clip(error.detail, errorDetailCharsMax) : ''
  return {
    code: error.code,
    title: card.title,
    message: clip(error.message || card.title, errorMessageCharsMax),
    hint: error.hint ?? card.hint,
    actions: card.actions,
    retryAt: error.retryAt ?? null,
    ...(agent === null ? {} : { agent }),
    ...(details ? { details } : {}),
  }
}

/** Of a chosen agent that cannot be used (T-160): its file is mended, or another one chosen. */
function agentCard({ reason }: ErrorBody) {
  return {
    title: 'The chosen agent cannot be used',
    hint: 'Open its file and mend it, or choose another one.',
    actions: [...(reason === 'agent_missing' ? [] : ['open_agent']), 'choose_agent', 'retry'] as Action[],
  }
}

/** Markup out, white space collapsed, cut with an ellipsis. */
function clip(text: string, most: number): string {
  const flat = text
    .replace(/<[^>]{1,200}>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  return flat.length > most ? `${flat.slice(0, most - 1)}…` : flat
}
