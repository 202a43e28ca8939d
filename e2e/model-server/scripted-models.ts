/** What tests of models share: models over a scripted server, and an ear for a stream. */
import { vi } from 'vitest'
import { startModelServer, type ModelServer, type ModelServerOptions } from './server.ts'
import { readProvidersConfig, type ProviderKind } from '../../main/models/config.ts'
import type { ModelEvent, ModelRequest, Models } from '../../main/models/model.ts'
import { createModels, type ModelService, type ModelsOptions } from '../../main/models/models.ts'

export type Bench = { server: ModelServer; models: ModelService; log: Record<string, unknown>[] }

/** Models with one provider `lab` of this kind, asked at a scripted server. `more` goes over the configuration. */
export async function bench(
  kind: Exclude<ProviderKind, 'demo'>,
  script: ModelServerOptions['script'],
  more: {
    lab?: Record<string, unknown>
    config?: Record<string, unknown>
    options?: Partial<ModelsOptions>
    server?: ModelServerOptions
  } = {},
): Promise<Bench> {
  const server = await startModelServer({ ...more.server, ...(script ? { script } : {}) })
  const baseUrl = kind.startsWith('openai') ? server.baseUrl : server.url
  const { providers, ...rest } = more.config ?? {}
  const config = readProvidersConfig({
    providers: { lab: { kind, baseUrl, ...more.lab }, ...(providers as object) },
    ...rest,
  })
  const log: Record<string, unknown>[] = []
  const models = createModels({
    config: () => config,
    secret: async () => null,
    random: () => 0.5,
    log: (entry) => log.push(entry),
    env: {},
    ...more.options,
  })
  return { server, models, log }
}

export function request(prompt = 'hi', more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model: 'lab/m',
    messages: [{ role: 'user', parts: [{ type: 'text', text: prompt }] }],
    tools: [],
    sessionId: 's',
    interactive: true,
    ...more,
  }
}

export const readFile = {
  name: 'read_file',
  description: 'Reads a file',
  parameters: { type: 'object', properties: { path: { type: 'string' } } },
}

/** Timers and dates stand still until a wait is heard; sockets and the server's own pauses are real. */
export function fakeClock(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] })
}

/** Lets the fake clock run over a wait, once whoever announced it is waiting. */
function skip(event: ModelEvent): void {
  const ms =
    event.type === 'wait' && event.wait
      ? event.wait.until! - Date.now()
      : event.type === 'phase' && event.name === 'loading'
        ? 2_000
        : 0
  if (ms > 0 && vi.isFakeTimers()) setImmediate(() => vi.advanceTimersByTime(ms))
}

/** All events of one request; `on` sees each as it comes. */
export async function hear(
  models: Models,
  asked: ModelRequest,
  on: (event: ModelEvent) => void = () => {},
  signal = new AbortController().signal,
): Promise<ModelEvent[]> {
  const events: ModelEvent[] = []
  for await (const event of models.stream(asked, signal)) {
    events.push(event)
    on(event)
    skip(event)
  }
  return events
}

export function joined(events: ModelEvent[], type: 'text' | 'reasoning'): string {
  return events.map((event) => (event.type === type ? event.delta : '')).join('')
}

export function types(events: ModelEvent[]): string[] {
  return events.map(({ type }) => type)
}
