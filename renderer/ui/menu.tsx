import { Check, type LucideIcon } from 'lucide-react'
import { ContextMenu as Context, DropdownMenu as Dropdown } from 'radix-ui'
import { createContext, type ReactElement, type ReactNode, use } from 'react'
import { type Acts, useMayAct } from './acting.ts'
import { classNames } from './class-names.ts'
import { Kbd } from './kbd.tsx'
import { menuItem, menuItemDanger, menuLabel, menuSeparator, menuSurface } from './menu-style.ts'

/** The parts of the way it was opened, so that what stands in a menu is written once. */
const Parts =
  createContext<
    Pick<
      typeof Dropdown,
      'Item' | 'CheckboxItem' | 'RadioGroup' | 'RadioItem' | 'ItemIndicator' | 'Label' | 'Separator'
    >
  >(Dropdown)

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
    <Dropdown.Root {...(open === undefined ? {} : { open })} {...(onOpenChange ? { onOpenChange } : {})}>
      <Dropdown.Trigger asChild>{trigger}</Dropdown.Trigger>
      <Dropdown.Portal>
        <Dropdown.Content align={align} side={side} sideOffset={4} collisionPadding={8} className={menuSurface}>
          <Parts value={Dropdown}>{children}</Parts>
        </Dropdown.Content>
      </Dropdown.Portal>
    </Dropdown.Root>
  )
}

/** What a right click, the menu key or Shift+F10 on `children` opens. Everything in it can also be reached another way. */
export function ContextMenu({
  items,
  off = false,
  onOpenChange,
  children,
}: {
  items: ReactNode
  /** Nothing of it can be done here: it does not open. */
  off?: boolean | undefined
  onOpenChange?: ((open: boolean) => void) | undefined
  children: ReactElement
}) {
  return (
    <Context.Root {...(onOpenChange ? { onOpenChange } : {})}>
      <Context.Trigger asChild disabled={off}>
        {children}
      </Context.Trigger>
      <Context.Portal>
        <Context.Content collisionPadding={8} className={menuSurface}>
          <Parts value={Context}>{items}</Parts>
        </Context.Content>
      </Context.Portal>
    </Context.Root>
  )
}

type MenuItemProps = Acts & {
  icon?: LucideIcon | undefined
  keys?: string | undefined
  danger?: boolean | undefined
  disabled?: boolean | undefined
  onSelect: () => void
  children: ReactNode
}

export function MenuItem({ icon: Icon, keys, danger = false, disabled, acts, onSelect, children }: MenuItemProps) {
  const { Item } = use(Parts)
  const mayAct = useMayAct()
  if (acts && !mayAct) return null
  return (
    <Item disabled={disabled ?? false} onSelect={onSelect} className={classNames(menuItem, danger && menuItemDanger)}>
      {Icon && <Icon size={14} strokeWidth={1.75} aria-hidden className={danger ? '' : 'text-muted'} />}
      <span className="grow truncate">{children}</span>
      {keys && <Kbd keys={keys} className="ml-16 text-muted" />}
    </Item>
  )
}

export function MenuCheckItem({
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
  const { CheckboxItem, ItemIndicator } = use(Parts)
  return (
    <CheckboxItem
      checked={checked}
      onCheckedChange={onChange}
      disabled={disabled ?? false}
      className={classNames(menuItem, 'pl-28')}
    >
      <ItemIndicator className="absolute left-8">
        <Check size={14} strokeWidth={2} aria-hidden />
      </ItemIndicator>
      {children}
    </CheckboxItem>
  )
}

type RadioChoice<Value extends string> = {
  value: Value
  label: ReactNode
  detail?: ReactNode | undefined
  disabled?: boolean | undefined
}

/** One of several; `detail` stands below the label in smaller type. */
export function MenuRadio<Value extends string>({
  value,
  onChange,
  choices,
}: {
  value: Value
  onChange: (value: Value) => void
  choices: RadioChoice<Value>[]
}) {
  const { RadioGroup, RadioItem, ItemIndicator } = use(Parts)
  return (
    <RadioGroup value={value} onValueChange={(next) => onChange(next as Value)}>
      {choices.map((choice) => (
        <RadioItem
          key={choice.value}
          value={choice.value}
          disabled={choice.disabled ?? false}
          className={classNames(menuItem, 'h-auto min-h-28 py-4 pl-28')}
        >
          <ItemIndicator className="absolute top-8 left-8">
            <Check size={14} strokeWidth={2} aria-hidden />
          </ItemIndicator>
          <span className="min-w-0">
            <span className="block truncate">{choice.label}</span>
            {choice.detail && <span className="block text-11 whitespace-normal text-faint">{choice.detail}</span>}
          </span>
        </RadioItem>
      ))}
    </RadioGroup>
  )
}

export function MenuLabel({ children }: { children: ReactNode }) {
  const { Label } = use(Parts)
  return <Label className={menuLabel}>{children}</Label>
}

export function MenuSeparator() {
  const { Separator } = use(Parts)
  return <Separator className={menuSeparator} />
}
