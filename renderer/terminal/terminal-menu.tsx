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
import { ContextMenuItem, ContextMenuSeparator } from '../ui/context-menu.tsx'

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
      <ContextMenuItem icon={ClipboardCopy} keys={commandKeys('terminal.copy')} onSelect={copy}>
        Copy
      </ContextMenuItem>
      <ContextMenuItem icon={ClipboardPaste} keys={commandKeys('terminal.paste')} onSelect={paste}>
        Paste
      </ContextMenuItem>
      <ContextMenuItem icon={TextSelect} keys={commandKeys('terminal.selectAll')} onSelect={selectAll}>
        Select all
      </ContextMenuItem>
      {marked && (
        <ContextMenuItem icon={SquareTerminal} keys={commandKeys('terminal.copyOutput')} onSelect={copyOutput}>
          Copy last output
        </ContextMenuItem>
      )}
      <ContextMenuSeparator />
      <ContextMenuItem icon={MessageSquareQuote} keys={commandKeys('terminal.send')} onSelect={send}>
        Send selection to agent
      </ContextMenuItem>
      {marked && (
        <ContextMenuItem icon={MessageSquareQuote} keys={commandKeys('terminal.sendOutput')} onSelect={sendOutput}>
          Send last command to agent
        </ContextMenuItem>
      )}
      <ContextMenuSeparator />
      <ContextMenuItem icon={Search} keys={commandKeys('terminal.find')} onSelect={find}>
        Find
      </ContextMenuItem>
      <ContextMenuItem icon={Eraser} keys={commandKeys('terminal.clear')} onSelect={clear}>
        Clear
      </ContextMenuItem>
    </>
  )
}
