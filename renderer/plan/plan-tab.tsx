/** The inspector's "Plan": the turn's list of what is to do, and how far it is. */
import { Ban, CircleDashed, ListTodo } from 'lucide-react'
import type { Plan } from '../../preload/contract/items.ts'
import { useView } from '../state/session-store.ts'
import { shownText } from '../transcript/shown-text.ts'
import { Badge } from '../ui/badge.tsx'
import { classNames } from '../ui/class-names.ts'
import { EmptyState } from '../ui/empty-state.tsx'
import { StatusDot } from '../ui/status-dot.tsx'

type PlanEntry = Plan['entries'][number]

const words: Record<PlanEntry['state'], string> = {
  pending: 'To do',
  active: 'In progress',
  done: 'Done',
  dropped: 'Dropped',
}

export function PlanTab({ sessionId }: { sessionId: string }) {
  const plan = useView<Plan | null>(sessionId, ({ header }) => header.plan, null)
  if (!plan || plan.entries.length === 0)
    return (
      <EmptyState
        icon={ListTodo}
        title="No plan yet"
        detail="For work of several steps the agent writes down what it is going to do. It shows here and is ticked off as it goes."
      />
    )
  const counted = plan.entries.filter(({ state }) => state !== 'dropped')
  const done = counted.filter(({ state }) => state === 'done').length
  const open = counted.length - done
  return (
    <div className="flex flex-col gap-12 p-16">
      <header className="flex flex-col gap-8">
        <div className="flex items-baseline justify-between gap-8">
          <h2 className="figures text-13 font-medium">
            {done} of {counted.length} done
          </h2>
          {plan.settled &&
            (open === 0 ? (
              <Badge tone="ok">Finished</Badge>
            ) : (
              <Badge tone="needs">{open === 1 ? '1 step left open' : `${open} steps left open`}</Badge>
            ))}
        </div>
        <div
          role="progressbar"
          aria-label="Plan"
          aria-valuemin={0}
          aria-valuemax={counted.length}
          aria-valuenow={done}
          className="h-4 overflow-hidden rounded-full bg-pressed"
        >
          <div
            className="h-full rounded-full bg-accent transition-[width]"
            style={{ width: `${counted.length === 0 ? 0 : (done / counted.length) * 100}%` }}
          />
        </div>
      </header>
      <ol aria-label="Plan" className="flex flex-col">
        {plan.entries.map((entry) => (
          <PlanRow key={entry.id} entry={entry} settled={plan.settled} />
        ))}
      </ol>
    </div>
  )
}

function PlanRow({ entry, settled }: { entry: PlanEntry; settled: boolean }) {
  // A turn that is over works on nothing: what was in progress is left open.
  const state = settled && entry.state === 'active' ? 'pending' : entry.state
  return (
    <li className="flex gap-10 py-6 text-13" aria-current={state === 'active' ? 'step' : undefined}>
      <span className="mt-4 grid size-12 shrink-0 place-items-center">
        {state === 'done' ? (
          <StatusDot status="done" label="" />
        ) : state === 'active' ? (
          <StatusDot status="running" label="" />
        ) : state === 'dropped' ? (
          <Ban size={12} strokeWidth={1.75} aria-hidden className="text-faint" />
        ) : (
          <CircleDashed size={12} strokeWidth={1.75} aria-hidden className="text-faint" />
        )}
      </span>
      <span
        className={classNames(
          'min-w-0 grow break-words',
          state === 'active' ? 'font-medium text-ink' : state === 'pending' ? 'text-ink' : 'text-muted',
          state === 'dropped' && 'line-through',
        )}
      >
        <span className="sr-only">{words[state]}: </span>
        {shownText(entry.text)}
      </span>
    </li>
  )
}
