import { X } from 'lucide-react'

/** The end of a chip, as high as it is, that takes it away. */
export function RemoveButton({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <button
      type="button"
      aria-label={label}
      onClick={onClick}
      className="ring-inside grid h-full w-24 shrink-0 place-items-center text-faint hover:bg-hover hover:text-ink"
    >
      <X size={13} strokeWidth={1.75} aria-hidden />
    </button>
  )
}
