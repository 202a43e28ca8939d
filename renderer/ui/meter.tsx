import { classNames } from './class-names.ts'

type MeterProps = {
  /** What is measured: "Context used". */
  label: string
  /** 0 to 1; more is shown as full. Left out, it is unknown and drawn empty. */
  value?: number | undefined
  /** In words, for people: "41 of 200 k tokens". */
  text?: string | undefined
  /** From here it warns. */
  warnAt?: number | undefined
  /** Where something happens, 0 to 1: marked. */
  tickAt?: number | undefined
  /** Not measured: drawn lighter. */
  faint?: boolean | undefined
  className?: string | undefined
}

function share(value: number | undefined): number {
  return Math.min(1, Math.max(0, value ?? 0))
}

function tone(value: number, warnAt: number): string {
  return value >= 0.95 ? 'text-failed' : value >= warnAt ? 'text-needs' : 'text-accent-ink'
}

function meaning({ label, value, text }: MeterProps) {
  return {
    role: 'meter',
    'aria-label': label,
    'aria-valuemin': 0,
    'aria-valuemax': 100,
    'aria-valuenow': Math.round(share(value) * 100),
    'aria-valuetext': text ?? (value === undefined ? 'unknown' : `${Math.round(share(value) * 100)} %`),
  }
}

/** A bar that shows how much of something is used. */
export function Meter(props: MeterProps) {
  const used = share(props.value)
  return (
    <div
      {...meaning(props)}
      className={classNames(
        'relative h-4 overflow-hidden rounded-full bg-pressed',
        tone(used, props.warnAt ?? 0.8),
        props.className,
      )}
    >
      <div
        className={classNames(
          'h-full origin-left rounded-full bg-current transition-[width]',
          props.faint && 'opacity-60',
        )}
        style={{ width: `${used * 100}%` }}
      />
      {props.tickAt !== undefined && (
        <span aria-hidden className="absolute inset-y-0 w-1 bg-ink" style={{ left: `${share(props.tickAt) * 100}%` }} />
      )}
    </div>
  )
}

/** The same in the room of an icon. */
export function Ring({ size = 16, ...props }: MeterProps & { size?: number | undefined }) {
  const used = share(props.value)
  const around = 2 * Math.PI * 6
  return (
    <svg
      {...meaning(props)}
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      strokeWidth="2"
      className={classNames('shrink-0 -rotate-90', tone(used, props.warnAt ?? 0.8), props.className)}
    >
      <circle cx="8" cy="8" r="6" className="stroke-line-strong" />
      <circle
        cx="8"
        cy="8"
        r="6"
        stroke="currentColor"
        strokeLinecap="round"
        strokeDasharray={`${used * around} ${around}`}
        opacity={used === 0 ? 0 : props.faint ? 0.6 : 1}
      />
      {props.tickAt !== undefined && (
        <circle
          cx="8"
          cy="8"
          r="6"
          className="stroke-muted"
          strokeDasharray={`1 ${around}`}
          strokeDashoffset={-share(props.tickAt) * around}
        />
      )}
    </svg>
  )
}
