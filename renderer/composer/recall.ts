/** Walking through prompts from before (S-103). The unsent draft is the newest entry; nothing walked past is changed. */
import type { Prompt } from '../../preload/contract/session-routes.ts'

export type Recall = {
  /** Newest first. */
  prompts: readonly Prompt[]
  /** -1 is the draft. */
  at: number
  draft: Prompt
}

export function startRecall(prompts: readonly Prompt[], draft: Prompt): Recall {
  // Sent twice in a row is one step.
  const distinct = prompts.filter(({ text }, index) => text !== prompts[index - 1]?.text && text.trim() !== '')
  return { prompts: distinct, at: -1, draft }
}

/** One step; null where there is nothing further that way. */
export function stepRecall(recall: Recall, step: 1 | -1): Recall | null {
  const at = recall.at + step
  return at < -1 || at >= recall.prompts.length ? null : { ...recall, at }
}

/** What the composer shows at this step, with what is mentioned in it. */
export function recalledPrompt({ prompts, at, draft }: Recall): Prompt {
  return at < 0 ? draft : (prompts[at] ?? draft)
}
