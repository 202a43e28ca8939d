import { attempt } from '../app/attempt.ts'
import { type Command, inSession } from '../app/command.ts'
import { commandTarget } from '../app/command-targets.ts'
import { currentWorkspace } from '../sessions/session-actions.ts'
import { changeSettings, useWorkbench } from '../state/workbench-store.ts'
import { openTerminal } from './terminal-actions.ts'

const inTerminal = () => commandTarget('terminal') !== undefined || 'No terminal is shown.'
const marked = () =>
  commandTarget('terminal')?.marked() ? (true as const) : 'This terminal’s shell does not mark its commands.'

function typeBy(step: number): void {
  const { settings } = useWorkbench.getState()
  const size = Math.min(40, Math.max(6, settings['terminal.fontSize'] + step))
  void attempt('Could not change the size', () => changeSettings({ 'terminal.fontSize': size }))
}

export const terminalCommands: readonly Command[] = [
  {
    id: 'terminal.new',
    title: 'New terminal',
    category: 'Terminal',
    keys: 'Ctrl+Shift+`',
    when: () => currentWorkspace() !== null || 'No folder is open.',
    run: () => openTerminal(),
  },
  {
    id: 'terminal.find',
    title: 'Find in terminal',
    category: 'Terminal',
    keys: 'Mod+Shift+F',
    inTerminal: true,
    when: inTerminal,
    run: () => commandTarget('terminal')?.find(),
  },
  {
    id: 'terminal.copy',
    title: 'Copy from terminal',
    category: 'Terminal',
    keys: 'Mod+Shift+C',
    inTerminal: true,
    when: inTerminal,
    run: () => commandTarget('terminal')?.copy(),
  },
  {
    id: 'terminal.paste',
    title: 'Paste into terminal',
    category: 'Terminal',
    keys: 'Mod+Shift+V',
    inTerminal: true,
    nativeKeys: true,
    when: inTerminal,
    run: () => commandTarget('terminal')?.paste(),
  },
  {
    id: 'terminal.selectAll',
    title: 'Select all in terminal',
    category: 'Terminal',
    keys: 'Mod+Shift+A',
    inTerminal: true,
    when: inTerminal,
    run: () => commandTarget('terminal')?.selectAll(),
  },
  {
    id: 'terminal.previousCommand',
    title: 'Previous command in terminal',
    category: 'Terminal',
    keys: 'Mod+ArrowUp',
    inTerminal: true,
    when: marked,
    run: () => commandTarget('terminal')?.jump(-1),
  },
  {
    id: 'terminal.nextCommand',
    title: 'Next command in terminal',
    category: 'Terminal',
    keys: 'Mod+ArrowDown',
    inTerminal: true,
    when: marked,
    run: () => commandTarget('terminal')?.jump(1),
  },
  {
    id: 'terminal.copyOutput',
    title: 'Copy output of the last command',
    category: 'Terminal',
    when: marked,
    run: () => commandTarget('terminal')?.copyOutput(),
  },
  {
    id: 'terminal.send',
    title: 'Send terminal selection to the agent',
    category: 'Terminal',
    when: () => (inSession() === true ? inTerminal() : inSession()),
    run: () => commandTarget('terminal')?.send(),
  },
  {
    id: 'terminal.sendOutput',
    title: 'Send last command to the agent',
    category: 'Terminal',
    when: () => (inSession() === true ? marked() : inSession()),
    run: () => commandTarget('terminal')?.sendOutput(),
  },
  {
    id: 'terminal.larger',
    title: 'Larger terminal text',
    category: 'Terminal',
    keys: 'Mod+Alt+=',
    run: () => typeBy(1),
  },
  {
    id: 'terminal.smaller',
    title: 'Smaller terminal text',
    category: 'Terminal',
    keys: 'Mod+Alt+-',
    run: () => typeBy(-1),
  },
  {
    id: 'terminal.clear',
    title: 'Clear terminal',
    category: 'Terminal',
    when: inTerminal,
    run: () => commandTarget('terminal')?.clear(),
  },
  {
    id: 'terminal.rename',
    title: 'Rename terminal',
    category: 'Terminal',
    when: inTerminal,
    run: () => commandTarget('terminal')?.rename(),
  },
  {
    id: 'terminal.close',
    title: 'Close terminal',
    category: 'Terminal',
    when: inTerminal,
    run: () => commandTarget('terminal')?.close(),
  },
]
