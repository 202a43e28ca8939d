/** What stands below the text: model, effort, approval mode, workspace, context. Each a named control (S-105). */
import { Check, ChevronDown, Gauge, Search, ShieldCheck, Sparkles } from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import type { ProviderEntry } from '../../preload/contract/model-routes.ts'
import type { ApprovalMode } from '../../preload/contract/session.ts'
import { approvalModes } from '../app/approval-modes.ts'
import { attempt } from '../app/attempt.ts'
import { fuzzyMatch } from '../app/fuzzy.ts'
import { modelLabel, modelName, findModel } from '../models/model-label.ts'
import { useChosenAgent } from '../state/agent-store.ts'
import { useModeInForce } from '../state/mode-in-force.ts'
import { useSessionController, useView } from '../state/session-store.ts'
import { prefer, usePreference } from '../state/preferences.ts'
import { showDialog } from '../state/window-store.ts'
import { loadProviders, useTrusted, useWorkbench } from '../state/workbench-store.ts'
import { counted, tokensText } from '../transcript/amounts.ts'
import { Button } from '../ui/button.tsx'
import { classNames } from '../ui/class-names.ts'
import { DropdownMenu, MenuLabel, MenuRadio } from '../ui/menu.tsx'
import { Popover } from '../ui/popover.tsx'

/** Names give way to what can be done with the message, the workspace's first: the title bar says it too. */
export const pickerSlot = 'h-24! min-w-0 shrink! px-6! font-normal! text-12 text-muted [&_svg]:shrink-0'
export const pickerIcon = { size: 13, strokeWidth: 1.75, 'aria-hidden': true } as const

export type PickerProps = { sessionId: string; open: boolean; onOpenChange: (open: boolean) => void }

export function ModelPicker({ sessionId, open, onOpenChange }: PickerProps) {
  const providers = useWorkbench((state) => state.providers)
  const chosen = useView(sessionId, ({ header }) => header.model, null)
  const fallback = useWorkbench(({ settings }) => settings.model)
  const agent = useChosenAgent(sessionId)
  const model = chosen ?? agent?.model ?? fallback
  const label = model !== null ? modelLabel(providers, model) : 'No model'
  return (
    <Popover
      label="Choose a model"
      side="top"
      open={open}
      onOpenChange={onOpenChange}
      className="w-360! p-0!"
      trigger={
        <Button
          variant="ghost"
          className={classNames(pickerSlot, label === 'No model' && 'text-needs')}
          aria-label={`Model: ${label}`}
        >
          <Sparkles {...pickerIcon} />
          <span className="max-w-200 truncate">{label}</span>
          <ChevronDown {...pickerIcon} size={12} className="text-faint" />
        </Button>
      }
    >
      <ModelList sessionId={sessionId} providers={providers} model={model} onDone={() => onOpenChange(false)} />
    </Popover>
  )
}

type Choice = { name: string; label: string; group: string; detail: string; off: string | null }

function choicesOf(providers: readonly ProviderEntry[]): Choice[] {
  return providers.flatMap((provider) =>
    provider.models.map((model) => ({
      name: modelName(provider.id, model.name),
      label: model.label,
      group: provider.label,
      detail: [
        `${tokensText(model.contextLength)} context`,
        model.vision && 'images',
        model.tools === false && 'no tools',
      ]
        .filter(Boolean)
        .join(', '),
      off: provider.state === 'ready' ? null : (provider.reason ?? 'not available'),
    })),
  )
}

function ModelList({
  sessionId,
  providers,
  model,
  onDone,
}: {
  sessionId: string
  providers: readonly ProviderEntry[]
  model: string | null
  onDone: () => void
}) {
  const controller = useSessionController(sessionId)
  const recent = usePreference('models.recent')
  const [query, setQuery] = useState('')
  const [at, setAt] = useState(0)
  const choices = useMemo(() => choicesOf(providers), [providers])
  const found = useMemo(() => {
    if (query.trim() !== '') {
      return choices
        .map((choice) => ({ choice, match: fuzzyMatch(`${choice.label} ${choice.name}`, query) }))
        .filter(({ match }) => match !== null)
        .sort((a, b) => b.match!.score - a.match!.score)
        .map(({ choice }) => ({ ...choice, group: choice.group }))
    }
    const used = recent.flatMap((name) => choices.find((choice) => choice.name === name) ?? []).slice(0, 4)
    return [
      ...used.map((choice) => ({ ...choice, group: 'Recent' })),
      ...choices.filter((choice) => !used.includes(choice)),
    ]
  }, [choices, query, recent])

  async function choose(choice: Choice | undefined): Promise<void> {
    if (!choice) return
    onDone()
    prefer({ 'models.recent': [choice.name, ...recent.filter((name) => name !== choice.name)].slice(0, 10) })
    await attempt('Could not choose the model', () => controller.configure({ model: choice.name }))
  }

  return (
    <div className="flex max-h-360 flex-col">
      <div className="flex h-36 shrink-0 items-center gap-8 border-b border-line px-12">
        <Search {...pickerIcon} className="text-faint" />
        <input
          role="combobox"
          aria-label="Search models"
          aria-expanded
          aria-controls="model-choices"
          aria-activedescendant={found[at] ? `model-choice-${at}` : undefined}
          placeholder="Search models"
          autoFocus
          value={query}
          onChange={(event) => (setQuery(event.target.value), setAt(0))}
          onKeyDown={(event) => {
            if (event.nativeEvent.isComposing) return
            if (event.key === 'ArrowDown') setAt(Math.min(found.length - 1, at + 1))
            else if (event.key === 'ArrowUp') setAt(Math.max(0, at - 1))
            else if (event.key === 'Enter') void choose(found[at])
            else return
            event.preventDefault()
          }}
          className="h-full grow bg-transparent text-13 outline-none"
        />
      </div>
      <div id="model-choices" role="listbox" aria-label="Models" className="min-h-0 grow overflow-auto p-4">
        {found.map((choice, index) => (
          <div key={`${choice.group} ${choice.name}`}>
            {(index === 0 || found[index - 1]!.group !== choice.group) && (
              <div role="presentation" className="px-8 pt-6 pb-2 text-11 font-medium text-faint">
                {choice.group}
              </div>
            )}
            <div
              id={`model-choice-${index}`}
              role="option"
              aria-selected={choice.name === model}
              ref={(element) => {
                if (index === at) element?.scrollIntoView({ block: 'nearest' })
              }}
              onPointerMove={() => setAt(index)}
              onClick={() => void choose(choice)}
              className={classNames(
                'flex min-h-28 items-center gap-8 rounded-6 px-8 py-3 text-13',
                index === at && 'bg-selected',
              )}
            >
              <span className="grid w-14 shrink-0 place-items-center">
                {choice.name === model && <Check size={14} strokeWidth={2} aria-hidden />}
              </span>
              <span className="min-w-0 grow truncate">{choice.label}</span>
              <span className={classNames('shrink-0 text-11', choice.off ? 'text-needs' : 'text-faint')}>
                {choice.off ?? choice.detail}
              </span>
            </div>
          </div>
        ))}
        {found.length === 0 && (
          <p className="px-8 py-12 text-12 text-muted">
            {choices.length === 0 ? 'No provider is set up yet.' : 'No model matches.'}
          </p>
        )}
      </div>
      <div className="flex shrink-0 justify-between border-t border-line p-4">
        <Button size="small" variant="ghost" onClick={() => void loadProviders(true)}>
          Refresh
        </Button>
        <Button
          size="small"
          variant="ghost"
          onClick={() => (onDone(), showDialog({ kind: 'settings', page: 'models' }))}
        >
          Providers…
        </Button>
      </div>
    </div>
  )
}

/** Shown where the model offers a choice. */
export function EffortPicker({ sessionId, open, onOpenChange }: PickerProps) {
  const controller = useSessionController(sessionId)
  const agent = useChosenAgent(sessionId)
  const effort = useView(sessionId, ({ header }) => header.effort, null) ?? agent?.effort ?? null
  const model = useView(sessionId, ({ header }) => header.model, null) ?? agent?.model ?? null
  const efforts = useWorkbench(
    ({ providers, settings }) => findModel(providers, model ?? settings.model ?? '')?.model.efforts ?? null,
  )
  if (!efforts || efforts.length === 0) return null
  const standard = 'standard'
  return (
    <DropdownMenu
      side="top"
      open={open}
      onOpenChange={onOpenChange}
      trigger={
        <Button variant="ghost" className={pickerSlot} aria-label={`Effort: ${effort ?? standard}`}>
          <Gauge {...pickerIcon} />
          {effort ?? standard}
          <ChevronDown {...pickerIcon} size={12} className="text-faint" />
        </Button>
      }
    >
      <MenuLabel>How much it thinks</MenuLabel>
      <MenuRadio
        value={effort ?? standard}
        onChange={(value) =>
          void attempt('Could not change the effort', () =>
            controller.configure({ effort: value === standard ? null : value }),
          )
        }
        choices={[standard, ...efforts.filter((one) => one !== standard)].map((value) => ({ value, label: value }))}
      />
    </DropdownMenu>
  )
}

export function ModePicker({ sessionId, open, onOpenChange }: PickerProps) {
  const controller = useSessionController(sessionId)
  const mode = useView<ApprovalMode>(sessionId, ({ header }) => header.approvalMode, 'ask')
  const agent = useChosenAgent(sessionId)
  const folder = useView(sessionId, ({ header }) => header.workspace, '')
  const untrusted = !useTrusted(folder) && folder !== ''
  const inForce = useModeInForce(sessionId)
  return (
    <DropdownMenu
      side="top"
      open={open}
      onOpenChange={onOpenChange}
      trigger={
        <Button
          variant="ghost"
          className={classNames(pickerSlot, inForce === 'all' && 'text-needs')}
          aria-label={`Approval mode: ${approvalModes[inForce].label}`}
        >
          <ShieldCheck {...pickerIcon} />
          <span className="truncate @max-[24rem]:hidden">{approvalModes[inForce].label}</span>
          <ChevronDown {...pickerIcon} size={12} className="text-faint" />
        </Button>
      }
    >
      {inForce !== mode && (
        <MenuLabel>
          {untrusted
            ? 'This folder is not trusted: it is only read'
            : `The agent ${agent?.name} works in “${approvalModes[inForce].label}” at most`}
        </MenuLabel>
      )}
      <MenuRadio
        value={mode}
        onChange={(approvalMode) =>
          void attempt('Could not change the approval mode', () => controller.configure({ approvalMode }))
        }
        choices={(Object.keys(approvalModes) as ApprovalMode[]).map((value) => ({ value, ...approvalModes[value] }))}
      />
    </DropdownMenu>
  )
}

/** `3 files` and the like, for chips. */
export function attachmentsText(count: number): ReactNode {
  return count === 0 ? null : <span className="shrink-0 text-11 text-faint">{counted(count, 'file')}</span>
}
