/** Rows of the settings pages: a name, what it does, its control; a refused value is told in place (S-123). */
import { type ReactNode, useId, useState } from 'react'
import type { Settings } from '../../../preload/contract/settings.ts'
import { failure } from '../../state/link.ts'
import { changeSettings, useSetting } from '../../state/workbench-store.ts'
import { classNames } from '../../ui/class-names.ts'
import { Select } from '../../ui/select.tsx'
import { Switch } from '../../ui/switch.tsx'

type KeyOf<Value> = { [Key in keyof Settings]: Settings[Key] extends Value ? Key : never }[keyof Settings]

export function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="flex flex-col">
      <h3 className="mb-4 text-12 font-semibold">{title}</h3>
      <div className="flex flex-col divide-y divide-line">{children}</div>
    </section>
  )
}

export function Row({
  label,
  detail,
  error,
  children,
}: {
  label: ReactNode
  detail?: ReactNode
  error?: string | undefined
  children: ReactNode
}) {
  return (
    <div className="flex min-h-44 items-center justify-between gap-16 py-8">
      <div className="min-w-0">
        <p className="text-13">{label}</p>
        {detail && <p className="text-12 text-muted">{detail}</p>}
        {error && (
          <p role="alert" className="text-12 text-failed">
            {error}
          </p>
        )}
      </div>
      <div className="shrink-0">{children}</div>
    </div>
  )
}

/** Changes a setting at once; a refusal stays beside it until the next try. */
export function useChange(): { error: string | undefined; change: (settings: Partial<Settings>) => void } {
  const [error, setError] = useState<string>()
  return {
    error,
    change: (settings) => {
      setError(undefined)
      changeSettings(settings).catch((thrown: unknown) => setError(failure(thrown).message))
    },
  }
}

export function SwitchRow({ name, label, detail }: { name: KeyOf<boolean>; label: string; detail?: string }) {
  const checked = useSetting(name)
  const { error, change } = useChange()
  return (
    <Row label={label} detail={detail} error={error}>
      <Switch label={label} checked={checked} onChange={(next) => change({ [name]: next })} />
    </Row>
  )
}

export function SelectRow<Key extends KeyOf<string>>({
  name,
  label,
  detail,
  choices,
}: {
  name: Key
  label: string
  detail?: string
  choices: { value: Settings[Key] & string; label: string }[]
}) {
  const value: string = useSetting<Key>(name)
  const { error, change } = useChange()
  return (
    <Row label={label} detail={detail} error={error}>
      <Select label={label} value={value} onChange={(next) => change({ [name]: next })} choices={choices} />
    </Row>
  )
}

type NumberRowProps = {
  name: KeyOf<number>
  label: string
  detail?: string
  least: number
  most: number
  step?: number
  unit?: string
}

/** A number: kept when the field is left or Enter is pressed. Out of range it says the range and keeps the old value. */
export function NumberRow({ name, label, detail, least, most, step = 1, unit }: NumberRowProps) {
  const value = useSetting(name)
  const id = useId()
  const [typed, setTyped] = useState<{ over: number; text: string } | null>(null)
  // What was typed counts until the value is another.
  const text = typed?.over === value ? typed.text : String(value)
  const setText = (next: string) => setTyped({ over: value, text: next })
  const [wrong, setWrong] = useState<string>()
  const { error, change } = useChange()
  const keep = () => {
    const next = Number(text)
    if (!Number.isFinite(next) || text.trim() === '' || next < least || next > most)
      return setWrong(`Between ${least.toLocaleString('en')} and ${most.toLocaleString('en')}.`)
    setWrong(undefined)
    if (next !== value) change({ [name]: next })
  }
  return (
    <Row label={<label htmlFor={id}>{label}</label>} detail={detail} error={wrong ?? error}>
      <span
        className={classNames(
          'flex h-28 w-140 items-center gap-6 rounded-6 border bg-field px-8 focus-within:outline-2 focus-within:-outline-offset-1 focus-within:outline-focus',
          (wrong ?? error) ? 'border-failed' : 'border-line-control',
        )}
      >
        <input
          id={id}
          type="number"
          min={least}
          max={most}
          step={step}
          value={text}
          aria-invalid={wrong !== undefined || error !== undefined}
          onChange={(event) => setText(event.target.value)}
          onBlur={keep}
          onKeyDown={(event) => {
            if (event.key === 'Enter') keep()
            if (event.key === 'Escape' && text !== String(value)) {
              event.stopPropagation()
              setText(String(value))
              setWrong(undefined)
            }
          }}
          className="figures h-full min-w-0 grow [appearance:textfield] bg-transparent text-13 outline-none [&::-webkit-inner-spin-button]:appearance-none"
        />
        {unit && <span className="shrink-0 text-12 text-muted">{unit}</span>}
      </span>
    </Row>
  )
}
