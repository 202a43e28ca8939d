/** Marks in the transcript: what was set aside (S-81), and where a fork begins (S-77). */
import { GitFork, History, RotateCcw, Trash2 } from 'lucide-react'
import { useMemo, useState } from 'react'
import type { ItemSlice } from '../../../preload/contract/session.ts'
import { attempt } from '../../app/attempt.ts'
import { forkSession } from '../../sessions/session-actions.ts'
import { useSessionController, useView } from '../../state/session-store.ts'
import { ask, showSession } from '../../state/window-store.ts'
import { Button } from '../../ui/button.tsx'
import { counted } from '../amounts.ts'
import { bringBack } from '../item-actions.ts'
import { definitionOf } from '../row-registry.tsx'
import { buildRows, type RowOf } from '../rows.ts'
import { useSessionId } from '../transcript-context.ts'
import { Disclosure } from './disclosure.tsx'

const icon = { size: 13, strokeWidth: 1.75, 'aria-hidden': true } as const

export function RewindRow({ row: { item, restorable } }: { row: RowOf<'rewind'> }) {
  const sessionId = useSessionId()
  const controller = useSessionController(sessionId)
  const idle = useView(sessionId, ({ header }) => header.currentTurnId === null, false)
  const [slice, setSlice] = useState<ItemSlice | null>(null)

  async function show(): Promise<void> {
    setSlice(slice ? null : ((await attempt('Could not load them', () => controller.setAside(item.id))) ?? null))
  }

  async function fork(): Promise<void> {
    const all = slice ?? (await attempt('Could not load them', () => controller.setAside(item.id)))
    const last = all?.items.findLast((one) => one.visible)
    if (last) await forkSession(sessionId, last.id)
  }

  async function remove(): Promise<void> {
    const yes = await ask({
      title: 'Delete what was set aside?',
      description: `${counted(item.items, 'entry is', 'entries are')} gone for good, from the journal too.`,
      confirm: 'Delete permanently',
      danger: true,
    })
    if (yes) await attempt('Could not delete them', () => controller.deleteSetAside(item.id))
  }

  return (
    <section aria-label="Set aside" className="my-8">
      <div className="flex flex-wrap items-center gap-2">
        <div className="min-w-0 grow">
          <Disclosure open={slice !== null} onToggle={() => void show()} icon={<History {...icon} />}>
            {counted(item.items, 'item', 'items')} set aside
          </Disclosure>
        </div>
        {restorable && idle && (
          <Button
            acts
            size="small"
            variant="ghost"
            onClick={() => void attempt('Could not restore them', () => bringBack(sessionId, item))}
          >
            <RotateCcw {...icon} /> Restore
          </Button>
        )}
        <Button acts size="small" variant="ghost" onClick={() => void fork()}>
          <GitFork {...icon} /> Fork
        </Button>
        <Button acts size="small" variant="ghost" onClick={() => void remove()}>
          <Trash2 {...icon} /> Delete permanently
        </Button>
      </div>
      {slice && <SetAside slice={slice} />}
    </section>
  )
}

/** As they were, to be read only. */
function SetAside({ slice }: { slice: ItemSlice }) {
  const view = useView(useSessionId(), (whole) => whole, null)
  const rows = useMemo(
    () =>
      view
        ? buildRows(
            { ...view, ...slice, header: { ...view.header, recovery: null } },
            [],
            new Map(),
            Number.MAX_SAFE_INTEGER,
          )
        : [],
    [view, slice],
  )
  return (
    <div inert className="mt-4 border-l-2 border-line pl-12 opacity-60">
      {rows.map((row) => {
        const { View, opens } = definitionOf(row)
        return <View key={row.id} row={row} open={opens?.(row, true) ?? false} onToggle={() => {}} />
      })}
      {slice.after > 0 && (
        <p className="py-4 text-12 text-faint">{counted(slice.after, 'more entry', 'more entries')}</p>
      )}
    </div>
  )
}

export function ForkRow({ row: { item } }: { row: RowOf<'fork'> }) {
  return (
    <p className="flex items-center gap-8 py-6 text-12 text-faint">
      <GitFork {...icon} className="shrink-0" /> Forked from
      <Button
        size="small"
        variant="ghost"
        onClick={() => showSession(item.from.sessionId, { itemId: item.from.itemId })}
      >
        {item.from.title}
      </Button>
    </p>
  )
}
