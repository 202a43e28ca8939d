/** What a right click in a terminal offers. */
import {
  ClipboardCopy,
  ClipboardPaste,
  Eraser,
  MessageSquareQuote,
  Search,
  SquareTerminal,
  TextSelect,
} from 'lucide-react'
import { commandKeys } from '../app/commands.ts'
import { MenuItem, MenuSeparator } from '../ui/menu.tsx'

type TerminalMenuProps = {
  /** Its shell marks commands, and some were run. */
  marked: boolean
  copy: () => void
  paste: () => void
  selectAll: () => void
  copyOutput: () => void
  send: () => void
  sendOutput: () => void
  find: () => void
  clear: () => void
}

export function TerminalMenu({
  marked,
  copy,
  paste,
  selectAll,
  copyOutput,
  send,
  sendOutput,
  find,
  clear,
}: TerminalMenuProps) {
  return (
    <>
      <MenuItem icon={ClipboardCopy} keys={commandKeys('terminal.copy')} onSelect={copy}>
        Copy
      </MenuItem>
      <MenuItem acts icon={ClipboardPaste} keys={commandKeys('terminal.paste')} onSelect={paste}>
        Paste
      </MenuItem>
      <MenuItem icon={TextSelect} keys={commandKeys('terminal.selectAll')} onSelect={selectAll}>
        Select all
      </MenuItem>
      {marked && (
        <MenuItem icon={SquareTerminal} keys={commandKeys('terminal.copyOutput')} onSelect={copyOutput}>
          Copy last output
        </MenuItem>
      )}
      <MenuSeparator />
      <MenuItem acts icon={MessageSquareQuote} keys={commandKeys('terminal.send')} onSelect={send}>
        Send selection to agent
      </MenuItem>
      {marked && (
        <MenuItem acts icon={MessageSquareQuote} keys={commandKeys('terminal.sendOutput')} onSelect={sendOutput}>
          Send last command to agent
        </MenuItem>
      )}
      <MenuSeparator />
      <MenuItem icon={Search} keys={commandKeys('terminal.find')} onSelect={find}>
        Find
      </MenuItem>
      <MenuItem acts icon={Eraser} keys={commandKeys('terminal.clear')} onSelect={clear}>
        Clear
      </MenuItem>
    </>
  )
}
