/** The row at the window's bottom: where the work happens, how it is approved, who answers. */
import { CircleCheck, GitBranch, LoaderCircle, ShieldCheck, Unplug } from 'lucide-react'
import type { ReactNode } from 'react'
import type { ApprovalMode } from '../../preload/contract/session.ts'
import { modelLabel } from '../models/model-label.ts'
import { useModeInForce } from '../state/mode-in-force.ts'
import { useFolder, useSessionController, useView } from '../state/session-store.ts'
import { shownText } from '../transcript/shown-text.ts'
import { showDialog } from '../state/window-store.ts'
import { callingCount, useEntries, useSetting, useWorkbench } from '../state/workbench-store.ts'
import { useMayAct } from '../ui/acting.ts'
import { classNames } from '../ui/class-names.ts'
import { DropdownMenu, MenuRadio } from '../ui/menu.tsx'
import { attempt } from './attempt.ts'
import { approvalModes } from './approval-modes.ts'

const icon = { size: 12, strokeWidth: 1.75, 'aria-hidden': true } as const
const slot =
  'ring-inside flex h-full min-w-0 items-center gap-4 rounded-4 px-6 whitespace-nowrap hover:bg-hover hover:text-ink'

export function StatusBar({ sessionId }: { sessionId: string | null }) {
  return (
    <footer
      aria-label="Status bar"
      className="flex h-24 shrink-0 items-center gap-2 border-t border-line bg-side px-6 text-11 text-muted select-none"
    >
      <Connection />
      {sessionId !== null && <Branch sessionId={sessionId} />}
      <span className="grow" />
      {sessionId === null ? <DefaultModel /> : <SessionStatus sessionId={sessionId} />}
    </footer>
  )
}

function Connection() {
  const link = useWorkbench((state) => state.link)
  const calling = callingCount(useEntries())
  const [Icon, words] =
    link === 'connected'
      ? ([CircleCheck, 'Connected'] as const)
      : link === 'lost'
        ? ([Unplug, 'Reconnecting'] as const)
        : link === 'refused'
          ? ([Unplug, 'Not connected'] as const)
          : ([LoaderCircle, 'Connecting'] as const)
  return (
    <span className="flex h-full items-center gap-12 px-6">
      <span role="status" className={classNames('flex items-center gap-4', link !== 'connected' && 'text-needs')}>
        <Icon {...icon} />
        {words}
      </span>
      {calling > 0 && (
        <span className="max-narrow:hidden">
          {calling === 1 ? '1 session needs a look' : `${calling} sessions need a look`}
        </span>
      )}
    </span>
  )
}

function Branch({ sessionId }: { sessionId: string }) {
  const path = useFolder(sessionId)
  const branch = useWorkbench(({ workspaces }) => workspaces.get(path)?.branch ?? null)
  if (branch === null) return null
  return (
    <span className="flex h-full min-w-0 items-center gap-4 px-6" title={`Branch ${branch}`}>
      <GitBranch {...icon} className="shrink-0" />
      <bdi className="truncate">{shownText(branch)}</bdi>
    </span>
  )
}

function DefaultModel() {
  const model = useSetting('model')
  return <ModelSlot model={model} />
}

function SessionStatus({ sessionId }: { sessionId: string }) {
  const chosenMode = useView<ApprovalMode>(sessionId, ({ header }) => header.approvalMode, 'ask')
  const mode = useModeInForce(sessionId)
  const chosen = useView(sessionId, ({ header }) => header.model, null)
  const fallback = useSetting('model')
  // Without a choice the configuration's own default answers, as it did last.
  const last = useView(sessionId, ({ turns }) => turns.at(-1)?.model ?? null, null)
  const controller = useSessionController(sessionId)
  const mayAct = useMayAct()
  if (!mayAct)
    return (
      <span className="flex h-full min-w-0 items-center gap-12 px-6">
        <span>{approvalModes[mode].label}</span>
        <ModelName model={chosen ?? fallback ?? last} />
      </span>
    )
  return (
    <>
      <DropdownMenu
        align="end"
        side="top"
        trigger={
          <button type="button" className={classNames(slot, mode === 'all' && 'text-needs')} title="Approval mode">
            <ShieldCheck {...icon} />
            {approvalModes[mode].label}
          </button>
        }
      >
        <MenuRadio<ApprovalMode>
          value={chosenMode}
          onChange={(next) =>
            void attempt('Could not change the approval mode', () => controller.configure({ approvalMode: next }))
          }
          choices={(Object.keys(approvalModes) as ApprovalMode[]).map((value) => ({ value, ...approvalModes[value] }))}
        />
      </DropdownMenu>
      <ModelSlot model={chosen ?? fallback ?? last} />
    </>
  )
}

function ModelSlot({ model }: { model: string | null }): ReactNode {
  if (!useMayAct()) return <ModelName model={model} />
  return (
    <button
      type="button"
      className={slot}
      onClick={() => showDialog({ kind: 'models' })}
      title={model ?? 'Choose a model'}
    >
      <ModelName model={model} />
    </button>
  )
}

function ModelName({ model }: { model: string | null }): ReactNode {
  const providers = useWorkbench((state) => state.providers)
  return <span className="max-w-200 truncate">{model ? modelLabel(providers, model) : 'No model'}</span>
}
