import { classNames } from './class-names.ts'

/** The states a session, turn or process can be in, as far as a list shows them. */
export const statuses = ['idle', 'running', 'needs', 'failed', 'unread', 'done', 'paused'] as const
export type Status = (typeof statuses)[number]

const words: Record<Status, string> = {
  idle: 'Idle',
  running: 'Running',
  needs: 'Needs you',
  failed: 'Failed',
  unread: 'New result',
  done: 'Done',
  paused: 'Paused',
}

const colours: Record<Status, string> = {
  idle: 'text-faint',
  running: 'text-running',
  needs: 'text-needs',
  failed: 'text-failed',
  unread: 'text-accent-ink',
  done: 'text-ok',
  paused: 'text-muted',
}

/** Each state has its own shape, so it can be told without its colour (S-150). */
const shapes: Record<Status, React.ReactNode> = {
  idle: <circle cx="6" cy="6" r="2" fill="currentColor" opacity="0.55" />,
  running: (
    <g fill="none" stroke="currentColor" strokeWidth="1.5">
      <circle cx="6" cy="6" r="4" opacity="0.25" />
      <path d="M10 6a4 4 0 0 0-4-4" strokeLinecap="round" className="origin-center animate-spin" />
    </g>
  ),
  needs: <path d="M6 1.4 10.6 6 6 10.6 1.4 6Z" fill="currentColor" strokeLinejoin="round" />,
  failed: <path d="m3.2 3.2 5.6 5.6m0-5.6L3.2 8.8" stroke="currentColor" strokeWidth="1.6" strokeLinecap="round" />,
  unread: <circle cx="6" cy="6" r="3.25" fill="currentColor" />,
  done: (
    <path
      d="m2.6 6.3 2.3 2.3 4.5-5"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
    />
  ),
  paused: <path d="M4.25 3v6m3.5-6v6" stroke="currentColor" strokeWidth="1.6" strokeLinecap="round" />,
}

type StatusDotProps = {
  status: Status
  /** Replaces the default word; pass an empty string where the state is written beside it. */
  label?: string | undefined
  className?: string | undefined
}

export function StatusDot({ status, label = words[status], className }: StatusDotProps) {
  return (
    <svg
      width="12"
      height="12"
      viewBox="0 0 12 12"
      className={classNames('shrink-0', colours[status], className)}
      {...(label ? { role: 'img', 'aria-label': label } : { 'aria-hidden': true })}
    >
      {shapes[status]}
    </svg>
  )
}
