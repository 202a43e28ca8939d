import { Pin, SquareTerminal } from 'lucide-react'
import type { Entry, Indicator } from '../../preload/contract/session.ts'
import { Badge, type Tone } from '../ui/badge.tsx'
import { Duration } from '../ui/duration.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { StatusDot, type Status } from '../ui/status-dot.tsx'

const marks: Record<Indicator, Status> = {
  needs_you: 'needs',
  interrupted: 'needs',
  running: 'running',
  waiting: 'paused',
  failed: 'failed',
  unread: 'unread',
  none: 'idle',
}

/** Each indicator in words, as lists, tooltips and screen readers say it. */
const indicatorWords: Record<Indicator, string> = {
  needs_you: 'Needs you',
  interrupted: 'Interrupted',
  running: 'Running',
  waiting: 'Queued',
  failed: 'Failed',
  unread: 'New',
  none: '',
}

const tones: Partial<Record<Indicator, Tone>> = {
  needs_you: 'needs',
  interrupted: 'needs',
  failed: 'failed',
  waiting: 'neutral',
}

function processesRunning(count: number): string {
  return count === 1 ? 'A process is still running' : `${count} processes are still running`
}

/** The mark before a title. Its words stand at the other end of the row, so it is silent itself. */
export function IndicatorMark({ indicator }: { indicator: Indicator }) {
  return indicator === 'none' ? <span className="w-12 shrink-0" /> : <StatusDot status={marks[indicator]} label="" />
}

/** The end of a row: the indicator in words, a running clock, or the time of the last change (S-48). */
export function IndicatorText({ entry }: { entry: Entry }) {
  const { indicator, runningSince, execRunning, pinnedAt, updatedAt } = entry
  const tone = tones[indicator]
  return (
    <span className="flex shrink-0 items-center gap-6 text-11 text-faint">
      {pinnedAt !== null && <Pin size={11} strokeWidth={1.75} role="img" aria-label="Pinned" className="text-faint" />}
      {execRunning > 0 && (
        <SquareTerminal
          size={11}
          strokeWidth={1.75}
          role="img"
          aria-label={processesRunning(execRunning)}
          className="text-running"
        />
      )}
      {tone ? (
        <Badge tone={tone}>{indicatorWords[indicator]}</Badge>
      ) : indicator === 'running' && runningSince !== null ? (
        <>
          <span className="sr-only">Running for</span>
          <Duration from={runningSince} className="text-running" />
        </>
      ) : (
        <>
          {indicator === 'unread' && <span className="sr-only">New result</span>}
          <RelativeTime at={updatedAt} />
        </>
      )}
    </span>
  )
}
