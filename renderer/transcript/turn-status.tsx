import { attempt } from '../app/attempt.ts'
import { useSessionController, useView } from '../state/session-store.ts'
import { Button } from '../ui/button.tsx'
import { classNames } from '../ui/class-names.ts'
import { useTime } from '../ui/clock.ts'
import { Duration } from '../ui/duration.tsx'
import { Spinner } from '../ui/spinner.tsx'
import { StatusDot } from '../ui/status-dot.tsx'
import { Shown } from './shown.tsx'
import { statusText } from './status-text.ts'
import { tokensText } from './amounts.ts'

/** What the running turn, or a summary between turns, is doing: one line above the message, empty while nothing runs. */
export function TurnStatus({ sessionId }: { sessionId: string }) {
  const turn = useView(sessionId, ({ turn: running }) => running, null)
  const startedAt = useView(
    sessionId,
    ({ turns, header }) => turns.find((row) => row.id === header.currentTurnId)?.startedAt ?? null,
    null,
  )
  const job = useView(sessionId, ({ header }) => header.compaction, null)
  const alone = turn === null ? job : null
  const status = turn?.status ?? (alone && ({ kind: 'compacting', since: alone.startedAt } as const))
  // The words may hold a countdown, so they are read from the clock.
  const words = useTime((now) => (status ? statusText(status, now).words : ''), status !== null)
  const shape = status ? statusText(status, 0) : null
  return (
    <div
      role="status"
      aria-label="Turn status"
      aria-live="off"
      className={classNames('flex min-w-0 items-center gap-8 text-12', shape ? 'h-28' : 'h-0')}
    >
      {shape && (
        <>
          {shape.tone === 'running' ? (
            <Spinner size={13} className="text-running" />
          ) : shape.tone === 'needs' ? (
            <StatusDot status="needs" label="" />
          ) : (
            <StatusDot status="paused" label="" />
          )}
          <span className={classNames('shrink-0', shape.tone === 'needs' ? 'font-medium text-needs' : 'text-muted')}>
            {words}
          </span>
          {shape.subject && <Shown text={shape.subject} className="min-w-0 truncate font-mono text-11 text-muted" />}
          {shape.since !== undefined && <Duration from={shape.since} className="text-11 text-faint" />}
          {alone && <CancelCompaction sessionId={sessionId} jobId={alone.jobId} />}
          {turn && (
            <span className="figures ml-auto flex shrink-0 items-center gap-8 text-11 text-faint">
              {turn.rate !== null && <span>{turn.rate} tokens/s</span>}
              {turn.usage.output !== null && turn.usage.output > 0 && (
                <span>{tokensText(turn.usage.output)} tokens out</span>
              )}
              {startedAt !== null && <Duration from={startedAt} />}
            </span>
          )}
        </>
      )}
    </div>
  )
}

function CancelCompaction({ sessionId, jobId }: { sessionId: string; jobId: string }) {
  const controller = useSessionController(sessionId)
  return (
    <Button
      acts
      size="small"
      variant="ghost"
      className="ml-auto"
      onClick={() => void attempt('Could not cancel it', () => controller.cancelCompaction(jobId))}
    >
      Cancel compaction
    </Button>
  )
}
