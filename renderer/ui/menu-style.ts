/** How every menu looks, whichever way it was opened. */
export const menuSurface =
  'z-50 max-h-[min(28rem,var(--radix-popper-available-height,28rem))] min-w-160 max-w-360 origin-(--radix-popper-transform-origin) animate-rise overflow-auto rounded-8 bg-raised p-4 text-13 text-ink shadow-float outline-none'

export const menuItem =
  'relative flex h-28 items-center gap-8 rounded-6 px-8 whitespace-nowrap outline-none select-none data-[highlighted]:bg-selected off:text-disabled'

export const menuItemDanger = 'text-failed data-[highlighted]:bg-failed-soft'
export const menuLabel = 'px-8 pt-6 pb-4 text-11 font-medium text-faint select-none'
export const menuSeparator = '-mx-4 my-4 h-1 bg-line'
