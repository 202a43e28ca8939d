/** What providers refused, so that it is not sent again for a week (M-30, C-55). */
import type { Droppable } from './failure.ts'

/** A parameter to leave out, or the most tokens a request may have. */
export type Finding = { model: string; at: number } & ({ drop: Droppable } | { limit: number })

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
    return new Set(this.#of(model).flatMap((finding) => ('drop' in finding ? finding.drop : [])))
  }

  /** Infinite where no request was too long for this model. */
  limit(model: string): number {
    return Math.min(
      Number.POSITIVE_INFINITY,
      ...this.#of(model).flatMap((finding) => ('limit' in finding ? finding.limit : [])),
    )
  }

  add(model: string, drop: Droppable): void {
    this.#keep({ model, drop, at: this.#now() }, (one) => 'drop' in one && one.drop === drop)
  }

  addLimit(model: string, limit: number): void {
    this.#keep({ model, limit, at: this.#now() }, (one) => 'limit' in one)
  }

  #of(model: string): Finding[] {
    return this.#findings.filter((finding) => finding.model === model && this.#now() - finding.at < week)
  }

  #keep(finding: Finding, isSame: (one: Finding) => boolean): void {
    const others = this.#findings.filter((one) => one.model !== finding.model || !isSame(one))
    this.#findings = [...others, finding].slice(-limit)
    this.#store?.write(this.#findings)
  }
}
