/** Answers of the routes about processes: exec sessions and terminals. */
import type { ExecSessions } from '../../exec/exec-sessions.ts'
import type { Terminals } from '../../exec/terminals.ts'
import { whileMayAct } from '../../turns/requests.ts'
import { ok, signalOf, type Handlers } from '../handlers.ts'

export type ProcessServices = { exec: ExecSessions; terminals: Terminals }

export function processAnswers({ exec, terminals }: ProcessServices): Pick<Handlers, 'exec' | 'terminals'> {
  return {
    exec: {
      stop: async ({ sessionId, id }) => {
        const session = await exec.get(sessionId, id)
        await session.stop()
        return ok
      },
      hold: async ({ sessionId, id, held }) => {
        const session = await exec.get(sessionId, id)
        session.hold(held)
        return ok
      },
    },
    terminals: {
      list: async () => terminals.list(),
      profiles: ({ workspace }) => terminals.profiles(workspace),
      open: ({ workspace, cols, rows, profile }, { rights }) =>
        terminals.open({ workspace, cols, rows, profile, signal: whileMayAct(rights) }),
      // An exec session is looked at, and typed into, as a terminal is.
      attach: ({ id, after }, client) => {
        const signal = signalOf(client)
        const session = exec.atScreen(id)
        return session
          ? session.frames(after, signal)
          : terminals.attach(id, { ...(after === undefined ? {} : { after }), signal })
      },
      input: async ({ id, data }) => {
        const session = exec.atScreen(id)
        if (session) session.type(data)
        else terminals.input(id, data)
        return ok
      },
      resize: async ({ id, cols, rows }) => {
        const session = exec.atScreen(id)
        if (session) session.resize(cols, rows)
        else terminals.resize(id, cols, rows)
        return ok
      },
      rename: async ({ id, title }) => (terminals.rename(id, title), ok),
      clear: async ({ id }) => {
        const session = exec.atScreen(id)
        await (session ? session.clear() : terminals.clear(id))
        return ok
      },
      close: async ({ id }) => (await terminals.close(id), ok),
    },
  }
}
