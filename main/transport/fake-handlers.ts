/** Handlers for tests: only what a test gives is there; anything else fails as a fault would. */
import type { Handlers } from './handlers.ts'

export type PartialHandlers = { [Group in keyof Handlers]?: Partial<Handlers[Group]> }

export function fakeHandlers(given: PartialHandlers): Handlers {
  const groups = given as Record<string, Record<string, unknown> | undefined>
  return new Proxy({} as Handlers, {
    get: (_handlers, group: string) =>
      new Proxy(
        {},
        {
          get: (_group, route: string) => {
            const handler = groups[group]?.[route]
            if (!handler) throw new Error(`This test has no ${group}.${route}.`)
            return handler
          },
        },
      ),
  })
}
