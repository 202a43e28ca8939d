/** How full the model's context is, beside the message; opens the figures and what can be done (S-105). */
import { Combine } from 'lucide-react'
import { useState } from 'react'
import { useView } from '../state/session-store.ts'
import { showInspector } from '../state/window-store.ts'
import { tokensText } from '../transcript/amounts.ts'
import { Button } from '../ui/button.tsx'
import { Meter, Ring } from '../ui/meter.tsx'
import { Popover } from '../ui/popover.tsx'
import { compactContext } from './compact.ts'

export function ContextRing({ sessionId }: { sessionId: string }) {
  const context = useView(sessionId, ({ header }) => header.context, null)
  const busy = useView(sessionId, ({ header }) => header.currentTurnId !== null || header.compaction !== null, false)
  const [open, setOpen] = useState(false)
  if (!context) return null
  const { used, window, estimated, compactAt } = context
  const share = used !== null && window !== null ? used / window : undefined
  const text =
    used === null
      ? 'Context: not known yet'
      : `Context: ${estimated ? 'about ' : ''}${tokensText(used)}${window === null ? ' tokens' : ` of ${tokensText(window)} tokens`}`
  const percent = share === undefined ? '' : ` (${Math.round(share * 100)} %)`
  const tickAt = compactAt !== null && window !== null ? compactAt / window : undefined
  const meter = { label: 'Context used', value: share, text, tickAt, faint: estimated }
  return (
    <Popover
      label="Context"
      side="top"
      align="end"
      open={open}
      onOpenChange={setOpen}
      trigger={
        <button
          type="button"
          aria-label={text + percent}
          title={text + percent}
          className="grid size-24 shrink-0 place-items-center rounded-6 hover:bg-hover aria-expanded:bg-pressed"
        >
          <Ring {...meter} size={15} />
        </button>
      }
    >
      <div className="flex flex-col gap-8">
        <p className="flex items-baseline gap-6">
          <span className="figures text-14 font-semibold">{used === null ? 'Not known yet' : tokensText(used)}</span>
          <span className="figures text-12 text-muted">
            {window !== null && `of ${tokensText(window)} tokens`}
            {used !== null && estimated && ', estimated'}
          </span>
          <span className="figures ml-auto text-12 text-muted">
            {share === undefined ? '' : `${Math.round(share * 100)} %`}
          </span>
        </p>
        <Meter {...meter} />
        <p className="text-12 text-muted">
          {compactAt === null
            ? 'The window of this model is assumed. Older turns are summarised once it refuses a request as too long.'
            : `From ${tokensText(compactAt)} on, older turns are summarised before the next one.`}
        </p>
        <div className="flex gap-6">
          <Button
            acts
            size="small"
            disabled={busy || used === null}
            onClick={() => {
              setOpen(false)
              void compactContext(sessionId)
            }}
          >
            <Combine size={13} strokeWidth={1.75} aria-hidden /> Compact now
          </Button>
          <Button
            size="small"
            variant="ghost"
            onClick={() => {
              setOpen(false)
              showInspector('context')
            }}
          >
            What fills it
          </Button>
        </div>
      </div>
    </Popover>
  )
}
