/** What of the workspace commands may change without it being found here, and undone (F-1006). */
import { client } from '../state/link.ts'
import { useAnswer } from '../state/use-answer.ts'
import { counted } from '../transcript/amounts.ts'

const many = 'very many'

/** "1,204 ignored files and 2 files over 10 MiB"; empty where there are none. */
function uncoveredText({ ignored, large }: { ignored: number | null; large: number | null }): string {
  const parts = [
    ignored === 0 ? '' : ignored === null ? `${many} ignored files` : counted(ignored, 'ignored file'),
    large === 0
      ? ''
      : large === null
        ? `${many} files over 10 MiB`
        : counted(large, 'file over 10 MiB', 'files over 10 MiB'),
  ]
  return parts.filter((part) => part !== '').join(' and ')
}

export function UncoveredNote({ sessionId }: { sessionId: string }) {
  // Counted each time the tab is opened: the folder is walked for it.
  const { answer } = useAnswer(sessionId, async (signal) => ({
    uncovered: await client().changes.uncovered({ sessionId }, { signal }),
  }))
  if (!answer) return null
  const text = answer.uncovered && uncoveredText(answer.uncovered)
  if (text === '') return null
  return (
    <p className="shrink-0 border-t border-line px-10 py-4 text-11 text-faint">
      {text === null
        ? 'This folder gets no checkpoints: what commands change in it is neither shown nor undone.'
        : `Not covered: ${text}. What commands change in them is neither shown nor undone.`}
    </p>
  )
}
