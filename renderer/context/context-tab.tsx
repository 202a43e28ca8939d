/** The inspector's "Context": how full the model's window is, of what, and what turns have cost. */
import { Combine, Gauge, RefreshCw } from 'lucide-react'
import type { ContextReport } from '../../preload/contract/session-routes.ts'
import { noUsage } from '../../preload/contract/fold.ts'
import type { Turn } from '../../preload/contract/session.ts'
import { client } from '../state/link.ts'
import { useView } from '../state/session-store.ts'
import { useAnswer } from '../state/use-answer.ts'
import { counted, tokensText } from '../transcript/amounts.ts'
import { shownText } from '../transcript/shown-text.ts'
import { useWorkbench } from '../state/workbench-store.ts'
import { Button } from '../ui/button.tsx'
import { classNames } from '../ui/class-names.ts'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { Meter } from '../ui/meter.tsx'
import { ScrollArea } from '../ui/scroll-area.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { durationText } from '../ui/time-text.ts'
import { findModel } from '../models/model-label.ts'
import { compactContext } from './compact.ts'
import { costOrUnknown, tokensOrUnknown } from './token-text.ts'

const noTurns: Turn[] = []
const tableTurnsMax = 50

export function ContextTab({ sessionId }: { sessionId: string }) {
  // Asked for when shown, when another turn has settled, and on demand: the host counts it each time.
  const lastTurn = useView(sessionId, ({ header }) => header.lastTurnId, null)
  const lastMark = useView(
    sessionId,
    ({ items }) => items.findLast((item) => item.kind === 'compaction' && item.visible)?.id ?? null,
    null,
  )
  const {
    answer: report,
    error,
    again,
  } = useAnswer(
    `${sessionId} ${lastTurn} ${lastMark}`,
    (signal) => client().session.context({ sessionId }, { signal }),
    {
      keepsLast: true,
    },
  )
  if (error)
    return (
      <ErrorState
        what="Could not read the context"
        message={error.message}
        hint={error.hint}
        code={error.code}
        onRetry={again}
      />
    )
  if (report === null) return <Skeleton label="Counting the context" lines={[0.5, 1, 0.8, 0.6, 0.7]} />
  return (
    <div className="flex flex-col gap-24 p-16">
      <Fill sessionId={sessionId} report={report} onRefresh={again} />
      <Costs sessionId={sessionId} />
    </div>
  )
}

function Fill({ sessionId, report, onRefresh }: { sessionId: string; report: ContextReport; onRefresh: () => void }) {
  const { used, window, sections, estimated, model, compactAt } = report
  const busy = useView(sessionId, ({ header }) => header.currentTurnId !== null || header.compaction !== null, false)
  const found = useWorkbench(({ providers }) => (model === null ? null : (findModel(providers, model)?.model ?? null)))
  const total = sections.reduce((sum, { tokens }) => sum + tokens, 0)
  const ordered = [...sections].sort((a, b) => b.tokens - a.tokens)
  return (
    <section aria-label="What fills the context">
      <header className="flex items-baseline gap-8">
        <h2 className="figures text-18 font-semibold">{tokensOrUnknown(used)}</h2>
        <p className="figures text-12 text-muted">
          of {window === null ? 'an unknown number of' : tokensText(window)} tokens
          {estimated && ', estimated'}
        </p>
        <span className="grow" />
        <IconButton icon={RefreshCw} label="Count again" size="small" onClick={onRefresh} />
      </header>
      <Meter
        label="Context used"
        value={used !== null && window !== null ? used / window : undefined}
        tickAt={compactAt !== null && window !== null ? compactAt / window : undefined}
        faint={estimated}
        text={`${tokensOrUnknown(used)} of ${tokensOrUnknown(window)} tokens`}
        className="mt-8"
      />
      {found?.contextLengthSource === 'assumed' && (
        <p className="mt-6 text-11 text-muted">The window of this model is assumed; its provider does not say.</p>
      )}
      <p className="mt-6 flex items-center gap-8 text-11 text-muted">
        <span className="min-w-0">{sentWords(report)}</span>
        <Button
          acts
          size="small"
          variant="ghost"
          className="ml-auto shrink-0"
          disabled={busy}
          onClick={() => void compactContext(sessionId)}
        >
          <Combine size={13} strokeWidth={1.75} aria-hidden /> Compact now
        </Button>
      </p>
      {sections.length === 0 ? (
        <EmptyState
          icon={Gauge}
          title="Nothing has been sent yet"
          detail="With the first turn, what goes to the model is counted here."
          className="h-auto"
        />
      ) : (
        <ul className="mt-16 flex flex-col">
          {ordered.map((section) => (
            <Section key={section.name} section={section} total={total} />
          ))}
        </ul>
      )}
    </section>
  )
}

/** What is sent whole, what stands under a summary, what went for its size (C-10). */
function sentWords({ mark, sent, pruned, compactAt }: ContextReport): string {
  const parts = [
    `${counted(sent, 'entry', 'entries')} sent in full`,
    mark ? `${counted(mark.covered, 'older one', 'older ones')} as a summary` : '',
    pruned > 0 ? `${counted(pruned, 'tool result')} left out for size` : '',
    compactAt === null ? '' : `compacted from ${tokensText(compactAt)} tokens on`,
  ]
  return `${parts.filter((part) => part !== '').join(', ')}.`
}

function Section({ section, total }: { section: ContextReport['sections'][number]; total: number }) {
  const share = total === 0 ? 0 : section.tokens / total
  const row = (
    <span className="flex min-w-0 grow items-center gap-8">
      <span className="min-w-0 grow truncate text-ink first-letter:uppercase">{shownText(section.name)}</span>
      <span aria-hidden className="h-4 w-64 shrink-0 overflow-hidden rounded-full bg-pressed">
        <span
          className="block h-full rounded-full bg-accent"
          style={{ width: `${Math.max(share * 100, section.tokens > 0 ? 2 : 0)}%` }}
        />
      </span>
      <span className="figures w-48 shrink-0 text-right text-12 text-muted">{tokensText(section.tokens)}</span>
    </span>
  )
  if (!section.text) return <li className="flex h-26 items-center pl-18">{row}</li>
  return (
    <li>
      <details className="group">
        <summary className="flex h-26 cursor-default list-none items-center gap-6 rounded-4 hover:bg-hover">
          <span
            aria-hidden
            className="w-12 shrink-0 text-center text-11 text-faint transition-transform group-open:rotate-90"
          >
            ›
          </span>
          {row}
        </summary>
        <ScrollArea
          label={section.name}
          className="mb-6 ml-18 max-h-280 rounded-6 bg-sunken p-8 font-mono text-11 break-words whitespace-pre-wrap text-muted"
        >
          {shownText(section.text)}
        </ScrollArea>
      </details>
    </li>
  )
}

function Costs({ sessionId }: { sessionId: string }) {
  const usage = useView(sessionId, ({ header }) => header.usage, noUsage)
  const turns = useView(sessionId, (view) => view.turns, noTurns)
  const shown = turns.slice(-tableTurnsMax).toReversed()
  const cell = 'figures py-4 pl-12 text-right whitespace-nowrap'
  return (
    <section aria-label="Tokens and cost">
      <h2 className="mb-8 text-12 font-semibold">Tokens and cost</h2>
      <dl className="grid grid-cols-[repeat(auto-fit,minmax(4.5rem,1fr))] gap-x-16 gap-y-8">
        {(
          [
            ['Sent', tokensOrUnknown(usage.input)],
            ['From cache', tokensOrUnknown(usage.cacheRead)],
            ['Answered', tokensOrUnknown(usage.output)],
            ['Reasoning', tokensOrUnknown(usage.reasoning)],
            ['Cost', costOrUnknown(usage.cost)],
          ] as const
        ).map(([name, value]) => (
          <div key={name}>
            <dt className="text-11 text-faint">{name}</dt>
            <dd className={classNames('figures text-13', value === 'unknown' ? 'text-faint' : 'text-ink')}>{value}</dd>
          </div>
        ))}
      </dl>
      {shown.length > 0 && (
        <div className="mt-16 overflow-x-auto">
          <table className="w-full text-12">
            <caption className="sr-only">Tokens and cost of each turn, newest first</caption>
            <thead className="text-11 text-faint">
              <tr>
                <th scope="col" className="py-4 text-left font-normal">
                  Turn
                </th>
                <th scope="col" className={classNames(cell, 'font-normal')}>
                  Sent
                </th>
                <th scope="col" className={classNames(cell, 'font-normal')}>
                  Answered
                </th>
                <th scope="col" className={classNames(cell, 'font-normal')}>
                  Took
                </th>
                <th scope="col" className={classNames(cell, 'font-normal')}>
                  Cost
                </th>
              </tr>
            </thead>
            <tbody>
              {shown.map((turn, index) => (
                <tr key={turn.id} className="border-t border-line text-muted">
                  <th
                    scope="row"
                    className="max-w-160 truncate py-4 text-left font-normal text-ink"
                    title={turn.servedBy ?? turn.model}
                  >
                    {turns.length - index}
                    <span className="ml-8 text-faint">
                      {turn.outcome === null ? 'running' : turn.outcome === 'completed' ? '' : turn.outcome}
                    </span>
                  </th>
                  <td className={cell}>{tokensOrUnknown(turn.usage.input)}</td>
                  <td className={cell}>{tokensOrUnknown(turn.usage.output)}</td>
                  <td className={cell}>{turn.durationMs === null ? '' : durationText(turn.durationMs)}</td>
                  <td className={classNames(cell, turn.usage.cost === null && 'text-faint')}>
                    {costOrUnknown(turn.usage.cost)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}
