import { Check, ChevronsUpDown } from 'lucide-react'
import { Select as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'
import { menuItem, menuSurface } from './menu-style.ts'

export type Choice<Value extends string = string> = { value: Value; label: ReactNode; disabled?: boolean | undefined }

type SelectProps<Value extends string> = {
  /** Accessible name, unless a `<label>` names it through `id`. */
  label: string
  id?: string | undefined
  value: Value
  onChange: (value: Value) => void
  choices: Choice<Value>[]
  disabled?: boolean | undefined
  className?: string | undefined
}

export function Select<Value extends string>({
  label,
  id,
  value,
  onChange,
  choices,
  disabled,
  className,
}: SelectProps<Value>) {
  return (
    <Radix.Root value={value} onValueChange={(next) => onChange(next as Value)} disabled={disabled ?? false}>
      <Radix.Trigger
        id={id}
        aria-label={label}
        className={classNames(
          'inline-flex h-28 min-w-120 items-center justify-between gap-8 rounded-6 border border-line-control bg-field pr-6 pl-10 text-13 text-ink transition-colors select-none hover:border-ink off:border-line off:text-disabled',
          className,
        )}
      >
        <span className="truncate">
          <Radix.Value />
        </span>
        <ChevronsUpDown size={14} strokeWidth={1.75} aria-hidden className="shrink-0 text-muted" />
      </Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          position="popper"
          sideOffset={4}
          collisionPadding={8}
          className={classNames(menuSurface, 'min-w-(--radix-select-trigger-width)')}
        >
          <Radix.Viewport>
            {choices.map((choice) => (
              <Radix.Item
                key={choice.value}
                value={choice.value}
                disabled={choice.disabled ?? false}
                className={classNames(menuItem, 'pr-28')}
              >
                <Radix.ItemText>{choice.label}</Radix.ItemText>
                <Radix.ItemIndicator className="absolute right-8">
                  <Check size={14} strokeWidth={2} aria-hidden />
                </Radix.ItemIndicator>
              </Radix.Item>
            ))}
          </Radix.Viewport>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
