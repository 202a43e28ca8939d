/**
 * A tool whose calls run processes, watched: what they change in the workspace is part of their results (F-902). With
 * `lingers` its processes may outlive their calls.
 */
import type { FileChange } from '../files/change.ts'
import type { WorkspaceChanges } from '../files/workspace-changes.ts'
import { placeOf } from './file-effects.ts'
import type { Effect, Tool, ToolContext } from './tool.ts'

/** What a call changed that ended without a result; it still belongs to its turn. */
export type LateChanges = (context: ToolContext, changes: FileChange[]) => void

export function withCommandChanges<T extends Tool>(
  tool: T,
  watched: WorkspaceChanges,
  late: LateChanges,
  lingers = false,
): T {
  /** Calls that were judged to read only. */
  const reading = new WeakSet<ToolContext>()
  return {
    ...tool,

    async plan(input, context) {
      const plan = await tool.plan(input, context)
      if (plan.effects.every(onlyReads)) reading.add(context)
      return plan
    },

    async run(input, context) {
      if (reading.has(context)) return tool.run(input, context)
      const { turnId, callId } = context
      const close = await watched.begin({ place: placeOf(context), turnId, callId }, { lingers })
      try {
        const result = await tool.run(input, context)
        const changes = await close()
        return { ...result, changes: [...(result.changes ?? []), ...changes] }
      } catch (error) {
        const changes = await close()
        if (changes.length > 0) late(context, changes)
        throw error
      }
    },
  }
}

function onlyReads(effect: Effect): boolean {
  return effect.kind === 'read' || effect.kind === 'none' || (effect.kind === 'command' && effect.readOnly)
}
