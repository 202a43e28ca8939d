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

/** A sentence about the first thing that is wrong, such as `mode is not one of ask, read-only.` */
export function refusedValue(error: z.ZodError): string {
  const issue = error.issues[0]
  if (issue === undefined) return 'It cannot be used.'
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
      return `has "${issue.keys[0]}", which is not known`
    case 'invalid_union':
      return 'is of another kind than it must be'
    default:
      return `cannot be used: ${issue.message}`
  }
}
