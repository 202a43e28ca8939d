/** Tool `ask_person`: choices, free text or a secret (T-147). No answer is told as such; the turn goes on (T-149). */
import { z } from 'zod'
import { choiceCharsMax, choicesMax, questionCharsMax } from '../../preload/contract/limits.ts'
import type { Tool } from './tool.ts'

const Input = z.object({
  question: z.string().trim().min(1).max(questionCharsMax),
  choices: z
    .array(z.string().trim().min(1).max(choiceCharsMax))
    .max(choicesMax)
    .optional()
    .describe('Answers to pick from, if there are clear ones.'),
  multiple: z.boolean().optional().describe('More than one choice may be picked.'),
  allow_text: z.boolean().optional().describe('The person may also type an answer. Default true.'),
  secret: z.boolean().optional().describe('The answer is a password or key. You will only be told that it was given.'),
})

const noAnswer = {
  declined: 'The person declined to answer. Use your judgement and say what you assumed.',
  blank: 'The person gave no answer. Use your judgement and say what you assumed.',
  expired: 'Nobody answered in time. Use your judgement and say what you assumed.',
  unattended: 'Nobody can be asked here. Use your judgement and say what you assumed.',
  cancelled: 'The turn ended before an answer came.',
} as const

export const askPerson: Tool<z.infer<typeof Input>> = {
  name: 'ask_person',
  description:
    'Asks the person a question and waits for the answer. Use it only when you cannot decide from the workspace and a wrong guess would be costly.',
  input: Input,
  concurrent: false,
  timeLimitMs: null,
  title: (input) => `Asked: ${input.question}`.slice(0, 80),
  plan: async (input) => ({
    effects: [{ kind: 'person' }],
    preview: { title: 'Ask the person', detail: input.question, detailKind: 'text' },
  }),
  run: async (input, context) => {
    const choices = (input.choices ?? []).map((label, at) => ({ id: String(at + 1), label }))
    const ask = input.secret ? 'secret' : choices.length > 0 ? 'choice' : 'text'
    const answer = await context.ask({
      ask,
      text: input.question,
      choices,
      multiple: input.multiple ?? false,
      allowText: input.allow_text ?? true,
    })
    if ('noAnswer' in answer)
      return {
        text: noAnswer[answer.noAnswer],
        isError: true,
        code: 'question.no_answer',
        summary: noAnswer[answer.noAnswer],
      }
    if (ask === 'secret') return { text: 'The person gave the secret. It is not shown to you.', isError: false }
    const parts = [...answer.answer.choices, ...(answer.answer.text === null ? [] : [answer.answer.text])]
    return { text: parts.join('\n'), isError: false }
  },
}
