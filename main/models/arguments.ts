/** Arguments of a tool call as the model wrote them: strict JSON first, then one careful repair (M-63). */
import { jsonrepair } from 'jsonrepair'
import { nestedValuesMax } from '../../preload/contract/limits.ts'
import { isRecord } from './config.ts'

export type ReadArguments = { args: Record<string, unknown> } | { raw: string; invalid: string }

/** A repair walks the text character by character; longer ones are refused instead of holding up the loop. */
const repairLimit = 256 * 1024

/** Nothing at all means `{}`. What is not closed is never repaired: it was cut, and half a file must not be written. */
export function readArguments(raw: string): ReadArguments {
  if (raw.trim() === '') return { args: {} }
  let value: unknown
  let complaint = ''
  try {
    value = JSON.parse(raw)
  } catch (error) {
    complaint = (error as Error).message
    if (!isClosed(raw)) complaint = `Not closed; the arguments were cut. ${complaint}`
    else if (raw.length <= repairLimit) value = repaired(raw)
  }
  if (isRecord(value) && nestsWithin(value, nestedValuesMax / 2)) return { args: value }
  if (isRecord(value)) complaint = 'They are nested too deep.'
  return { raw: raw.slice(0, 200), invalid: complaint || 'The arguments are not an object.' }
}

function repaired(raw: string): unknown {
  try {
    return JSON.parse(jsonrepair(raw))
  } catch {
    return undefined
  }
}

function nestsWithin(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return depth > 0 && Object.values(value).every((inner) => nestsWithin(inner, depth - 1))
}

const closers: Record<string, string> = { '{': '}', '[': ']' }

/** Whether every string, list and object is closed, with either kind of quote. */
function isClosed(text: string): boolean {
  const open: string[] = []
  let quote = ''
  for (let i = 0; i < text.length; i += 1) {
    const character = text[i]!
    if (quote !== '') {
      if (character === '\\') i += 1
      else if (character === quote) quote = ''
    } else if (character === '"' || character === "'") quote = character
    else if (closers[character]) open.push(closers[character])
    else if ((character === '}' || character === ']') && open.pop() !== character) return false
  }
  return quote === '' && open.length === 0
}
