import { Bot, CircleAlert, Square, SquareArrowOutUpRight } from 'lucide-react'
import { useState } from 'react'
import type { ItemOf } from '../../../preload/contract/items.ts'
import { attempt } from '../../app/attempt.ts'
import { useSessionController, useView } from '../../state/session-store.ts'
import { showSubagent } from '../../state/window-store.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Duration } from '../../ui/duration.tsx'
import { Spinner } from '../../ui/spinner.tsx'
import { durationText } from '../../ui/time-text.ts'
import { costText, counted, tokensText } from '../amounts.ts'
import type { RowOf } from '../rows.ts'
import { Shown } from '../shown.tsx'
import { subagentEnded, subagentWords } from '../subagents.ts'
import { useSessionId } from '../transcript-context.ts'
import { Disclosure } from './disclosure.tsx'

type Card = ItemOf<'subagent'>

/** A helper with a task of its own: how far it is, what it does now, what it brought (context.md 11). */
export function SubagentRow({
  row: { item },
  open,
  onToggle,
}: {
  row: RowOf<'subagent'>
  open: boolean
  onToggle: () => void
}) {
  const ended = subagentEnded(item)
  return (
    <div className="my-4 rounded-8 border border-line bg-raised py-4 pr-8 pl-12">
      <Disclosure open={open} onToggle={() => onToggle()} icon={<Mark item={item} />} end={<Actions item={item} />}>
        <span className="flex min-w-0 items-baseline gap-8">
          <Shown text={item.label} className="min-w-0 truncate font-medium text-ink" />
          <State item={item} />
          {item.background && <Badge>Background</Badge>}
        </span>
      </Disclosure>
      <Figures item={item} />
      {!ended && item.actions.length > 0 && (
        <ol aria-label="Last actions" className="mt-2 ml-24 flex flex-col">
          {item.actions.map((action, at) => (
            <li key={at} className="flex min-w-0 text-12 text-muted">
              <Shown text={action} className="min-w-0 truncate" />
            </li>
          ))}
        </ol>
      )}
      {open && (
        <div className="mt-6 mb-4 ml-24 flex flex-col gap-8">
          <Section title="Task" text={item.task} />
          {item.result !== '' && (
            <Section title={item.phase === 'done' ? 'Result' : 'What is known'} text={item.result} />
          )}
        </div>
      )}
    </div>
  )
}

function Mark({ item }: { item: Card }) {
  if (item.phase === 'failed') return <CircleAlert size={14} strokeWidth={1.75} aria-hidden className="text-failed" />
  if (subagentEnded(item) || item.phase === 'queued') return <Bot size={14} strokeWidth={1.75} aria-hidden />
  return <Spinner size={14} className="text-running" />
}

/** What it does or how it ended. What it asks stands above the message, with its name; here it says that it waits. */
function State({ item }: { item: Card }) {
  const asks = useView(
    useSessionId(),
    ({ items }) =>
      items.some(
        (one) =>
          (one.kind === 'approval' || one.kind === 'question') && one.toolItemId === item.id && one.state === 'open',
      ),
    false,
  )
  if (asks) return <Badge tone="needs">Waiting for you</Badge>
  return (
    <span className={item.phase === 'failed' ? 'shrink-0 text-failed' : 'shrink-0 text-muted'}>
      {subagentWords(item)}
    </span>
  )
}

function Figures({ item: { steps, usage, model, startedAt, endedAt } }: { item: Card }) {
  const { input, output, total, cost } = usage
  const tokens = total ?? (input === null && output === null ? null : (input ?? 0) + (output ?? 0))
  return (
    <p className="figures ml-24 flex flex-wrap gap-x-6 text-11 text-faint [&>*+*]:before:mr-6 [&>*+*]:before:content-['·']">
      <span>{counted(steps, 'step')}</span>
      {tokens !== null && <span>{tokensText(tokens)} tokens</span>}
      {cost !== null && cost > 0 && <span>{costText(cost)}</span>}
      {startedAt !== null &&
        (endedAt === null ? (
          <Duration from={startedAt} />
        ) : (
          <span>{durationText(Math.max(0, endedAt - startedAt))}</span>
        ))}
      <Shown text={model} className="min-w-0 truncate" />
    </p>
  )
}

function Actions({ item }: { item: Card }) {
  const controller = useSessionController(useSessionId())
  const [busy, setBusy] = useState(false)
  const child = item.sessionId
  return (
    <>
      {!subagentEnded(item) && (
        <Button
          size="small"
          variant="ghost"
          busy={busy}
          aria-label={`Stop subagent ${item.label}`}
          onClick={() => {
            setBusy(true)
            void attempt('Could not stop the subagent', () => controller.stopSubagent(item.id)).finally(() =>
              setBusy(false),
            )
          }}
        >
          <Square size={11} strokeWidth={2} fill="currentColor" aria-hidden /> Stop
        </Button>
      )}
      {child !== null && item.startedAt !== null && (
        <Button
          size="small"
          variant="ghost"
          aria-label={`Open transcript of ${item.label}`}
          onClick={() => showSubagent(child)}
        >
          <SquareArrowOutUpRight size={13} strokeWidth={1.75} aria-hidden /> Open transcript
        </Button>
      )}
    </>
  )
}

function Section({ title, text }: { title: string; text: string }) {
  return (
    <section aria-label={title}>
      <h4 className="text-11 text-faint">{title}</h4>
      <p className="max-h-240 overflow-y-auto text-13 leading-20 whitespace-pre-wrap text-muted [overflow-wrap:anywhere]">
        <Shown text={text} />
      </p>
    </section>
  )
}
