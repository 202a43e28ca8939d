/** What providers refused, so that it is not sent again for a week (M-30). */
import type { Droppable } from './failure.ts'

export type Finding = { model: string; drop: Droppable; at: number }

/** Where findings outlive the process; both calls are quick. */
export type FindingStore = { read(): Finding[]; write(findings: Finding[]): void }

const week = 7 * 24 * 60 * 60_000
const limit = 500

export class Learned {
  readonly #store: FindingStore | undefined
  readonly #now: () => number
  #findings: Finding[]

  constructor(now: () => number, store: FindingStore | undefined) {
    this.#now = now
    this.#store = store
    this.#findings = store?.read() ?? []
  }

  without(model: string): Set<Droppable> {
    return new Set(
      this.#findings
        .filter((finding) => finding.model === model && this.#now() - finding.at < week)
        .map(({ drop }) => drop),
    )
  }

  add(model: string, drop: Droppable): void {
    const others = this.#findings.filter((finding) => finding.model !== model || finding.drop !== drop)
    this.#findings = [...others, { model, drop, at: this.#now() }].slice(-limit)
    this.#store?.write(this.#findings)
  }
}
