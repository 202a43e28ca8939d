/** Figures of which some are not known: those say so and are never shown as nothing (T-87). */
import { costText, tokensText } from '../transcript/amounts.ts'

export function tokensOrUnknown(tokens: number | null): string {
  return tokens === null ? 'unknown' : tokensText(tokens)
}

export function costOrUnknown(dollars: number | null): string {
  return dollars === null ? 'unknown' : costText(dollars)
}
