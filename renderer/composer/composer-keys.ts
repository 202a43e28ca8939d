/** What a key press in the message does (S-101, S-102): one pure choice from the press and the situation. */

export type Press = { key: string; ctrl: boolean; alt: boolean; shift: boolean; repeat: boolean; composing: boolean }

export type Situation = {
  /** What runs: nothing, a person's turn, or a background one that yields to a message (T-31). */
  turn: 'none' | 'foreground' | 'background'
  whileRunning: 'steer' | 'queue'
  tabQueues: boolean
  enterSends: boolean
  menuOpen: boolean
  /** A steer or follow-up is being edited. */
  editing: boolean
  commandMode: boolean
  text: string
  onFirstLine: boolean
  onLastLine: boolean
  /** A prompt from before is shown. */
  recalling: boolean
}

export type Act =
  | 'send'
  | 'steer'
  | 'queue'
  | 'save edit'
  | 'run command'
  | 'newline'
  | 'menu take'
  | 'menu up'
  | 'menu down'
  | 'menu close'
  | 'leave edit'
  | 'leave command'
  | 'stop'
  | 'older prompt'
  | 'newer prompt'
  | 'take back'

/** Null: the key is the text's own. */
export function composerKey({ key, ctrl, alt, shift, repeat, composing }: Press, now: Situation): Act | null {
  if (composing) return null
  const once = (act: Act | null) => (repeat ? null : act)
  if (now.menuOpen && !ctrl && !alt && !shift) {
    if (key === 'Enter' || key === 'Tab') return 'menu take'
    if (key === 'ArrowUp') return 'menu up'
    if (key === 'ArrowDown') return 'menu down'
    if (key === 'Escape') return once('menu close')
  }
  switch (key) {
    case 'Enter':
      // A new line the browser would not make by itself.
      if (alt) return 'newline'
      if (shift) return null
      if (!now.enterSends && !ctrl) return null
      return once(enterAct(now, now.enterSends && ctrl))
    case 'j':
    case 'J':
      return ctrl && !alt && !shift ? 'newline' : null
    case 'Tab':
      if (shift || ctrl || alt) return null
      return now.turn !== 'none' && now.tabQueues && !now.editing && !now.commandMode && now.text.trim() !== ''
        ? once('queue')
        : null
    case 'Escape':
      if (ctrl || alt || shift) return null
      if (now.editing) return once('leave edit')
      if (now.commandMode) return once('leave command')
      return now.turn === 'none' ? null : once('stop')
    case 'ArrowUp':
      if (alt && !ctrl && !shift) return once('take back')
      return !ctrl && !alt && !shift && !now.editing && now.onFirstLine ? 'older prompt' : null
    case 'ArrowDown':
      return !ctrl && !alt && !shift && !now.editing && now.recalling && now.onLastLine ? 'newer prompt' : null
    default:
      return null
  }
}

/** Enter, or with `other` the second of the two things that can be done while a turn runs (T-132). */
function enterAct({ turn, whileRunning, editing, commandMode }: Situation, other: boolean): Act {
  if (editing) return 'save edit'
  if (commandMode) return 'run command'
  if (turn === 'none') return 'send'
  if (turn === 'background') return other ? 'steer' : 'send'
  return (whileRunning === 'steer') === other ? 'queue' : 'steer'
}

/** Whether a caret stands on the first or last line of a text. */
export function caretLines(text: string, caret: number): { onFirstLine: boolean; onLastLine: boolean } {
  return { onFirstLine: !text.slice(0, caret).includes('\n'), onLastLine: !text.slice(caret).includes('\n') }
}
