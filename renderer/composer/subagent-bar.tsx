import { ArrowLeft } from 'lucide-react'
import type { Parent } from '../../preload/contract/session.ts'
import { showParent } from '../state/window-store.ts'
import { Shown } from '../transcript/shown.tsx'
import { Button } from '../ui/button.tsx'

/** In place of the message: what a subagent did is read, and the way back is here. */
export function SubagentBar({ parent }: { parent: Parent }) {
  return (
    <div className="flex min-h-40 flex-wrap items-center gap-8 rounded-8 border border-line bg-raised px-12 py-6 text-12 text-muted">
      <span className="min-w-0">
        This is what the subagent <Shown text={parent.label} className="font-medium text-ink" /> did. It can only be
        read.
      </span>
      <Button size="small" className="ml-auto" onClick={() => showParent(parent)}>
        <ArrowLeft size={13} strokeWidth={1.75} aria-hidden /> Back to the session
      </Button>
    </div>
  )
}
