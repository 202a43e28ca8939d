import { CircleAlert, type LucideIcon } from 'lucide-react'
import { type ComponentProps, type ReactNode, useId } from 'react'
import { classNames } from './class-names.ts'

type TextFieldProps = Omit<ComponentProps<'input'>, 'onChange' | 'value' | 'size'> & {
  label: string
  labelHidden?: boolean | undefined
  value: string
  onChange: (value: string) => void
  icon?: LucideIcon | undefined
  /** Said below the field and tied to it. */
  hint?: ReactNode | undefined
  /** Replaces the hint and marks the field invalid. */
  error?: string | undefined
  /** Controls at the end, inside the frame. */
  end?: ReactNode | undefined
  mono?: boolean | undefined
}

export function TextField({
  label,
  labelHidden = false,
  value,
  onChange,
  icon: Icon,
  hint,
  error,
  end,
  mono = false,
  className,
  ...rest
}: TextFieldProps) {
  const id = useId()
  const below = error ?? hint
  return (
    <div className={classNames('flex min-w-0 flex-col gap-4', className)}>
      <label htmlFor={id} className={labelHidden ? 'sr-only' : 'text-12 font-medium text-ink'}>
        {label}
      </label>
      <div
        className={classNames(
          'flex h-28 items-center gap-6 rounded-6 border bg-field px-8 transition-colors focus-within:outline-2 focus-within:-outline-offset-1 focus-within:outline-focus has-disabled:border-line has-disabled:bg-transparent',
          error ? 'border-failed' : 'border-line-control',
        )}
      >
        {Icon && <Icon size={14} strokeWidth={1.75} aria-hidden className="shrink-0 text-faint" />}
        <input
          autoComplete="off"
          spellCheck={false}
          {...rest}
          id={id}
          value={value}
          onChange={(event) => onChange(event.target.value)}
          aria-invalid={error ? true : undefined}
          aria-describedby={below ? `${id}-below` : undefined}
          className={classNames(
            'h-full min-w-0 grow bg-transparent text-ink outline-none disabled:text-disabled',
            mono ? 'font-mono text-12' : 'text-13',
          )}
        />
        {end}
      </div>
      {below && (
        <p
          id={`${id}-below`}
          className={classNames('flex items-start gap-4 text-12', error ? 'text-failed' : 'text-muted')}
        >
          {error && <CircleAlert size={13} strokeWidth={1.75} aria-hidden className="mt-2 shrink-0" />}
          <span>{below}</span>
        </p>
      )}
    </div>
  )
}
