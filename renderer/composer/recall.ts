/** Walking through prompts from before (S-103). The unsent draft is the newest entry; nothing walked past is changed. */

export type Recall = {
  /** Newest first. */
  prompts: readonly string[]
  /** -1 is the draft. */
  at: number
  draft: string
}

export function startRecall(prompts: readonly string[], draft: string): Recall {
  // Sent twice in a row is one step.
  const distinct = prompts.filter((prompt, index) => prompt !== prompts[index - 1] && prompt.trim() !== '')
  return { prompts: distinct, at: -1, draft }
}

/** One step; null where there is nothing further that way. */
export function stepRecall(recall: Recall, step: 1 | -1): Recall | null {
  const at = recall.at + step
  return at < -1 || at >= recall.prompts.length ? null : { ...recall, at }
}

export function recalledText({ prompts, at, draft }: Recall): string {
  return at < 0 ? draft : (prompts[at] ?? draft)
}
