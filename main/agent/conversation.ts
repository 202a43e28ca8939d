/**
 * What a turn sends with each request, kept within the model's budget (context.md 6 and 7): the system prompt, what came
 * before this turn, and what the turn has brought so far. What is left out of a request stays in the transcript.
 */
import { compactionsPerTurnMax } from '../../preload/contract/limits.ts'
import type { ContextFigures } from '../../preload/contract/session.ts'
import type { ModelMessage, ModelUsage } from '../models/model.ts'
import type { Budget } from './budget.ts'
import { prune, snip } from './fitting.ts'
import { countMessage, countMessages } from './token-count.ts'

export type ConversationInput = {
  /** `PROVIDER/MODEL`, whose figures these are. */
  model: string
  system: string
  /** Tokens of the tool definitions. */
  toolTokens: number
  /** What is sent of earlier turns, the summary in force first. */
  earlier: Earlier
  /** This turn's message, and what goes with it. */
  own: ModelMessage[]
  budget: Budget
  /** Tokens the whole is known to have; null where it was never measured. */
  known: number | null
  reproducible(tool: string): boolean
  /** Results that are out of every later request (C-52). */
  pruned(itemIds: string[]): Promise<unknown>
  /** Earlier turns anew, once a summary stands for some of them; null where there is none (C-53). */
  compact(wish: { room: number; inputMax: number }): Promise<Earlier | null>
  notice(text: string): void
}

/** No text has so few tokens for its length. */
const implausible = 4

export type Earlier = { summary: ModelMessage[]; messages: ModelMessage[] }

export class Conversation {
  readonly #input: ConversationInput
  readonly #system: ModelMessage
  #budget: Budget
  #earlier: Earlier
  #own: ModelMessage[]
  /** As measured for everything but what was added since. */
  #base: { tokens: number; counted: number } | null = null
  /** Never undercut while nothing was left out (C-42). */
  #least = 0
  #isMeasured = false
  #compactions = 0
  #compactedInStep = false
  #toldOfSnip = false

  constructor(input: ConversationInput) {
    this.#input = input
    this.#system = { role: 'system', text: input.system }
    this.#budget = input.budget
    this.#earlier = input.earlier
    this.#own = [...input.own]
    if (input.known !== null && this.#isPlausible(input.known))
      this.#base = { tokens: input.known, counted: input.own.length }
  }

  push(...messages: readonly ModelMessage[]): void {
    if (messages.length > 0) this.#isMeasured = false
    this.#own.push(...messages)
  }

  beginStep(): void {
    this.#compactedInStep = false
  }

  /** What the last request was, with the reply that was pushed since (C-40). */
  measured({ input, output, estimated }: ModelUsage): void {
    if (estimated || input === null || !Number.isInteger(input) || input <= 0) return
    const tokens = input + (output ?? 0)
    if (!this.#isPlausible(tokens)) return
    this.#base = { tokens, counted: this.#own.length }
    this.#least = tokens
    this.#isMeasured = true
  }

  /** `more`: characters that stream and are not part of it yet. */
  figures(more = 0): ContextFigures {
    const { window, thresholds } = this.#budget
    return {
      used: Math.max(this.#least, this.#tokens([])) + Math.ceil(more / 3.5),
      window,
      compactAt: thresholds?.compactAt ?? null,
      estimated: !this.#isMeasured || more > 0,
      model: this.#input.model,
    }
  }

  /**
   * The messages of the next request, `extra` last; null where they cannot be brought under the budget. At or under it they
   * go as they are; over it results of this turn are left out, then earlier turns are summarised, then older steps are
   * left out of this one request (C-48).
   */
  async fitted(extra: readonly ModelMessage[]): Promise<ModelMessage[] | null> {
    const fits = () => this.#tokens(extra) <= this.#budget.input
    if (fits()) return this.#all(extra)
    const pruned = this.#prune(extra)
    if (!fits() && this.#mayCompact) await this.#compact(extra)
    const fitted = fits() ? this.#all(extra) : this.#snipped(extra)
    // A turn that has to fail leaves nothing behind (C-56).
    if (fitted && pruned.length > 0) await this.#input.pruned(pruned)
    return fitted
  }

  /** The request was too long after all: from now on `budget` holds, and never again as much as was sent (C-55). */
  overflowed(extra: readonly ModelMessage[], budget: Budget): void {
    const sent = Math.max(this.#tokens(extra), this.#count(extra))
    this.#budget = { ...budget, input: Math.min(budget.input, Math.floor(sent * 0.8)) }
    this.#forget()
  }

  /** Tokens a request would have now, as far as is known. */
  estimate(extra: readonly ModelMessage[] = []): number {
    return this.#tokens(extra)
  }

  /** Why it ended, for people (C-56, K-27). */
  exhausted(): string {
    const times = this.#compactions
    const tried =
      times === 0
        ? ''
        : ` Older turns were summarised ${times === 1 ? 'once' : `${times} times`} in this turn, which did not free enough.`
    return `What this turn needs no longer fits into the model's context.${tried}`
  }

  #prune(extra: readonly ModelMessage[]): string[] {
    const { own, pruned } = prune(this.#own, {
      around: this.#fixed + countMessages(this.#before) + countMessages(extra),
      budget: this.#budget.input,
      reproducible: this.#input.reproducible,
    })
    if (pruned.length > 0) {
      this.#own = own
      this.#forget()
    }
    return pruned
  }

  async #compact(extra: readonly ModelMessage[]): Promise<void> {
    const { input, thresholds } = this.#budget
    this.#compactedInStep = true
    this.#compactions++
    const rest = this.#fixed + countMessages(this.#own) + countMessages(extra)
    const retain = Math.min(thresholds?.retain ?? Number.POSITIVE_INFINITY, Math.floor(input / 2))
    const earlier = await this.#input.compact({ room: Math.max(0, retain - rest), inputMax: input })
    if (!earlier) return
    this.#earlier = earlier
    this.#forget()
  }

  #snipped(extra: readonly ModelMessage[]): ModelMessage[] | null {
    const { summary, messages } = this.#earlier
    const own = [...this.#own, ...extra]
    const fit = snip({ summary, earlier: messages, own }, this.#budget.input - this.#fixed)
    if (!fit) return null
    this.#tellOfSnip(fit.leftOut)
    return [this.#system, ...fit.messages]
  }

  get #fixed(): number {
    return countMessage(this.#system) + this.#input.toolTokens
  }

  get #before(): ModelMessage[] {
    return [...this.#earlier.summary, ...this.#earlier.messages]
  }

  get #mayCompact(): boolean {
    return !this.#compactedInStep && this.#compactions < compactionsPerTurnMax && this.#earlier.messages.length > 0
  }

  #tokens(extra: readonly ModelMessage[]): number {
    if (!this.#base) return this.#count(extra)
    return this.#base.tokens + countMessages(this.#own.slice(this.#base.counted)) + countMessages(extra)
  }

  #count(extra: readonly ModelMessage[]): number {
    return this.#fixed + countMessages(this.#before) + countMessages(this.#own) + countMessages(extra)
  }

  /** Some servers report only what they had not cached: a figure far below any count is none (C-40). */
  #isPlausible(tokens: number): boolean {
    return tokens >= this.#count([]) / implausible
  }

  #all(extra: readonly ModelMessage[]): ModelMessage[] {
    return [this.#system, ...this.#before, ...this.#own, ...extra]
  }

  /** Something before the end has changed: the whole is counted anew. */
  #forget(): void {
    this.#base = null
    this.#least = 0
    this.#isMeasured = false
  }

  #tellOfSnip(leftOut: number): void {
    if (this.#toldOfSnip) return
    this.#toldOfSnip = true
    this.#input.notice(
      `${leftOut} older ${leftOut === 1 ? 'message was' : 'messages were'} left out of what the model is sent, to fit its context.`,
    )
  }
}
