/** Tool `subagent`: hands a task to a helper with a context of its own (C-95, C-96). What it does is judged call by call. */
import { z } from 'zod'
import { subagentLabelCharsMax, subagentResultCharsMax, subagentTaskCharsMax } from '../../preload/contract/limits.ts'
import type { Tool, ToolContext, ToolResult } from './tool.ts'

const Input = z.object({
  task: z
    .string()
    .trim()
    .min(1)
    .max(subagentTaskCharsMax)
    .describe('All it has to know: it sees nothing of this conversation. Say what to bring back.'),
  label: z.string().trim().min(1).max(subagentLabelCharsMax).describe('Two to five words for the person'),
  background: z.boolean().default(false).describe('Go on meanwhile; its result is given to you when it is there'),
  model: z.string().max(300).optional().describe('Only where the person named one'),
})
export type SubagentRequest = z.infer<typeof Input>

/** Throws `subagent.queue_full`, `model.unknown`. In the foreground it resolves once the subagent has come to rest. */
export type AskSubagent = (request: SubagentRequest, context: ToolContext) => Promise<ToolResult>

const description = `Gives a self-contained task to a subagent: a helper in the same workspace with your tools and an empty context, whose last message you get as the result. Worth it for searches that read much and need few words back, and for parts that do not touch one another; several calls in one step run side by side. Not for what one or two calls of your own would do. Check what it reports before you rely on it.`

export function createSubagentTool(ask: AskSubagent): Tool<SubagentRequest> {
  return {
    name: 'subagent',
    description,
    input: Input,
    concurrent: true,
    queues: true,
    timeLimitMs: null,
    resultCap: subagentResultCharsMax,
    title: ({ label }) => label,
    plan: async ({ label, task }) => ({
      effects: [{ kind: 'none' }],
      preview: { title: label, detail: task, detailKind: 'text' },
    }),
    run: ask,
  }
}
