/** Comments on changes as they go to the agent: file, lines, what stands there, what is said of it (F-912). Pure. */
import type { Comment } from '../../preload/contract/change-routes.ts'

/** `12`, or `12-14`. */
export function linesText({ from, to }: Pick<Comment, 'from' | 'to'>): string {
  return from === to ? `${from}` : `${from}-${to}`
}

/** `src/a.ts:12-14`, as places in files are written everywhere. */
export function commentPlace({ path, ...lines }: Pick<Comment, 'path' | 'from' | 'to'>): string {
  return `${path}:${linesText(lines)}`
}

function commentText(comment: Comment): string {
  const quoted = comment.quoted
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n')
  const side = comment.side === 'before' ? ' (before the change)' : ''
  return `${commentPlace(comment)}${side}\n${quoted}\n${comment.text}`
}

/** A message with the comments that go with it, in the order of their places. */
export function withComments(text: string, comments: readonly Comment[]): string {
  if (comments.length === 0) return text
  const ordered = comments.toSorted((a, b) => (a.path === b.path ? a.from - b.from : a.path < b.path ? -1 : 1))
  return [text.trim(), 'On the changes:', ...ordered.map(commentText)].filter(Boolean).join('\n\n')
}
