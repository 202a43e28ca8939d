/** Keys: every command's binding, recorded by pressing it; what shares keys is shown as a conflict (S-177). */
import { RotateCcw, Search, TriangleAlert, X } from 'lucide-react'
import { useEffect, useMemo, useState } from 'react'
import { useWorkbench } from '../../state/workbench-store.ts'
import { classNames } from '../../ui/class-names.ts'
import { IconButton } from '../../ui/icon-button.tsx'
import { Kbd } from '../../ui/kbd.tsx'
import { TextField } from '../../ui/text-field.tsx'
import { categories, type Command } from '../command.ts'
import { boundCommands, command, commands } from '../commands.ts'
import { fuzzyMatch } from '../fuzzy.ts'
import { type BoundCommand, keyConflicts, pressedKeys, shownKeys } from '../keys.ts'
import { useChange } from './setting-row.tsx'

export function KeysPage() {
  const overrides = useWorkbench(({ settings }) => settings.keys)
  const [text, setText] = useState('')
  const [recording, setRecording] = useState<string | null>(null)
  const { error, change } = useChange()
  const bound = useMemo(() => new Map(boundCommands(overrides).map((one) => [one.id, one])), [overrides])
  const conflicts = useMemo(() => keyConflicts([...bound.values()]), [bound])
  const query = text.trim()
  const shown = commands.filter(
    ({ title, category }) => query === '' || fuzzyMatch(`${title} ${category}`, query) !== null,
  )

  const set = (id: string, keys: string | null | undefined) => {
    const next = { ...overrides }
    if (keys === undefined) delete next[id]
    else next[id] = keys
    change({ keys: next })
    setRecording(null)
  }
  return (
    <>
      <TextField
        label="Filter commands"
        labelHidden
        icon={Search}
        placeholder="Filter commands"
        value={text}
        onChange={setText}
      />
      {error && (
        <p role="alert" className="text-12 text-failed">
          {error}
        </p>
      )}
      {categories.map((category) => {
        const list = shown.filter((one) => one.category === category)
        if (list.length === 0) return null
        return (
          <section key={category} aria-label={category}>
            <h3 className="mb-4 text-12 font-semibold">{category}</h3>
            <ul className="divide-y divide-line">
              {list.map((one) => (
                <KeyRow
                  key={one.id}
                  command={one}
                  bound={bound.get(one.id)!}
                  conflicts={conflicts.get(one.id) ?? []}
                  recording={recording === one.id}
                  onRecord={(on) => setRecording(on ? one.id : null)}
                  onSet={(keys) => set(one.id, keys)}
                />
              ))}
            </ul>
          </section>
        )
      })}
      {shown.length === 0 && <p className="py-24 text-center text-13 text-muted">No command has that name.</p>}
    </>
  )
}

type KeyRowProps = {
  command: Command
  bound: BoundCommand
  conflicts: string[]
  recording: boolean
  onRecord: (on: boolean) => void
  onSet: (keys: string | null | undefined) => void
}

function KeyRow({
  command: { title, nativeKeys, inTerminal },
  bound,
  conflicts,
  recording,
  onRecord,
  onSet,
}: KeyRowProps) {
  useEffect(() => {
    if (!recording) return
    const onKey = (event: KeyboardEvent) => {
      event.preventDefault()
      event.stopPropagation()
      if (event.key === 'Escape' && !event.ctrlKey && !event.altKey && !event.metaKey && !event.shiftKey)
        return onRecord(false)
      const keys = pressedKeys(event)
      if (keys !== null) onSet(keys)
    }
    // Before the window's own bindings, so that a bound key can be recorded.
    addEventListener('keydown', onKey, { capture: true })
    return () => removeEventListener('keydown', onKey, { capture: true })
  }, [recording, onRecord, onSet])
  return (
    <li className="flex min-h-36 items-center gap-8">
      <span className="min-w-0 grow">
        <span className="block truncate text-13">
          {title}
          {inTerminal && <span className="ml-6 text-11 text-faint">in a terminal</span>}
        </span>
        {conflicts.length > 0 && (
          <span className="flex items-center gap-4 text-11 text-needs">
            <TriangleAlert size={11} strokeWidth={1.75} aria-hidden />
            Also: {conflicts.map((id) => command(id)?.title ?? id).join(', ')}
          </span>
        )}
      </span>
      <button
        type="button"
        disabled={nativeKeys}
        onClick={() => onRecord(!recording)}
        className={classNames(
          'inline-flex h-24 min-w-72 items-center justify-end rounded-6 border px-6 text-12',
          recording ? 'border-accent text-accent-ink' : 'border-transparent hover:border-line-control',
        )}
      >
        <span className="sr-only">Keys of {title}: </span>
        {recording ? (
          'Press keys…'
        ) : bound.keys ? (
          <Kbd keys={shownKeys(bound.keys)} />
        ) : (
          <span className="text-faint">none</span>
        )}
      </button>
      <span className="flex w-52 justify-end">
        {bound.keys !== null && !nativeKeys && (
          <IconButton icon={X} label={`Unbind ${title}`} size="small" onClick={() => onSet(null)} />
        )}
        {bound.chosen && (
          <IconButton
            icon={RotateCcw}
            label={`Default keys for ${title}`}
            size="small"
            onClick={() => onSet(undefined)}
          />
        )}
      </span>
    </li>
  )
}
