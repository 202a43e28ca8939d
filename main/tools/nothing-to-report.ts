/** Tool `nothing_to_report`: a turn that nobody waits for ends without a word, by a typed call and never by its text (T-33, A-117). */
import { z } from 'zod'
import type { Tool } from './tool.ts'

export const nothingToReport: Tool<object> = {
  name: 'nothing_to_report',
  description:
    'Ends this turn quietly. Call it alone, when nothing is left to do and nothing came out that is worth telling the person.',
  input: z.object({}),
  concurrent: false,
  title: () => 'Nothing to report',
  plan: async () => ({
    effects: [{ kind: 'none' }],
    preview: { title: 'End quietly', detail: '', detailKind: 'text' },
  }),
  run: async () => ({ text: 'The turn ends quietly.', isError: false }),
}
