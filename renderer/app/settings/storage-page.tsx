/** What takes room on the disk, and giving back what nobody needs (S-173, K-16). */
import { Eraser, FolderOpen } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { ReclaimStep, StorageKind, StorageUsage } from '../../../preload/contract/storage-routes.ts'
import { act, client, failure } from '../../state/link.ts'
import { useAnswer } from '../../state/use-answer.ts'
import { showDialog, showSession } from '../../state/window-store.ts'
import { useWorkbench } from '../../state/workbench-store.ts'
import { bytesText } from '../../transcript/amounts.ts'
import { shownText } from '../../transcript/shown-text.ts'
import { Button } from '../../ui/button.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Spinner } from '../../ui/spinner.tsx'
import { attempt } from '../attempt.ts'
import { Row, Section } from './setting-row.tsx'

const kinds: Readonly<Record<StorageKind, { label: string; detail?: string }>> = {
  sessions: { label: 'Sessions', detail: 'What was said and done. A deleted session goes after 7 days.' },
  attachments: { label: 'Pictures and documents', detail: 'What went along with messages.' },
  versions: { label: 'Versions of changed files', detail: 'For diffs and for undoing.' },
  checkpoints: { label: 'Checkpoints', detail: 'Folders as they were. Unused ones go after 30 days.' },
  outputs: { label: 'Long output', detail: 'Of commands and tools.' },
  logs: { label: 'Logs' },
  temporary: { label: 'Passing files', detail: 'Output of processes that run, files on their way in.' },
  unreferenced: { label: 'No longer needed', detail: 'Goes by itself a day after its last use.' },
  other: { label: 'Everything else', detail: 'Settings, windows, what the browser keeps.' },
}

/** In the order they are taken. */
const steps: Readonly<Record<ReclaimStep, string>> = {
  deleted: 'Removing what was deleted long ago',
  bodies: 'Removing what nothing refers to',
  checkpoints: 'Removing old checkpoints',
  database: 'Making the database smaller',
}

export function StoragePage() {
  const info = useWorkbench((state) => state.info)
  const free = useWorkbench(({ host }) => host?.freeDisk ?? null)
  const [cleaned, setCleaned] = useState(0)
  const { answer, error, again } = useAnswer<StorageUsage>(
    `storage ${cleaned}`,
    (signal) => client().storage.usage(undefined, { signal }),
    { keepsLast: true },
  )
  const total = answer?.kinds.reduce((sum, { bytes }) => sum + bytes, 0) ?? null
  return (
    <>
      <Section title="Data folder">
        <Row
          label={<code className="text-12 break-all">{info?.dataFolder ?? 'unknown'}</code>}
          detail="Keys are in the system’s keychain where there is one."
        >
          {info?.capabilities.includes('reveal') && (
            <Button
              size="small"
              onClick={() =>
                void attempt('Could not show the folder', () => client().host.reveal({ path: info.dataFolder }))
              }
            >
              <FolderOpen size={13} strokeWidth={1.75} aria-hidden />
              Show
            </Button>
          )}
        </Row>
        <Row label="In all">
          <Size bytes={total} />
        </Row>
        <Row label="Free on its disk">
          <Size bytes={free} />
        </Row>
      </Section>
      {error && !answer ? (
        <ErrorState
          what="Could not measure the data folder"
          message={error.message}
          hint={error.hint}
          code={error.code}
          onRetry={again}
        />
      ) : !answer ? (
        <Skeleton label="Measuring the data folder" lines={[0.6, 0.7, 0.5, 0.6]} />
      ) : (
        <>
          <Section title="By kind">
            {answer.kinds
              .filter(({ bytes }) => bytes > 0)
              .toSorted((a, b) => b.bytes - a.bytes)
              .map(({ kind, bytes }) => (
                <Row key={kind} label={kinds[kind].label} detail={kinds[kind].detail}>
                  <Size bytes={bytes} />
                </Row>
              ))}
          </Section>
          <CleanUp usage={answer} onDone={() => setCleaned((count) => count + 1)} />
          <Largest usage={answer} />
        </>
      )}
    </>
  )
}

function Size({ bytes }: { bytes: number | null }) {
  return <span className="figures text-13 text-muted">{bytes === null ? 'unknown' : bytesText(bytes)}</span>
}

type Cleaning = { step: ReclaimStep; freed: number } | { step: null; freed: number; why: string | null }

/** One step after another, so that it can be left between them; each says before what it would free. */
function CleanUp({ usage, onDone }: { usage: StorageUsage; onDone: () => void }) {
  const runs = useWorkbench(
    ({ entries, entriesRev }) => entriesRev >= 0 && [...entries.values()].some((entry) => entry.runningSince !== null),
  )
  const [cleaning, setCleaning] = useState<Cleaning | null>(null)
  const isCancelled = useRef(false)
  useEffect(() => () => void (isCancelled.current = true), [])
  const expected = usage.reclaimable.reduce((sum, { bytes }) => sum + bytes, 0)
  const parts = usage.reclaimable.filter(({ bytes }) => bytes > 0)

  async function clean(): Promise<void> {
    isCancelled.current = false
    let freed = 0
    let why: string | null = null
    try {
      for (const step of Object.keys(steps) as ReclaimStep[]) {
        if (isCancelled.current) break
        setCleaning({ step, freed })
        freed += (await client().storage.reclaim({ ...act(), step })).freed
      }
    } catch (thrown) {
      const { message, hint } = failure(thrown)
      why = [message, hint].filter(Boolean).join(' ')
    }
    setCleaning({ step: null, freed, why })
    onDone()
  }

  const step = cleaning?.step ?? null
  let said: ReactNode = 'Nothing would be freed now.'
  if (cleaning && step !== null) said = `${steps[step]}. ${bytesText(cleaning.freed)} freed so far.`
  else if (cleaning && cleaning.step === null) said = cleaning.why ?? `${bytesText(cleaning.freed)} freed.`
  else if (parts.length > 0)
    said = parts.map((part) => `${bytesText(part.bytes)} ${reclaimed[part.step]}`).join(', ') + '.'
  return (
    <Section title="Clean up">
      <Row
        label={`Reclaim space${cleaning ? '' : `: ${bytesText(expected)}`}`}
        detail="Sessions, attachments and what can be undone stay. Saving waits while the database is made smaller."
      >
        {step !== null ? (
          <Button size="small" onClick={() => void (isCancelled.current = true)}>
            <Spinner size={12} />
            Cancel
          </Button>
        ) : (
          <Button acts size="small" disabled={runs} onClick={() => void clean()}>
            <Eraser size={13} strokeWidth={1.75} aria-hidden />
            Reclaim space
          </Button>
        )}
      </Row>
      <p role="status" className="py-8 text-12 text-muted">
        {runs && step === null ? 'Once nothing runs: saving would wait for it.' : said}
      </p>
    </Section>
  )
}

const reclaimed: Readonly<Record<ReclaimStep, string>> = {
  deleted: 'of what was deleted',
  bodies: 'nothing refers to',
  checkpoints: 'of old checkpoints',
  database: 'unused in the database',
}

function Largest({ usage }: { usage: StorageUsage }) {
  if (usage.largest.length === 0) return null
  return (
    <Section title="Largest sessions">
      {usage.largest.map(({ sessionId, title, bytes }) => (
        <Row
          key={sessionId}
          label={
            <button
              type="button"
              className="max-w-full truncate rounded-4 text-left hover:underline"
              onClick={() => {
                showDialog(null)
                showSession(sessionId)
              }}
            >
              <bdi>{shownText(title)}</bdi>
            </button>
          }
        >
          <Size bytes={bytes} />
        </Row>
      ))}
    </Section>
  )
}
