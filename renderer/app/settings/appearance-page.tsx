import { useId } from 'react'
import { useSetting } from '../../state/workbench-store.ts'
import { classNames } from '../../ui/class-names.ts'
import type { Theme } from '../theme.ts'
import { NumberRow, Section, SwitchRow, useChange } from './setting-row.tsx'

export function AppearancePage() {
  return (
    <>
      <Section title="Theme">
        <Themes />
      </Section>
      <Section title="Size">
        <NumberRow name="app.zoom" label="Zoom" least={50} most={300} step={10} unit="%" />
      </Section>
      <Section title="Transcript">
        <NumberRow
          name="transcript.foldOver"
          label="Fold tool calls over"
          detail="More in a row become one line."
          least={1}
          most={100}
          unit="calls"
        />
        <SwitchRow name="transcript.foldReasoning" label="Fold reasoning" />
      </Section>
    </>
  )
}

const choices: { value: Theme; label: string; look: string }[] = [
  { value: 'system', label: 'System', look: '' },
  { value: 'light', label: 'Light', look: 'light' },
  { value: 'dark', label: 'Dark', look: 'dark' },
  { value: 'contrast', label: 'High contrast', look: 'contrast' },
]

function Themes() {
  const theme = useSetting('app.theme')
  const { error, change } = useChange()
  const name = useId()
  return (
    <fieldset className="py-8">
      <legend className="sr-only">Theme</legend>
      <div className="grid grid-cols-2 gap-12 narrow:grid-cols-4">
        {choices.map(({ value, label, look }) => (
          <label key={value} className="group flex flex-col gap-6">
            <input
              type="radio"
              name={name}
              value={value}
              checked={theme === value}
              onChange={() => change({ 'app.theme': value })}
              className="peer sr-only"
            />
            <span
              className={classNames(
                'block overflow-hidden rounded-8 border p-3 peer-focus-visible:outline-2 peer-focus-visible:outline-offset-2 peer-focus-visible:outline-focus',
                theme === value ? 'border-accent' : 'border-line-strong group-hover:border-line-control',
              )}
            >
              {look === '' ? (
                <span className="flex h-52">
                  <Sample look="light" className="w-1/2 rounded-l-4" />
                  <Sample look="dark" className="w-1/2 rounded-r-4" />
                </span>
              ) : (
                <Sample look={look} className="h-52 rounded-4" />
              )}
            </span>
            <span className={classNames('text-12', theme === value ? 'font-medium text-ink' : 'text-muted')}>
              {label}
            </span>
          </label>
        ))}
      </div>
      {error && (
        <p role="alert" className="mt-4 text-12 text-failed">
          {error}
        </p>
      )}
    </fieldset>
  )
}

/** The window in small, drawn in that theme's own tokens. */
function Sample({ look, className }: { look: string; className: string }) {
  return (
    <span data-theme={look} aria-hidden className={classNames('flex overflow-hidden bg-canvas', className)}>
      <span className="flex w-1/3 flex-col gap-3 border-r border-line bg-side p-4">
        <span className="h-3 w-3/4 rounded-4 bg-faint opacity-50" />
        <span className="h-3 w-full rounded-4 bg-selected" />
        <span className="h-3 w-1/2 rounded-4 bg-faint opacity-50" />
      </span>
      <span className="flex grow flex-col gap-3 p-4">
        <span className="h-3 w-4/5 rounded-4 bg-ink opacity-70" />
        <span className="h-3 w-3/5 rounded-4 bg-muted opacity-50" />
        <span className="mt-auto h-6 w-full rounded-4 border border-line-control" />
      </span>
    </span>
  )
}
