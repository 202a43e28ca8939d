import { CircleAlert, Copy, RotateCw } from 'lucide-react'
import { useState } from 'react'
import { Button } from './button.tsx'
import { classNames } from './class-names.ts'

type ErrorStateProps = {
  /** What could not be done: "Could not load the changes". */
  what: string
  /** The typed error's sentence, code and way out. */
  message?: string | undefined
  code?: string | undefined
  hint?: string | undefined
  /** Goes into "Copy details" only; never shown. */
  details?: string | undefined
  onRetry?: (() => void) | undefined
  className?: string | undefined
}

/** The failed state of a pane (S-175): what, code, "Try again", "Copy details". */
export function ErrorState({ what, message, code, hint, details, onRetry, className }: ErrorStateProps) {
  const [copied, setCopied] = useState(false)
  const report = [what, code && `code: ${code}`, message, hint, details].filter(Boolean).join('\n')
  return (
    <div role="alert" className={classNames('grid h-full place-items-center p-24', className)}>
      <div className="flex max-w-360 flex-col items-center text-center">
        <CircleAlert size={20} strokeWidth={1.5} aria-hidden className="mb-10 text-failed" />
        <p className="text-13 font-medium text-ink">{what}</p>
        {message && <p className="mt-4 text-12 break-words text-muted">{message}</p>}
        {hint && <p className="mt-4 text-12 text-muted">{hint}</p>}
        {code && <code className="mt-8 rounded-4 bg-pressed px-4 text-11 text-muted">{code}</code>}
        <div className="mt-16 flex flex-wrap justify-center gap-8">
          {onRetry && (
            <Button onClick={onRetry}>
              <RotateCw size={14} strokeWidth={1.75} aria-hidden />
              Try again
            </Button>
          )}
          <Button
            variant="ghost"
            onClick={() =>
              void navigator.clipboard.writeText(report).then(
                () => setCopied(true),
                () => setCopied(false),
              )
            }
          >
            <Copy size={14} strokeWidth={1.75} aria-hidden />
            <span aria-live="polite">{copied ? 'Copied' : 'Copy details'}</span>
          </Button>
        </div>
      </div>
    </div>
  )
}
