import { Eye } from 'lucide-react'

/** What stands in the composer's place where the window may only watch (S-31). */
export function Watching() {
  return (
    <p
      role="status"
      aria-label="Watching"
      data-region-focus
      tabIndex={-1}
      className="flex items-center gap-8 rounded-12 border border-line bg-sunken px-12 py-10 text-13 text-muted outline-none"
    >
      <Eye size={15} strokeWidth={1.75} aria-hidden className="shrink-0" />
      <span>
        <span className="font-medium text-ink">You are watching.</span> Whoever runs this host decides what is sent.
      </span>
    </p>
  )
}
