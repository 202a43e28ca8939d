import type { ReactNode, Ref } from 'react'
import { Group, type Layout, Panel, type PanelImperativeHandle, Separator } from 'react-resizable-panels'
import { classNames } from './class-names.ts'

type SplitPanesProps = {
  /** Stable name of this split; pane sizes are remembered under the panes' ids. */
  id: string
  /** `columns` side by side, `rows` one above the other. */
  direction: 'columns' | 'rows'
  /** Sizes as last reported, in per cent by pane id. */
  layout?: Layout | undefined
  /** Called once a drag or key press is over, with sizes to remember. */
  onLayoutChange?: ((layout: Layout) => void) | undefined
  className?: string | undefined
  /** `Pane`s with a `PaneDivider` between each two. */
  children: ReactNode
}

export function SplitPanes({ id, direction, layout, onLayoutChange, className, children }: SplitPanesProps) {
  return (
    <Group
      id={id}
      orientation={direction === 'columns' ? 'horizontal' : 'vertical'}
      {...(layout ? { defaultLayout: layout } : {})}
      {...(onLayoutChange
        ? {
            onLayoutChanged: (
              now: Layout,
              meta: { isUserInteraction: boolean; requestedLayout?: Layout | undefined },
            ) => {
              if (meta.isUserInteraction) onLayoutChange(meta.requestedLayout ?? now)
            },
          }
        : {})}
      className={classNames('min-h-0 min-w-0', className)}
    >
      {children}
    </Group>
  )
}

type PaneProps = {
  id: string
  /** Pixels, or a percentage such as `25%`. */
  size?: number | string | undefined
  least?: number | string | undefined
  most?: number | string | undefined
  /** The one pane that takes what a resized window adds keeps its share; the others keep their pixels. */
  keepsPixels?: boolean | undefined
  /** Dragging it below half of `least` closes it. */
  collapsible?: boolean | undefined
  panelRef?: Ref<PanelImperativeHandle | null> | undefined
  onResize?: ((size: { pixels: number }) => void) | undefined
  className?: string | undefined
  children: ReactNode
}

export function Pane({
  id,
  size,
  least,
  most,
  keepsPixels = false,
  collapsible = false,
  panelRef,
  onResize,
  className,
  children,
}: PaneProps) {
  return (
    <Panel
      id={id}
      defaultSize={size}
      minSize={least}
      maxSize={most}
      collapsible={collapsible}
      groupResizeBehavior={keepsPixels ? 'preserve-pixel-size' : 'preserve-relative-size'}
      panelRef={panelRef}
      {...(onResize ? { onResize: ({ inPixels }: { inPixels: number }) => onResize({ pixels: inPixels }) } : {})}
      className={classNames('flex min-h-0 min-w-0 flex-col', className)}
    >
      {children}
    </Panel>
  )
}

/** A hairline that can be dragged and, once focused, moved with the arrow keys. */
export function PaneDivider({ label }: { label: string }) {
  return (
    <Separator
      aria-label={label}
      className="relative z-10 shrink-0 bg-line outline-none transition-colors after:absolute after:bg-transparent after:transition-colors hover:after:bg-accent focus-visible:after:bg-focus active:after:bg-accent aria-[orientation=horizontal]:h-px aria-[orientation=horizontal]:after:inset-x-0 aria-[orientation=horizontal]:after:-top-px aria-[orientation=horizontal]:after:h-3 aria-[orientation=vertical]:w-px aria-[orientation=vertical]:after:inset-y-0 aria-[orientation=vertical]:after:-left-px aria-[orientation=vertical]:after:w-3"
    />
  )
}
