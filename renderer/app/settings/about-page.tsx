import { Copy } from 'lucide-react'
import { useWorkbench } from '../../state/workbench-store.ts'
import { shownText } from '../../transcript/shown-text.ts'
import { Button } from '../../ui/button.tsx'
import { attempt } from '../attempt.ts'

export function AboutPage() {
  const info = useWorkbench((state) => state.info)
  const host = useWorkbench((state) => state.host)
  const banner = host ? host.banner : (info?.banner ?? null)
  const facts = [
    ['Version', info?.version ?? 'unknown'],
    ['Runs as', info ? (info.kind === 'desktop' ? 'desktop application' : 'local web host') : 'unknown'],
    ['System', info?.platform ?? 'unknown'],
    ['Data folder', info?.dataFolder ?? 'unknown'],
    ['Page', navigator.userAgent],
  ] as const
  const report = [...facts.map(([name, value]) => `${name}: ${value}`), ...(banner ? [`Banner: ${banner}`] : [])].join(
    '\n',
  )
  return (
    <>
      <div>
        <p className="text-22 font-semibold tracking-tight">Lathe</p>
        <p className="text-13 text-muted">
          A workbench for agents that work in your files. Free software under the MIT licence, without an account and
          without telemetry.
        </p>
      </div>
      {banner && (
        <p role="status" className="rounded-8 bg-needs-soft px-12 py-8 text-13">
          {shownText(banner)}
        </p>
      )}
      <dl className="divide-y divide-line border-y border-line">
        {facts.map(([name, value]) => (
          <div key={name} className="flex gap-16 py-6 text-13">
            <dt className="w-96 shrink-0 text-muted">{name}</dt>
            <dd className="min-w-0 break-words">{shownText(value)}</dd>
          </div>
        ))}
      </dl>
      <Button
        className="self-start"
        onClick={() => void attempt('Could not copy', () => navigator.clipboard.writeText(report))}
      >
        <Copy size={14} strokeWidth={1.75} aria-hidden />
        Copy for a report
      </Button>
    </>
  )
}
