import { Switch as Radix } from 'radix-ui'

type SwitchProps = {
  label: string
  id?: string | undefined
  checked: boolean
  onChange: (checked: boolean) => void
  disabled?: boolean | undefined
}

/** On or off, acting at once. Where a "Save" follows, use a checkbox. */
export function Switch({ label, id, checked, onChange, disabled }: SwitchProps) {
  return (
    <Radix.Root
      id={id}
      aria-label={label}
      checked={checked}
      onCheckedChange={onChange}
      disabled={disabled ?? false}
      className="relative inline-flex h-16 w-28 shrink-0 items-center rounded-full border border-line-control bg-pressed transition-colors before:absolute before:-inset-6 on:border-accent on:bg-accent off:opacity-50"
    >
      <Radix.Thumb className="block size-10 translate-x-2 rounded-full bg-muted transition-[translate,background-color] on:translate-x-14 on:bg-on-accent" />
    </Radix.Root>
  )
}
