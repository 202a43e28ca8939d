/** Tool `update_plan`: the turn's checklist, replaced as a whole (T-83). */
import { z } from 'zod'
import { planEntriesMax, planEntryCharsMax } from '../../preload/contract/limits.ts'
import type { Tool } from './tool.ts'

const Input = z.object({
  entries: z
    .array(
      z.object({
        id: z.string().min(1).max(64).optional().describe('Keep it when an entry stays the same.'),
        text: z.string().trim().min(1).max(planEntryCharsMax).describe('One short sentence.'),
        state: z.enum(['pending', 'active', 'done', 'dropped']),
      }),
    )
    .max(planEntriesMax)
    .describe('The whole plan, in order. It replaces the previous one.'),
})

export const updatePlan: Tool<z.infer<typeof Input>> = {
  name: 'update_plan',
  description:
    'Shows the person your plan as a checklist. Use it for work of three or more steps: write the plan first, keep exactly one entry active, and send the whole list again whenever a state changes.',
  input: Input,
  concurrent: false,
  title: (input) => {
    const done = input.entries.filter((entry) => entry.state === 'done').length
    return `Plan: ${done} of ${input.entries.length} done`
  },
  plan: async (input) => ({
    effects: [{ kind: 'none' }],
    preview: { title: 'Update the plan', detail: `${input.entries.length} entries`, detailKind: 'text' },
  }),
  run: async (input, context) => {
    const entries = input.entries.map((entry, at) => ({
      id: entry.id ?? String(at + 1),
      text: entry.text,
      state: entry.state,
    }))
    context.setPlan({ entries, settled: false })
    return { text: 'The plan is shown.', isError: false }
  },
}
