/** Lines added and removed, said with signs as well as colours. */
export function Counts({ added, removed }: { added: number | null; removed: number | null }) {
  if (added === null && removed === null) return null
  return (
    <span
      className="figures inline-flex shrink-0 gap-4 font-mono text-11"
      aria-label={`${added ?? 0} lines added, ${removed ?? 0} removed`}
    >
      {Boolean(added) && <span className="text-added">+{added}</span>}
      {Boolean(removed) && <span className="text-removed">−{removed}</span>}
    </span>
  )
}
