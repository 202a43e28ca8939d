/** `+12 −3`: lines added and removed, with words for those who do not see the colours. What is none is left out. */
export function Counts({ added, removed }: { added: number | null; removed: number | null }) {
  if (!added && !removed) return null
  return (
    <span className="figures inline-flex shrink-0 gap-4 font-mono text-11">
      {Boolean(added) && (
        <span className="text-added">
          +{added}
          <span className="sr-only"> lines added</span>
        </span>
      )}
      {Boolean(removed) && (
        <span className="text-removed">
          −{removed}
          <span className="sr-only"> lines removed</span>
        </span>
      )}
    </span>
  )
}
