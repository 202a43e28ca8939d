import { CircleAlert, CircleCheck, Info, TriangleAlert, X } from 'lucide-react'
import { Toaster as Sonner, toast as sonner } from 'sonner'
import { Spinner } from './spinner.tsx'

/** Stands once in the window. Toasts report what a person did; what needs them is an approval or a notification. */
export function Toaster() {
  const icon = { size: 16, strokeWidth: 1.75, 'aria-hidden': true } as const
  return (
    <Sonner
      position="bottom-right"
      offset={16}
      gap={8}
      visibleToasts={4}
      closeButton
      icons={{
        success: <CircleCheck {...icon} className="text-ok" />,
        error: <CircleAlert {...icon} className="text-failed" />,
        warning: <TriangleAlert {...icon} className="text-needs" />,
        info: <Info {...icon} className="text-note" />,
        loading: <Spinner className="text-running" />,
        close: <X size={14} strokeWidth={1.75} aria-hidden />,
      }}
      toastOptions={{
        unstyled: true,
        classNames: {
          toast:
            'group flex w-(--width) font-sans items-start gap-8 rounded-8 bg-raised py-10 pr-32 pl-12 text-13 text-ink shadow-float',
          icon: 'mt-2 shrink-0',
          content: 'min-w-0 grow',
          title: 'font-medium',
          description: 'text-12 text-muted break-words',
          actionButton: 'shrink-0 rounded-4 px-6 text-12 font-medium text-accent-ink hover:bg-hover h-20',
          cancelButton: 'shrink-0 rounded-4 px-6 text-12 text-muted hover:bg-hover h-20',
          closeButton:
            'absolute top-8 right-8 grid size-24 place-items-center rounded-4 text-faint hover:bg-hover hover:text-ink',
        },
      }}
    />
  )
}

type ToastOptions = {
  detail?: string | undefined
  action?: { label: string; onSelect: () => void } | undefined
  /** Milliseconds on screen; one with an action stays 10 s, others 4 s. */
  lasts?: number | undefined
  /** A later toast with the same id replaces the earlier. */
  id?: string | undefined
}

function options({ detail, action, lasts, id }: ToastOptions) {
  return {
    duration: lasts ?? (action ? 10_000 : 4_000),
    ...(detail ? { description: detail } : {}),
    ...(action ? { action: { label: action.label, onClick: action.onSelect } } : {}),
    ...(id ? { id } : {}),
  }
}

export const toast = {
  done: (title: string, more: ToastOptions = {}) => sonner.success(title, options(more)),
  note: (title: string, more: ToastOptions = {}) => sonner.info(title, options(more)),
  warn: (title: string, more: ToastOptions = {}) => sonner.warning(title, options(more)),
  /** Stays until it is closed, so that it can be read and acted on. */
  failed: (title: string, more: ToastOptions = {}) =>
    sonner.error(title, options({ lasts: Number.POSITIVE_INFINITY, ...more })),
  dismiss: (id: string) => sonner.dismiss(id),
}
