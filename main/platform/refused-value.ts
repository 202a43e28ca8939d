/** What a schema refused, said to the person who wrote the file. Pure. */
import type { z } from 'zod'

const kinds: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a group of settings',
  record: 'a group of settings',
}

const toldMax = 8

/** A sentence about each thing that is wrong, such as `mode is not one of ask, read-only.` */
export function refusedValue({ issues }: Pick<z.ZodError, 'issues'>): string {
  return allOf(ofEachValue(issues).map(sentence))
}

/** The first thing wrong with each value: what is of another kind fits no limit either. */
export function ofEachValue(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] {
  return [...Map.groupBy(issues, ({ path }) => path.join('.')).values()].map(([first]) => first!)
}

/** Names one after another, the first of many. */
export function listed(names: readonly string[]): string {
  const more = names.length - toldMax
  return more > 0 ? `${names.slice(0, toldMax).join(', ')} and ${more} more` : names.join(', ')
}

/** The first of them, and how many more there are. */
export function allOf(sentences: readonly string[]): string {
  const more = sentences.length - toldMax
  const told = sentences.slice(0, toldMax)
  return more > 0 ? `${told.join(' ')} And ${more} more.` : told.join(' ')
}

function sentence(issue: z.core.$ZodIssue): string {
  return `${issue.path.length === 0 ? 'It' : issue.path.map(String).join('.')} ${wrong(issue)}.`
}

function wrong(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.message.endsWith('received undefined')) return 'is missing'
      return `is not ${kinds[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return issue.values.length === 1
        ? `is not ${String(issue.values[0])}`
        : `is not one of ${issue.values.join(', ')}`
    case 'too_small':
      if (issue.origin === 'string' || issue.origin === 'array') return 'is empty'
      return `is less than ${issue.minimum}`
    case 'too_big':
      if (issue.origin === 'string') return `is longer than ${issue.maximum} characters`
      if (issue.origin === 'array') return `has more than ${issue.maximum} entries`
      return `is more than ${issue.maximum}`
    case 'unrecognized_keys':
      return `has ${listed(issue.keys.map((key) => `"${key}"`))}, which ${issue.keys.length === 1 ? 'is' : 'are'} not known`
    case 'custom':
      return issue.message
    case 'invalid_union':
      return 'is of another kind than it must be'
    default:
      return `cannot be used: ${issue.message}`
  }
}
