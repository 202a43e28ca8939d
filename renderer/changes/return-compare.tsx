/** What an undo, or redo, would change in a file that is not as it was left: from now to then (F-1008). */
import { client } from '../state/link.ts'
import { useAnswer } from '../state/use-answer.ts'
import { shownText } from '../transcript/shown-text.ts'
import { classNames } from '../ui/class-names.ts'
import { Skeleton } from '../ui/skeleton.tsx'
import type { UndoAsked } from './review-actions.ts'

/** More is seen in the file itself. */
const linesMax = 400

export function ReturnCompare({ asked, path }: { asked: UndoAsked; path: string }) {
  const { sessionId, turnId, andLater, redo } = asked
  const { answer, error } = useAnswer(`${sessionId} ${turnId} ${andLater} ${redo} ${path}`, (signal) =>
    client().undo.compare({ ...asked, path }, { signal }),
  )
  if (error)
    return (
      <p role="alert" className="text-12 text-failed">
        {error.message}
      </p>
    )
  if (!answer) return <Skeleton label="Comparing" lines={[0.7, 0.5]} />
  // Which file it is stands above.
  const lines = answer.patch?.split('\n').slice(2) ?? []
  const left = lines.length - linesMax
  return (
    <figure aria-label={`What would change in ${shownText(path)}`} className="mt-4">
      {answer.note !== null && <figcaption className="text-11 text-muted">{shownText(answer.note)}</figcaption>}
      {lines.length > 0 && (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard
        <pre tabIndex={0} className="max-h-160 overflow-auto rounded-6 bg-side p-8 font-mono text-11">
          {lines.slice(0, linesMax).map((line, at) => (
            // oxlint-disable-next-line react/no-array-index-key -- lines have no other identity
            <span key={at} className={classNames('block', colourOf(line))}>
              {shownText(line) || ' '}
            </span>
          ))}
          {left > 0 && <span className="block text-faint">… and {left.toLocaleString('en')} more lines</span>}
        </pre>
      )}
    </figure>
  )
}

function colourOf(line: string): string {
  if (line.startsWith('@@')) return 'text-faint'
  return line.startsWith('+') ? 'text-added' : line.startsWith('-') ? 'text-removed' : 'text-muted'
}
