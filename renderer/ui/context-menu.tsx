import { ContextMenu as Radix } from 'radix-ui'
import type { ReactElement, ReactNode } from 'react'
import { classNames } from './class-names.ts'
import type { MenuItemProps } from './dropdown-menu.tsx'
import { Kbd } from './kbd.tsx'
import { menuItem, menuItemDanger, menuSeparator, menuSurface } from './menu-style.ts'

/** What a right click, the menu key or Shift+F10 on `children` opens. Everything in it can also be reached another way. */
export function ContextMenu({
  items,
  onOpenChange,
  children,
}: {
  items: ReactNode
  onOpenChange?: ((open: boolean) => void) | undefined
  children: ReactElement
}) {
  return (
    <Radix.Root {...(onOpenChange ? { onOpenChange } : {})}>
      <Radix.Trigger asChild>{children}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content collisionPadding={8} className={menuSurface}>
          {items}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

export function ContextMenuItem({ icon: Icon, keys, danger = false, disabled, onSelect, children }: MenuItemProps) {
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

export function ContextMenuSeparator() {
  return <Radix.Separator className={menuSeparator} />
}
