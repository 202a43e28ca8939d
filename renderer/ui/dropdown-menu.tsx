import { Check, ChevronRight, type LucideIcon } from 'lucide-react'
import { DropdownMenu as Radix } from 'radix-ui'
import type { ReactElement, ReactNode } from 'react'
import { classNames } from './class-names.ts'
import { Kbd } from './kbd.tsx'
import { menuItem, menuItemDanger, menuLabel, menuSeparator, menuSurface } from './menu-style.ts'

type DropdownMenuProps = {
  /** The button that opens it; it must pass on its props and ref. */
  trigger: ReactElement
  align?: 'start' | 'center' | 'end' | undefined
  side?: 'top' | 'right' | 'bottom' | 'left' | undefined
  open?: boolean | undefined
  onOpenChange?: ((open: boolean) => void) | undefined
  children: ReactNode
}

export function DropdownMenu({
  trigger,
  align = 'start',
  side = 'bottom',
  open,
  onOpenChange,
  children,
}: DropdownMenuProps) {
  return (
    <Radix.Root {...(open === undefined ? {} : { open })} {...(onOpenChange ? { onOpenChange } : {})}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content align={align} side={side} sideOffset={4} collisionPadding={8} className={menuSurface}>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

export type MenuItemProps = {
  icon?: LucideIcon | undefined
  keys?: string | undefined
  danger?: boolean | undefined
  disabled?: boolean | undefined
  onSelect: () => void
  children: ReactNode
}

export function DropdownMenuItem({ icon: Icon, keys, danger = false, disabled, onSelect, children }: MenuItemProps) {
  return (
    <Radix.Item
      disabled={disabled ?? false}
      onSelect={onSelect}
      className={classNames(menuItem, danger && menuItemDanger)}
    >
      {Icon && <Icon size={14} strokeWidth={1.75} aria-hidden className={danger ? '' : 'text-muted'} />}
      <span className="grow truncate">{children}</span>
      {keys && <Kbd keys={keys} className="ml-16 text-muted" />}
    </Radix.Item>
  )
}

export function DropdownMenuCheckItem({
  checked,
  onChange,
  disabled,
  children,
}: {
  checked: boolean
  onChange: (checked: boolean) => void
  disabled?: boolean | undefined
  children: ReactNode
}) {
  return (
    <Radix.CheckboxItem
      checked={checked}
      onCheckedChange={onChange}
      disabled={disabled ?? false}
      className={classNames(menuItem, 'pl-28')}
    >
      <Radix.ItemIndicator className="absolute left-8">
        <Check size={14} strokeWidth={2} aria-hidden />
      </Radix.ItemIndicator>
      {children}
    </Radix.CheckboxItem>
  )
}

type RadioChoice<Value extends string> = {
  value: Value
  label: ReactNode
  detail?: ReactNode | undefined
  disabled?: boolean | undefined
}

/** One of several; `detail` stands below the label in smaller type. */
export function DropdownMenuRadio<Value extends string>({
  value,
  onChange,
  choices,
}: {
  value: Value
  onChange: (value: Value) => void
  choices: RadioChoice<Value>[]
}) {
  return (
    <Radix.RadioGroup value={value} onValueChange={(next) => onChange(next as Value)}>
      {choices.map((choice) => (
        <Radix.RadioItem
          key={choice.value}
          value={choice.value}
          disabled={choice.disabled ?? false}
          className={classNames(menuItem, 'h-auto min-h-28 py-4 pl-28')}
        >
          <Radix.ItemIndicator className="absolute top-8 left-8">
            <Check size={14} strokeWidth={2} aria-hidden />
          </Radix.ItemIndicator>
          <span className="min-w-0">
            <span className="block truncate">{choice.label}</span>
            {choice.detail && <span className="block text-11 whitespace-normal text-faint">{choice.detail}</span>}
          </span>
        </Radix.RadioItem>
      ))}
    </Radix.RadioGroup>
  )
}

export function DropdownMenuSub({
  label,
  icon: Icon,
  children,
}: {
  label: string
  icon?: LucideIcon | undefined
  children: ReactNode
}) {
  return (
    <Radix.Sub>
      <Radix.SubTrigger className={classNames(menuItem, 'opened:bg-selected')}>
        {Icon && <Icon size={14} strokeWidth={1.75} aria-hidden className="text-muted" />}
        <span className="grow truncate">{label}</span>
        <ChevronRight size={14} aria-hidden className="text-faint" />
      </Radix.SubTrigger>
      <Radix.Portal>
        <Radix.SubContent sideOffset={4} alignOffset={-4} collisionPadding={8} className={menuSurface}>
          {children}
        </Radix.SubContent>
      </Radix.Portal>
    </Radix.Sub>
  )
}

export function DropdownMenuLabel({ children }: { children: ReactNode }) {
  return <Radix.Label className={menuLabel}>{children}</Radix.Label>
}

export function DropdownMenuSeparator() {
  return <Radix.Separator className={menuSeparator} />
}
