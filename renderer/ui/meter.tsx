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
        'h-4 overflow-hidden rounded-full bg-pressed',
        tone(used, props.warnAt ?? 0.8),
        props.className,
      )}
    >
      <div
        className="h-full origin-left rounded-full bg-current transition-[width]"
        style={{ width: `${used * 100}%` }}
      />
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
        opacity={used === 0 ? 0 : 1}
      />
    </svg>
  )
}
