/** The person's own terminals. */
import { eventIterator } from '@orpc/contract'
import { z } from 'zod'
import { PlacedCommands } from './command-marks.ts'
import { TerminalState } from './events.ts'
import { Id } from './ids.ts'
import { act, done, Path, route, stream } from './route.ts'
import { TerminalProfile } from './settings.ts'

export const TerminalFrame = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('snapshot'),
    offset: z.number(),
    data: z.string(),
    cols: z.number(),
    rows: z.number(),
    /** Where the shell does not mark its commands: absent. */
    commands: PlacedCommands.optional(),
  }),
  z.object({ type: z.literal('data'), offset: z.number(), data: z.string() }),
  z.object({
    type: z.literal('exit'),
    offset: z.number(),
    exitCode: z.number().nullable(),
    signal: z.string().nullable(),
  }),
])
export type TerminalFrame = z.infer<typeof TerminalFrame>

export const terminalRoutes = {
  terminals: {
    list: route.output(z.array(TerminalState)),
    /** What a terminal can be opened with: the default first, then the person's profiles and the shells installed. */
    profiles: route.input(z.object({ workspace: Path })).output(z.array(TerminalProfile)),
    open: route
      .input(
        z.object({
          ...act,
          workspace: Path,
          cols: z.number().int().min(2).max(1_000),
          rows: z.number().int().min(1).max(1_000),
          /** Name of a profile; without one, the default. */
          profile: z.string().max(40).optional(),
        }),
      )
      .output(TerminalState),
    attach: route
      .input(z.object({ ...stream, id: Id, after: z.number().int().nonnegative().optional() }))
      .output(eventIterator(TerminalFrame)),
    input: route.input(z.object({ id: Id, data: z.string().max(5 * 1024 * 1024) })).output(done),
    resize: route
      .input(z.object({ id: Id, cols: z.number().int().min(2).max(1_000), rows: z.number().int().min(1).max(1_000) }))
      .output(done),
    rename: route.input(z.object({ ...act, id: Id, title: z.string().max(100) })).output(done),
    /** Forgets scrollback and screen but for the cursor's row. */
    clear: route.input(z.object({ ...act, id: Id })).output(done),
    /** Ends the process tree; the tab goes once its exit is seen. */
    close: route.input(z.object({ ...act, id: Id })).output(done),
  },
}
