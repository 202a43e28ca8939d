/** Who answers: agents, providers and what they serve. */
import { z } from 'zod'
import { AgentEntry } from './agents.ts'
import { Time } from './items.ts'
import { act, done, Path, route } from './route.ts'

export const ModelEntry = z.object({
  name: z.string(),
  label: z.string(),
  provider: z.string(),
  contextLength: z.number(),
  contextLengthSource: z.enum(['config', 'server', 'catalog', 'assumed']),
  maxOutput: z.number(),
  tools: z.boolean().nullable(),
  vision: z.boolean().nullable(),
  efforts: z.array(z.string()).nullable(),
  price: z.object({ input: z.number(), output: z.number() }).nullable(),
})
export type ModelEntry = z.infer<typeof ModelEntry>

export const ProviderEntry = z.object({
  id: z.string(),
  kind: z.string(),
  label: z.string(),
  state: z.enum(['ready', 'needs_key', 'unreachable', 'off']),
  reason: z.string().nullable(),
  baseUrl: z.string().nullable(),
  keySource: z.enum(['environment', 'stored', 'none']),
  models: z.array(ModelEntry),
  /** Since when, why and until when turns with it do not start by themselves; without an end until something changes. */
  paused: z.object({ code: z.string(), since: Time, until: Time.nullable() }).optional(),
})
export type ProviderEntry = z.infer<typeof ProviderEntry>

export const modelRoutes = {
  agents: {
    /** Those that can be chosen in a folder, by name, the workspace's own before the person's; broken ones with their problem. */
    list: route.input(z.object({ workspace: Path.nullable() })).output(z.array(AgentEntry)),
  },
  models: {
    list: route.input(z.object({ refresh: z.boolean().optional() })).output(z.array(ProviderEntry)),
    /** Local servers that answer (M-15): offered, never added silently. */
    probe: route.output(
      z.array(z.object({ kind: z.string(), baseUrl: z.string(), label: z.string(), models: z.array(z.string()) })),
    ),
    test: route
      .input(z.object({ provider: z.string().max(32) }))
      .output(z.object({ ok: z.boolean(), message: z.string() })),
    putProvider: route
      .input(
        z.object({
          ...act,
          id: z.string().max(32),
          kind: z.string().max(32),
          baseUrl: z.string().max(2_000).optional(),
          apiKeyEnv: z.string().max(200).optional(),
          models: z.array(z.string().max(300)).max(200).optional(),
        }),
      )
      .output(done),
    removeProvider: route.input(z.object({ ...act, id: z.string().max(32) })).output(done),
    /** Turns that start by themselves may use this provider again. */
    resume: route.input(z.object({ ...act, provider: z.string().max(32) })).output(done),
    /** Goes once, to the keychain or the secrets file; no route ever answers it. */
    setKey: route
      .input(z.object({ ...act, provider: z.string().max(32), key: z.string().max(10_000).nullable() }))
      .output(z.object({ storedIn: z.enum(['keychain', 'file', 'none']) })),
  },
}
