import { Check, Minus } from 'lucide-react'
import { Checkbox as Radix } from 'radix-ui'
import { type ReactNode, useId } from 'react'
import { classNames } from './class-names.ts'

type CheckboxProps = {
  label: ReactNode
  /** Keeps the label for assistive technology only; it must then be a string. */
  labelHidden?: boolean | undefined
  checked: boolean | 'indeterminate'
  onChange: (checked: boolean) => void
  disabled?: boolean | undefined
  className?: string | undefined
}

export function Checkbox({ label, labelHidden = false, checked, onChange, disabled, className }: CheckboxProps) {
  const id = useId()
  return (
    <span className={classNames('inline-flex items-start gap-8', className)}>
      <Radix.Root
        id={id}
        checked={checked}
        onCheckedChange={(next) => onChange(next === true)}
        disabled={disabled ?? false}
        {...(labelHidden && typeof label === 'string' ? { 'aria-label': label } : {})}
        className="relative mt-3 grid size-14 shrink-0 place-items-center rounded-4 border border-line-control bg-field text-on-accent transition-colors before:absolute before:-inset-6 data-[state=checked]:border-accent data-[state=checked]:bg-accent data-[state=indeterminate]:border-accent data-[state=indeterminate]:bg-accent off:opacity-50"
      >
        <Radix.Indicator className="grid place-items-center">
          {checked === 'indeterminate' ? (
            <Minus size={11} strokeWidth={3} aria-hidden />
          ) : (
            <Check size={11} strokeWidth={3} aria-hidden />
          )}
        </Radix.Indicator>
      </Radix.Root>
      {!labelHidden && (
        <label htmlFor={id} className="text-13 select-none">
          {label}
        </label>
      )}
    </span>
  )
}
