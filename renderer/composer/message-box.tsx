/** The message: never blocked, never lost, always saying what Enter will do (S-101 to S-105). */
import { CornerDownRight, Paperclip, Terminal } from 'lucide-react'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { useStore } from 'zustand'
import { commandTarget, provideTarget } from '../app/command-targets.ts'
import { isMac } from '../app/keys.ts'
import { useSessionHandle, useView } from '../state/session-store.ts'
import { showInspector } from '../state/window-store.ts'
import { useSetting } from '../state/workbench-store.ts'
import { MentionChips } from '../transcript/mention-chips.tsx'
import { Button } from '../ui/button.tsx'
import { classNames } from '../ui/class-names.ts'
import { IconButton } from '../ui/icon-button.tsx'
import { isLongPaste } from './attachments.ts'
import { useBlocked } from './blocked.tsx'
import { Chips, CommentChips } from './chips.tsx'
import { CompletionMenu } from './completion-menu.tsx'
import { useCompletions } from './completions.tsx'
import { type Act, caretLines, composerKey, type Press } from './composer-keys.ts'
import { composerOf, type Editing } from './composer-store.ts'
import { DropTarget } from './drop-target.tsx'
import { standing } from './mentions.ts'
import {
  recallPrompt,
  runCommandLine,
  saveEdit,
  sendAsText,
  sendMessage,
  type SendAs,
  stopTurn,
  takeBack,
  takeFiles,
} from './message-actions.ts'
import { PauseQueue } from './pending-list.tsx'
import { AgentPicker } from './agent-picker.tsx'
import { EffortPicker, ModePicker, ModelPicker } from './pickers.tsx'
import { ContextRing } from '../context/context-ring.tsx'
import { SendButtons } from './send-buttons.tsx'
import { SessionFolders } from './session-folders.tsx'
import { turnKind } from './turn-kind.ts'

type Picker = 'model' | 'effort' | 'agent' | 'mode'

export function MessageBox({ sessionId }: { sessionId: string }) {
  useSessionHandle(sessionId)
  const composer = composerOf(sessionId)
  const { text, chips, comments, mentions, editing, recall, remark, placed } = useStore(composer.store)
  const running = useView(sessionId, turnKind, 'none' as const)
  const whileRunning = useSetting('composer.whileRunning')
  const tabQueues = useSetting('composer.tabQueues')
  const enterSends = useSetting('composer.enterSends')
  const field = useRef<HTMLTextAreaElement>(null)
  const chooser = useRef<HTMLInputElement>(null)
  const pastingRaw = useRef(false)
  const [caret, setCaret] = useState(0)
  const [picker, setPicker] = useState<Picker | null>(null)
  const blocked = useBlocked(sessionId, () => setPicker('model'))
  const [stopping, setStopping] = useState(false)
  /** The chosen entry of the menu of one word; another word begins at its first. */
  const [menuAt, setMenuAt] = useState({ word: '', at: 0 })
  /** The word whose menu was closed by Esc. */
  const [menuClosed, setMenuClosed] = useState<string | null>(null)
  const menuId = useId()
  const remarkId = useId()

  const commandMode = editing === null && text.startsWith('!')
  const menu = useCompletions(
    sessionId,
    { commands: editing === null && !commandMode, mentions: !commandMode },
    { text, mentions },
    caret,
  )
  const menuOpen = menu !== null && menu.entries.length > 0 && menuClosed !== menu.word
  const chosen = Math.min(menuAt.word === menu?.word ? menuAt.at : 0, (menu?.entries.length ?? 1) - 1)

  useEffect(() => provideTarget('composer', { chooseAgent: () => setPicker('agent') }), [])
  useLayoutEffect(() => {
    if (placed === 0) return
    const element = field.current!
    element.setSelectionRange(element.value.length, element.value.length)
    setCaret(element.value.length)
  }, [placed])
  // Grows with its text where the browser does not do it by itself.
  useLayoutEffect(() => {
    const element = field.current
    if (!element || element.value !== text || CSS.supports('field-sizing', 'content')) return
    element.style.height = 'auto'
    element.style.height = `${element.scrollHeight}px`
  }, [text])

  const hands = { attach: () => chooser.current?.click(), openPicker: setPicker, stop }

  function send(as: SendAs): Promise<void> {
    return sendMessage(sessionId, as, { hands, blocked: blocked !== null })
  }

  /** `!` alone is an ordinary message. */
  function run(): void {
    const line = text.slice(1).trimStart()
    if (line === '') void send(running === 'foreground' ? whileRunning : 'refuse')
    else void runCommandLine(sessionId, line)
  }

  async function stop(): Promise<void> {
    setStopping(true)
    await stopTurn(sessionId)
    setStopping(false)
  }

  function takeCompletion(at: number): void {
    const entry = menu?.entries[at]
    if (!entry) return
    const { text: next, caret: to, mentions: now = mentions } = entry.apply()
    composer.place(next, { mentions: now })
    putCaret(to)
    // A command without arguments is complete once it is chosen.
    if (entry.complete) void send('refuse')
  }

  /** In the text that was put in, before the next key goes there. */
  function putCaret(to: number): void {
    flushSync(() => {})
    field.current?.setSelectionRange(to, to)
    setCaret(to)
  }

  function act(what: Act): void {
    switch (what) {
      case 'send':
        return commandMode ? run() : void send('refuse')
      case 'steer':
      case 'queue':
        return void send(what)
      case 'save edit':
        return void saveEdit(sessionId)
      case 'run command':
        return run()
      case 'newline':
        return insertText('\n')
      case 'menu take':
        return takeCompletion(chosen)
      case 'menu up':
      case 'menu down': {
        const count = menu!.entries.length
        return chooseEntry((chosen + (what === 'menu up' ? -1 : 1) + count) % count)
      }
      case 'menu close':
        return setMenuClosed(menu!.word)
      case 'leave edit':
        return composer.endEdit()
      case 'leave command':
        return composer.place(text.slice(1))
      case 'stop':
        return void stop()
      case 'older prompt':
        return void recallPrompt(sessionId, 1)
      case 'newer prompt':
        return void recallPrompt(sessionId, -1)
      case 'take back':
        return void takeBack(sessionId)
    }
  }

  function chooseEntry(at: number): void {
    setMenuAt({ word: menu?.word ?? '', at })
  }

  /** Types at the caret, so that the browser's undo knows of it. */
  function insertText(add: string): void {
    const element = field.current!
    element.setRangeText(add, element.selectionStart, element.selectionEnd, 'end')
    composer.type(element.value, element.selectionStart)
    setCaret(element.selectionStart)
  }

  /** What it comes to with the text as it is drawn now. */
  function meaningOf(press: Press): Act | null {
    return composerKey(press, {
      turn: running,
      whileRunning,
      tabQueues,
      enterSends,
      menuOpen,
      editing: editing !== null,
      commandMode,
      text,
      recalling: recall !== null,
      ...caretLines(text, field.current!.selectionStart),
    })
  }

  // What was asked for while an earlier prompt was on its way is judged and done once that stands there.
  const drawn = useRef<{ sessionId: string; act: typeof act; meaningOf: typeof meaningOf } | null>(null)
  useLayoutEffect(() => {
    drawn.current = { sessionId, act, meaningOf }
    return () => void (drawn.current = null)
  })

  function onceRecalled(asked: Act | Press): void {
    const { recalling } = composer.store.getState()
    const perform = () => {
      const now = drawn.current
      if (now?.sessionId !== sessionId) return
      const what = typeof asked === 'string' ? asked : now.meaningOf(asked)
      if (what !== null) now.act(what)
    }
    if (!recalling) return perform()
    void recalling.then((recalled) => {
      flushSync(() => {})
      if (recalled) perform()
    })
  }

  function onKeyDown(event: React.KeyboardEvent<HTMLTextAreaElement>): void {
    const { key, shiftKey, altKey, repeat, nativeEvent } = event
    const ctrl = isMac ? event.metaKey || (event.ctrlKey && key.toLowerCase() === 'j') : event.ctrlKey
    pastingRaw.current = ctrl && shiftKey && key.toLowerCase() === 'v'
    const press = {
      key,
      ctrl,
      alt: altKey,
      shift: shiftKey,
      repeat,
      composing: nativeEvent.isComposing || nativeEvent.keyCode === 229,
    }
    const what = meaningOf(press)
    const waits = composer.store.getState().recalling !== null && dependsOnText(press, what)
    if (what === null && !waits) {
      // A held key acts once, and then it does nothing rather than something else.
      if (repeat && key === 'Enter' && !shiftKey && !altKey && enterSends) event.preventDefault()
      return
    }
    event.preventDefault()
    event.stopPropagation()
    if (waits) onceRecalled(press)
    else if (what !== null) act(what)
  }

  function onPaste(event: React.ClipboardEvent): void {
    const files = [...event.clipboardData.files]
    const pasted = event.clipboardData.getData('text/plain')
    // Office programs put a picture of the text beside it: text wins.
    if (files.length > 0 && pasted === '') {
      event.preventDefault()
      composer.addFiles(files)
    } else if (!pastingRaw.current && !commandMode && isLongPaste(pasted)) {
      event.preventDefault()
      composer.addPaste(pasted)
    }
  }

  const nothing = text.trim() === '' && chips.length === 0 && (editing !== null || comments.length === 0)
  return (
    <>
      <DropTarget
        onFiles={(files, copies) => void takeFiles(sessionId, files, copies)}
        onText={(dropped) => composer.place(text === '' ? dropped : `${text}${/\s$/.test(text) ? '' : ' '}${dropped}`)}
      />
      <div
        className={classNames(
          'relative rounded-12 border bg-field shadow-low transition-colors focus-within:border-accent',
          commandMode ? 'border-note' : editing ? 'border-needs' : 'border-line-strong',
        )}
      >
        {menuOpen && (
          <CompletionMenu
            id={menuId}
            label={menu.label}
            entries={menu.entries}
            at={chosen}
            onAt={chooseEntry}
            onTake={takeCompletion}
          />
        )}
        {(editing || commandMode) && <KindOfMessage editing={editing} />}
        <Chips chips={chips} onRemove={composer.removeChip} onInline={composer.inlinePaste} />
        <MentionChips mentions={standing(text, mentions)} onRemove={composer.removeMention} className="px-12 pt-10" />
        {!editing && (
          <CommentChips
            comments={comments}
            onShow={(comment) => {
              showInspector('changes')
              // The tab is drawn first.
              requestAnimationFrame(() => requestAnimationFrame(() => commandTarget('changes')?.show(comment)))
            }}
            onRemove={composer.removeComment}
          />
        )}
        <textarea
          ref={field}
          data-region-focus
          aria-label="Message"
          aria-autocomplete="list"
          aria-controls={menuOpen ? menuId : undefined}
          aria-activedescendant={menuOpen ? `${menuId}-${chosen}` : undefined}
          aria-describedby={remark || blocked ? remarkId : undefined}
          placeholder={placeholderOf(running, whileRunning)}
          rows={1}
          spellCheck={!commandMode}
          value={text}
          onChange={(event) => {
            const moved = composer.type(event.target.value, event.target.selectionStart)
            setCaret(event.target.selectionStart)
            if (moved !== null) putCaret(moved)
            setMenuClosed(null)
          }}
          onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
          className={classNames(
            'block max-h-[40vh] min-h-44 w-full resize-none bg-transparent px-12 pt-10 pb-4 text-14 text-ink outline-none [field-sizing:content] placeholder:overflow-hidden placeholder:text-ellipsis placeholder:whitespace-nowrap',
            commandMode && 'font-mono text-13',
          )}
        />
        {(remark || blocked) && (
          <p id={remarkId} role="status" className="flex flex-wrap items-center gap-8 px-12 pb-4 text-12 text-needs">
            <span className="min-w-0">{remark?.text ?? blocked?.text}</span>
            {remark?.sendAsText && (
              <Button size="small" variant="ghost" disabled={blocked !== null} onClick={() => sendAsText(sessionId)}>
                Send as text
              </Button>
            )}
            {!remark && blocked?.fix}
          </p>
        )}
        <div
          className="group/foot @container flex items-center gap-2 p-6 pt-2"
          data-running={running === 'none' ? undefined : true}
        >
          <input
            ref={chooser}
            type="file"
            multiple
            hidden
            aria-hidden
            tabIndex={-1}
            onChange={(event) => {
              composer.addFiles([...(event.target.files ?? [])])
              event.target.value = ''
              field.current?.focus()
            }}
          />
          <IconButton icon={Paperclip} label="Attach" size="small" tooltipSide="top" onClick={hands.attach} />
          <ModelPicker
            sessionId={sessionId}
            open={picker === 'model'}
            onOpenChange={(open) => setPicker(open ? 'model' : null)}
          />
          <EffortPicker
            sessionId={sessionId}
            open={picker === 'effort'}
            onOpenChange={(open) => setPicker(open ? 'effort' : null)}
          />
          <AgentPicker
            sessionId={sessionId}
            open={picker === 'agent'}
            onOpenChange={(open) => setPicker(open ? 'agent' : null)}
          />
          <ModePicker
            sessionId={sessionId}
            open={picker === 'mode'}
            onOpenChange={(open) => setPicker(open ? 'mode' : null)}
          />
          <SessionFolders sessionId={sessionId} />
          <span className="ml-auto flex shrink-0 items-center gap-6">
            <PauseQueue sessionId={sessionId} />
            <ContextRing sessionId={sessionId} />
            {editing ? (
              <>
                <Button size="small" variant="ghost" onClick={composer.endEdit}>
                  Cancel
                </Button>
                <Button size="small" variant="primary" disabled={nothing} onClick={() => void saveEdit(sessionId)}>
                  {editing.kind === 'message' ? 'Send' : 'Save'}
                </Button>
              </>
            ) : (
              <SendButtons
                running={running}
                commandMode={commandMode}
                off={commandMode ? text.trim() === '!' : nothing || blocked !== null}
                stopping={stopping}
                onSend={() => onceRecalled('send')}
                onSteer={() => onceRecalled('steer')}
                onQueue={() => onceRecalled('queue')}
                onRun={() => onceRecalled('send')}
                onStop={() => void stop()}
              />
            )}
          </span>
        </div>
      </div>
    </>
  )
}

/** Whether a key may mean something else with another text. */
function dependsOnText({ key, composing }: Press, meaning: Act | null): boolean {
  if (composing) return false
  return key === 'ArrowDown' || (meaning !== null && (key === 'Enter' || key === 'ArrowUp'))
}

function placeholderOf(running: 'none' | 'foreground' | 'background', whileRunning: 'steer' | 'queue'): string {
  if (running === 'foreground')
    return whileRunning === 'steer' ? 'Steer the running turn, or queue what comes next' : 'Queue what comes next'
  return 'Describe a task, @ to mention, / for commands'
}

/** What the text is, where it is no new message, and what ends it. */
function KindOfMessage({ editing }: { editing: Editing | null }) {
  const execEnabled = useSetting('exec.enabled')
  const Icon = editing ? CornerDownRight : Terminal
  return (
    <p className="flex items-center gap-6 px-12 pt-8 text-12 text-muted">
      <Icon size={13} strokeWidth={1.75} aria-hidden className={editing ? 'text-needs' : 'text-note'} />
      <span>{editing ? editingWords[editing.kind] : 'Your own command, run without the agent'}</span>
      <span className="text-faint">
        ·{' '}
        {editing
          ? `Enter ${editing.kind === 'message' ? 'sends' : 'saves'}, Esc leaves it as it was`
          : execEnabled
            ? 'Enter runs it, Esc leaves the command'
            : 'commands are turned off in Settings'}
      </span>
    </p>
  )
}

const editingWords = {
  steer: 'Editing a message for the running turn',
  followUp: 'Editing a queued message',
  message: 'Saying it differently: what came after it is set aside',
}
