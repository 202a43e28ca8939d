/** Recognising that a program on a terminal waits for a secret (X-428, K-04). */
import { reduceText } from './output.ts'

const asksForSecret =
  /(password|passphrase|passcode|\bpin\b|one[- ]time (code|password)|verification code|\botp\b|secret|kennwort|passwort|mot de passe|contrase(ñ|n)a)[^\n]{0,80}[:?>]\s*$/i
/** Asking about passwords is no asking for one: "Change password? [y/N]:" */
const asksForMore = /[[(]\s*y(es)?\s*[/|]\s*n(o)?\s*[\])]/i

export const promptQuietMs = 500
const lineMax = 400

/** The line a program stopped on, where it asks for a secret; null where it does not. */
export function secretPrompt(line: string): string | null {
  const text = reduceText(line).trim()
  return asksForSecret.test(text) && !asksForMore.test(text) ? text.slice(-200) : null
}

/** The end of what was printed since the last line end. */
export class LastLine {
  text = ''

  push(chunk: string): void {
    const at = chunk.lastIndexOf('\n')
    this.text = (at >= 0 ? chunk.slice(at + 1) : this.text + chunk).slice(-lineMax)
  }
}
