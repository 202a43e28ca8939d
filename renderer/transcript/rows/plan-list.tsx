import { Circle, CircleCheck, CircleDot, CircleSlash, type LucideIcon } from 'lucide-react'
import { z } from 'zod'
import { PlanEntry } from '../../../preload/contract/items.ts'
import { classNames } from '../../ui/class-names.ts'
import { Shown } from '../shown.tsx'

type Entry = z.infer<typeof PlanEntry>
const Entries = z.object({ entries: z.array(PlanEntry.partial({ id: true })).min(1) })

/** The list a plan call was given; null where its arguments are no list. */
export function planEntries(args: unknown): Omit<Entry, 'id'>[] | null {
  const parsed = Entries.safeParse(args)
  return parsed.success ? parsed.data.entries : null
}

const marks: Record<Entry['state'], { icon: LucideIcon; word: string; tone: string }> = {
  pending: { icon: Circle, word: 'To do', tone: 'text-faint' },
  active: { icon: CircleDot, word: 'Under way', tone: 'text-running' },
  done: { icon: CircleCheck, word: 'Done', tone: 'text-ok' },
  dropped: { icon: CircleSlash, word: 'Dropped', tone: 'text-faint' },
}

export function PlanList({ entries }: { entries: Omit<Entry, 'id'>[] }) {
  return (
    <ul
      aria-label="Plan"
      className="my-4 ml-8 flex flex-col gap-4 rounded-8 border border-line bg-sunken px-12 py-8 text-13"
    >
      {entries.map(({ text, state }, index) => {
        const { icon: Icon, word, tone } = marks[state]
        return (
          <li key={index} className="flex items-start gap-8">
            <Icon size={14} strokeWidth={1.75} aria-hidden className={classNames('mt-3 shrink-0', tone)} />
            <span className="sr-only">{word}: </span>
            <Shown
              text={text}
              className={classNames(
                'min-w-0 break-words',
                state === 'dropped' ? 'text-faint line-through' : state === 'done' ? 'text-muted' : 'text-ink',
              )}
            />
          </li>
        )
      })}
    </ul>
  )
}
