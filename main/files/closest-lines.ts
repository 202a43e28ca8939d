/** The places of a file most like a text that was not found in it (F-518). */
import { similarity } from './similarity.ts'

export type Window = { /** From 1. */ line: number; text: string; ratio: number }

const ratioMin = 0.5
const windowsCompared = 12
const windowsMax = 3
/** Longer old texts are compared by their beginning. */
const comparedChars = 20_000

/**
 * Up to three windows of as many lines as the wanted text, closest first, similarity at least 0.5. A cheap pass counts
 * shared words along the file; only the best windows are compared character by character.
 */
export function closestWindows(text: string, wanted: string): Window[] {
  const wantedLines = wanted.replace(/\n$/, '').split('\n')
  const words = new Set(wordsOf(wanted))
  if (words.size === 0) return []
  const lines = text.split('\n')
  const height = Math.min(wantedLines.length, lines.length)
  const weights = lines.map((line) => wordsOf(line).reduce((sum, word) => sum + (words.has(word) ? 1 : -0.2), 0))

  const candidates: { first: number; score: number }[] = []
  let score = 0
  for (const [last, weight] of weights.entries()) {
    score += weight - (weights[last - height] ?? 0)
    const first = last - height + 1
    if (first < 0 || score <= 0) continue
    insertBest(candidates, { first, score })
  }

  const target = folded(wanted)
  return candidates
    .map(({ first }) => {
      const window = lines.slice(first, first + height).join('\n')
      return { line: first + 1, text: window, ratio: similarity(target, folded(window)) }
    })
    .filter(({ ratio }) => ratio >= ratioMin)
    .sort((a, b) => b.ratio - a.ratio || a.line - b.line)
    .filter((window, at, sorted) =>
      sorted.slice(0, at).every((better) => Math.abs(better.line - window.line) >= height),
    )
    .slice(0, windowsMax)
}

/** Keeps the best few, highest score first. */
function insertBest(best: { first: number; score: number }[], one: { first: number; score: number }): void {
  if (best.length === windowsCompared && best.at(-1)!.score >= one.score) return
  const at = best.findIndex(({ score }) => score < one.score)
  best.splice(at === -1 ? best.length : at, 0, one)
  if (best.length > windowsCompared) best.pop()
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []
}

/** Blanks do not count: the indent is rarely what makes a place the right one. */
function folded(text: string): string {
  return text.slice(0, comparedChars).replace(/\s+/g, ' ').trim()
}
