/** Who does the session's turns. It shows once there is an agent to choose: without one it costs no room. */
import { Bot, ChevronDown } from 'lucide-react'
import { builtInAgent, type AgentEntry } from '../../preload/contract/agents.ts'
import { approvalModes } from '../app/approval-modes.ts'
import { attempt } from '../app/attempt.ts'
import { loadAgents, useAgents } from '../state/agent-store.ts'
import { useSessionController, useView } from '../state/session-store.ts'
import { showDialog } from '../state/window-store.ts'
import { shownText } from '../transcript/shown-text.ts'
import { Button } from '../ui/button.tsx'
import { classNames } from '../ui/class-names.ts'
import { DropdownMenu, MenuItem, MenuLabel, MenuRadio, MenuSeparator } from '../ui/menu.tsx'
import { type PickerProps, pickerIcon, pickerSlot } from './pickers.tsx'

export function AgentPicker({ sessionId, open, onOpenChange }: PickerProps) {
  const controller = useSessionController(sessionId)
  const folder = useView(sessionId, ({ header }) => header.workspace, '')
  const chosen = useView(sessionId, ({ header }) => header.agent ?? null, null)
  const agents = useAgents(folder)
  if (agents.length === 0 && chosen === null) return null
  const lost = chosen !== null && !agents.some(({ name, problem }) => name === chosen && problem === null)
  return (
    <DropdownMenu
      side="top"
      open={open}
      onOpenChange={(next) => {
        if (next) void loadAgents(folder)
        onOpenChange(next)
      }}
      trigger={
        <Button
          variant="ghost"
          className={classNames(pickerSlot, lost && 'text-needs')}
          aria-label={`Agent: ${chosen ?? builtInAgent}${lost ? ', cannot be used' : ''}`}
        >
          <Bot {...pickerIcon} />
          <span className="max-w-160 truncate">{chosen ?? builtInAgent}</span>
          <ChevronDown {...pickerIcon} size={12} className="text-faint" />
        </Button>
      }
    >
      <MenuLabel>Who does the turns</MenuLabel>
      <MenuRadio
        value={chosen ?? builtInAgent}
        onChange={(name) =>
          void attempt('Could not choose the agent', () =>
            controller.configure({ agent: name === builtInAgent ? null : name }),
          )
        }
        choices={[
          { value: builtInAgent, label: builtInAgent, detail: 'Lathe’s own, with all tools' },
          ...agents.map((agent) => ({
            value: agent.name,
            label: agent.name,
            detail: agent.problem === null ? agentDetail(agent) : shownText(agent.problem),
            disabled: agent.problem !== null,
          })),
        ]}
      />
      <MenuSeparator />
      <MenuItem onSelect={() => showDialog({ kind: 'settings', page: 'agents' })}>Agents…</MenuItem>
    </DropdownMenu>
  )
}

/** What it is for, and what it narrows. */
function agentDetail({ description, origin, model, mode, tools }: AgentEntry): string {
  const facts = [
    origin === 'workspace' && 'of this folder',
    model,
    mode && `at most “${approvalModes[mode].label}”`,
    tools && `${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}`,
  ].filter(Boolean)
  return shownText([description, facts.join(', ')].filter((part) => part !== '').join(' · '))
}
