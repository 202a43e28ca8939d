/** What an undo, or redo, would do to each file, and what the person decides on those that changed since (F-1008). */
import { useState } from 'react'
import type { UndoPlan } from '../../preload/contract/change-routes.ts'
import { Button } from '../ui/button.tsx'
import { Checkbox } from '../ui/checkbox.tsx'
import { PathText } from './change-header.tsx'
import { ReturnCompare } from './return-compare.tsx'
import type { UndoAsked } from './review-actions.ts'

type Planned = UndoPlan['files'][number]

const acts = { restore: 'is set back', create: 'comes back', delete: 'is deleted' } as const
const redoActs = { restore: 'is brought forward', create: 'comes back', delete: 'is deleted' } as const

/** The files of a plan that would be written. */
export function writtenFiles(files: readonly Planned[], force: ReadonlySet<string>): Planned[] {
  return files.filter(({ state, path }) => state === 'ready' || (state === 'conflict' && force.has(path)))
}

export function UndoFiles({
  files,
  asked,
  force,
  onForce,
}: {
  files: readonly Planned[]
  asked: UndoAsked
  /** Paths whose old version is used although they changed since. */
  force: ReadonlySet<string>
  onForce: (force: ReadonlySet<string>) => void
}) {
  return (
    <ul aria-label="Files" className="max-h-320 overflow-y-auto [scrollbar-width:thin]">
      {files.map((file) => (
        <Row
          key={file.path}
          file={file}
          asked={asked}
          forced={force.has(file.path)}
          onForce={(on) => onForce(withOrWithout(force, file.path, on))}
        />
      ))}
    </ul>
  )
}

function Row({
  file,
  asked,
  forced,
  onForce,
}: {
  file: Planned
  asked: UndoAsked
  forced: boolean
  onForce: (on: boolean) => void
}) {
  const { path, act, state } = file
  const { redo } = asked
  const [compared, setCompared] = useState(false)
  return (
    <li className="border-b border-line py-4 last:border-0">
      <div className="flex items-center gap-8">
        <PathText path={path} className="grow" />
        <span className={state === 'conflict' ? 'shrink-0 text-11 text-needs' : 'shrink-0 text-11 text-muted'}>
          {state === 'ready'
            ? (redo ? redoActs : acts)[act]
            : state === 'same'
              ? 'is so already'
              : state === 'lost'
                ? 'its old content is gone'
                : 'changed since'}
        </span>
      </div>
      {state === 'conflict' && (
        <div className="flex items-center justify-between gap-8">
          <Checkbox
            label={redo ? 'Use the version of the turn all the same' : 'Use the old version all the same'}
            checked={forced}
            onChange={onForce}
            className="text-12 text-muted"
          />
          <Button size="small" variant="ghost" aria-expanded={compared} onClick={() => setCompared(!compared)}>
            Compare
          </Button>
        </div>
      )}
      {compared && <ReturnCompare asked={asked} path={path} />}
    </li>
  )
}

function withOrWithout(set: ReadonlySet<string>, one: string, on: boolean): ReadonlySet<string> {
  const next = new Set(set)
  if (on) next.add(one)
  else next.delete(one)
  return next
}
