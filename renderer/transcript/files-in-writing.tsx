import { FileDiff } from 'lucide-react'
import { useView } from '../state/session-store.ts'
import { counted } from './amounts.ts'
import { Counts } from './counts.tsx'
import { Shown } from './shown.tsx'

const shownMax = 5

/** Files a call is going to write, while the model still writes the call; nothing of it is applied yet (F-707). */
export function FilesInWriting({ sessionId }: { sessionId: string }) {
  const status = useView(sessionId, ({ turn }) => turn?.status ?? null, null)
  if (status?.kind !== 'writing' || status.call.files.length === 0) return null
  const { files, more } = status.call
  const shown = files.slice(-shownMax)
  const before = files.length - shown.length + more
  return (
    <ul aria-label="Being written" className="mb-4 rounded-8 border border-line bg-sunken px-10 py-4 text-12">
      {before > 0 && <li className="py-2 text-faint">{counted(before, 'file')} before</li>}
      {shown.map(({ path, added }, index) => (
        <li key={index} className="flex items-center gap-8 py-2">
          <FileDiff size={13} strokeWidth={1.75} aria-hidden className="shrink-0 text-faint" />
          <Shown text={path ?? 'a file'} className="min-w-0 truncate font-mono text-ink" />
          <span className="ml-auto">
            <Counts added={added} removed={0} />
          </span>
        </li>
      ))}
    </ul>
  )
}
