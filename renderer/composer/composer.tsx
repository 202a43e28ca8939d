/** The message: never blocked, never lost, always saying what Enter will do (S-101 to S-105). */
import { CornerDownRight, Paperclip, Terminal } from 'lucide-react'
import { useId, useLayoutEffect, useRef, useState } from 'react'
import { useStore } from 'zustand'
import { joinMessages, movedBy } from '../../preload/contract/mentions.ts'
import { readSlash } from '../../preload/contract/slash-commands.ts'
import { PendingDecisions } from '../approvals/pending-decisions.tsx'
import { attempt } from '../app/attempt.ts'
import { commandTarget } from '../app/command-targets.ts'
import { isMac } from '../app/keys.ts'
import { asLatheError } from '../state/session-client.ts'
import { useSessionHandle, useView } from '../state/session-store.ts'
import { showInspector } from '../state/window-store.ts'
import { useSetting } from '../state/workbench-store.ts'
import { editMessage, goBack } from '../transcript/item-actions.ts'
import { FilesInWriting } from '../transcript/files-in-writing.tsx'
import { MentionChips } from '../transcript/mention-chips.tsx'
import { TurnStatus } from '../transcript/turn-status.tsx'
import { Button } from '../ui/button.tsx'
import { classNames } from '../ui/class-names.ts'
import { IconButton } from '../ui/icon-button.tsx'
import { isLongPaste } from './attachments.ts'
import { useBlocked } from './blocked.tsx'
import { Chips, CommentChips } from './chips.tsx'
import { CompletionMenu } from './completion-menu.tsx'
import { useCompletions } from './completions.tsx'
import { type Act, caretLines, composerKey } from './composer-keys.ts'
import { composerOf } from './composer-store.ts'
import { DropTarget, offerFolder, pathsInside } from './drop-target.tsx'
import { standing } from './mentions.ts'
import { PauseQueue, PendingList } from './pending-list.tsx'
import { EffortPicker, ModePicker, ModelPicker, WorkspaceName } from './pickers.tsx'
import { ContextRing } from '../context/context-ring.tsx'
import { ExecStrip } from '../terminal/exec-strip.tsx'
import { recalledText, startRecall, stepRecall } from './recall.ts'
import { SessionRemarks } from './session-remarks.tsx'
import { runSlash } from './slash-actions.ts'
import { SendButtons } from './send-buttons.tsx'
import { turnKind } from './turn-kind.ts'

type Picker = 'model' | 'effort' | 'mode'

export function Composer({ sessionId }: { sessionId: string }) {
  return (
    <section data-region="composer" aria-label="Composer" className="shrink-0 px-24 pb-16">
      <div className="mx-auto flex w-full max-w-736 flex-col gap-6">
        <PendingDecisions sessionId={sessionId} />
        <FilesInWriting sessionId={sessionId} />
        <TurnStatus sessionId={sessionId} />
        <SessionRemarks sessionId={sessionId} />
        <ExecStrip sessionId={sessionId} />
        <PendingList sessionId={sessionId} />
        <MessageBox key={sessionId} sessionId={sessionId} />
      </div>
    </section>
  )
}

function MessageBox({ sessionId }: { sessionId: string }) {
  const { controller, store } = useSessionHandle(sessionId)
  const composer = composerOf(sessionId)
  const { text, chips, comments, mentions, editing, recall, remark, placed } = useStore(composer.store)
  const running = useView(sessionId, turnKind, 'none' as const)
  const whileRunning = useSetting('composer.whileRunning')
  const tabQueues = useSetting('composer.tabQueues')
  const enterSends = useSetting('composer.enterSends')
  const execEnabled = useSetting('exec.enabled')
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

  // `!` alone is an ordinary message (X-330).
  const commandMode = editing === null && text.startsWith('!')
  const menu = useCompletions(
    sessionId,
    { commands: editing === null && !commandMode, mentions: !commandMode },
    { text, mentions },
    caret,
  )
  const menuOpen = menu !== null && menu.entries.length > 0 && menuClosed !== menu.word
  const chosen = Math.min(menuAt.word === menu?.word ? menuAt.at : 0, (menu?.entries.length ?? 1) - 1)

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

  async function send(as: 'refuse' | 'steer' | 'queue'): Promise<void> {
    if (!commandMode && (await ranAsCommand())) return
    const message = composer.message()
    if (!message) return composer.store.setState({ remark: { text: 'A file is still on its way.' } })
    if (chips.some((chip) => chip.state.kind === 'refused'))
      return composer.store.setState({ remark: { text: 'Remove the file that cannot be sent.' } })
    if (message.text.trim() === '' && message.attachments.length === 0) return
    if (blocked) return
    const read = readSlash(message.text)
    composer.clear()
    // A refusal is shown with the message itself, as "Not sent".
    const words = read.kind === 'text' ? read.text : message.text
    const moved = movedBy(message.mentions ?? [], words.length - message.text.length)
    void controller.submit({ ...message, text: words, mentions: moved }, as).catch(() => {})
  }

  /** Runs a slash command; true where the text was one, whatever came of it. */
  async function ranAsCommand(): Promise<boolean> {
    const read = readSlash(text)
    if (read.kind === 'text') return false
    if (read.kind === 'unknown') {
      const near = read.nearest.map((name) => `/${name}`).join(', ')
      composer.store.setState({
        remark: { text: `There is no command /${read.name}.${near ? ` Did you mean ${near}?` : ''}`, sendAsText: true },
      })
      return true
    }
    try {
      const why = await runSlash(sessionId, read.command, read.argument, {
        attach: () => chooser.current?.click(),
        openPicker: setPicker,
        stop,
      })
      if (why === null) composer.place('', { chips })
      else composer.store.setState({ remark: { text: why } })
    } catch (thrown) {
      const { message, hint } = asLatheError(thrown)
      composer.store.setState({ remark: { text: [message, hint].filter(Boolean).join(' ') } })
    }
    return true
  }

  function sendAsText(): void {
    const message = composer.message()
    if (!message || blocked) return
    composer.clear()
    void controller.submit(message, 'refuse').catch(() => {})
  }

  async function runCommandLine(): Promise<void> {
    const line = text.slice(1).trimStart()
    if (line === '') return send(running === 'foreground' ? whileRunning : 'refuse')
    composer.place('', { chips })
    try {
      await controller.runCommand(line)
    } catch (thrown) {
      // The line stays as it was typed, unless something else has been begun.
      if (composer.store.getState().text === '') composer.place(text)
      composer.store.setState({ remark: { text: asLatheError(thrown).message } })
    }
  }

  async function stop(): Promise<void> {
    setStopping(true)
    const reply = await attempt('Could not stop the turn', () => controller.stop())
    setStopping(false)
    if (reply?.stopped && reply.withdrawn.length > 0) {
      composer.restore(joinMessages(reply.withdrawn))
    }
  }

  async function saveEdit(): Promise<void> {
    const message = composer.message()
    if (!editing || !message) return
    if (message.text.trim() === '' && message.attachments.length === 0) return
    const done = await attempt(editing.kind === 'message' ? 'Could not send it' : 'Could not change it', async () => {
      if (editing.kind === 'followUp')
        return Boolean(await controller.editFollowUp(editing.id, editing.revision, message))
      if (editing.kind === 'message') return (await goBack(sessionId, editing, 'edit', message)) ? true : undefined
      return (await controller.editSteer(editing.id, message)).done
    })
    if (done) composer.endEdit()
    else if (done === false)
      composer.store.setState({
        remark: { text: 'The agent has read it already. What you wrote stays here.' },
        editing: null,
        setAside: null,
      })
  }

  async function recallStep(step: 1 | -1): Promise<void> {
    const now =
      recall ?? startRecall((await attempt('Could not load earlier prompts', () => controller.prompts())) ?? [], text)
    const next = stepRecall(now, step)
    if (next) composer.place(recalledText(next), { recall: next.at < 0 ? null : next })
  }

  /** Alt+Up: the newest of what waits comes back to be changed. */
  async function takeBack(): Promise<void> {
    const { header, turn } = store.getState().view ?? {}
    const followUp = header?.queue.followUps.at(-1)
    const steer = turn?.steers.findLast((one) => one.actions.includes('edit'))
    if (followUp) composer.beginEdit({ kind: 'followUp', id: followUp.id, revision: followUp.revision }, followUp)
    else if (steer) composer.beginEdit({ kind: 'steer', id: steer.id }, steer)
    else if (header?.currentTurnId === null) {
      const last = store
        .getState()
        .view?.items.findLast((item) => item.kind === 'user' && item.source === 'person' && item.visible)
      if (last?.kind === 'user') await editMessage(sessionId, last)
    }
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

  /** What lies in the workspace is mentioned, all else attached (S-114); with `copies`, all of it. */
  async function drop(files: { file: File; folder: boolean; path: string | null }[], copies: boolean): Promise<void> {
    // Files can be dropped on a session that is still being opened.
    const workspace = store.getState().view?.header.workspace
    const paths = copies ? [] : files.flatMap(({ path }) => path ?? [])
    const inside = workspace === undefined ? new Map<string, string>() : await pathsInside(workspace, paths)
    for (const { path } of files) {
      const label = path === null ? undefined : inside.get(path)
      if (label !== undefined) composer.mention({ kind: 'file', ref: label, label })
    }
    const others = files.filter(({ path }) => path === null || !inside.has(path))
    composer.addFiles(others.flatMap(({ file, folder }) => (folder ? [] : file)))
    const folder = others.find((one) => one.folder)
    if (folder) offerFolder(folder.path)
  }

  /** Once the text that was put in is drawn. */
  function putCaret(to: number): void {
    requestAnimationFrame(() => {
      field.current?.setSelectionRange(to, to)
      setCaret(to)
    })
  }

  function act(what: Act): void {
    switch (what) {
      case 'send':
        return void send('refuse')
      case 'steer':
      case 'queue':
        return void send(what)
      case 'save edit':
        return void saveEdit()
      case 'run command':
        return void runCommandLine()
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
        return void recallStep(1)
      case 'newer prompt':
        return void recallStep(-1)
      case 'take back':
        return void takeBack()
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

  function onKeyDown(event: React.KeyboardEvent<HTMLTextAreaElement>): void {
    const { key, shiftKey, altKey, repeat, nativeEvent, currentTarget } = event
    const ctrl = isMac ? event.metaKey || (event.ctrlKey && key.toLowerCase() === 'j') : event.ctrlKey
    pastingRaw.current = ctrl && shiftKey && key.toLowerCase() === 'v'
    const what = composerKey(
      {
        key,
        ctrl,
        alt: altKey,
        shift: shiftKey,
        repeat,
        composing: nativeEvent.isComposing || nativeEvent.keyCode === 229,
      },
      {
        turn: running,
        whileRunning,
        tabQueues,
        enterSends,
        menuOpen,
        editing: editing !== null,
        commandMode,
        text,
        recalling: recall !== null,
        ...caretLines(text, currentTarget.selectionStart),
      },
    )
    if (what === null) {
      // A held key acts once, and then it does nothing rather than something else.
      if (repeat && key === 'Enter' && !shiftKey && !altKey && enterSends) event.preventDefault()
      return
    }
    event.preventDefault()
    event.stopPropagation()
    act(what)
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

  const hint = editing
    ? `Enter ${editing.kind === 'message' ? 'sends' : 'saves'}, Esc leaves it as it was`
    : execEnabled
      ? 'Enter runs it, Esc leaves the command'
      : 'commands are turned off in Settings'
  const nothing = text.trim() === '' && chips.length === 0 && (editing !== null || comments.length === 0)
  return (
    <>
      <DropTarget
        onFiles={(files, copies) => void drop(files, copies)}
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
        {(editing || commandMode) && (
          <p className="flex items-center gap-6 px-12 pt-8 text-12 text-muted">
            {commandMode ? (
              <Terminal size={13} strokeWidth={1.75} aria-hidden className="text-note" />
            ) : (
              <CornerDownRight size={13} strokeWidth={1.75} aria-hidden className="text-needs" />
            )}
            <span>
              {commandMode
                ? 'Your own command, run without the agent'
                : editing?.kind === 'steer'
                  ? 'Editing a message for the running turn'
                  : editing?.kind === 'message'
                    ? 'Saying it differently: what came after it is set aside'
                    : 'Editing a queued message'}
            </span>
            <span className="text-faint">· {hint}</span>
          </p>
        )}
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
            'block max-h-[40vh] min-h-44 w-full resize-none bg-transparent px-12 pt-10 pb-4 text-14 text-ink outline-none [field-sizing:content]',
            commandMode && 'font-mono text-13',
          )}
        />
        {(remark || blocked) && (
          <p id={remarkId} role="status" className="flex flex-wrap items-center gap-8 px-12 pb-4 text-12 text-needs">
            <span className="min-w-0">{remark?.text ?? blocked?.text}</span>
            {remark?.sendAsText && (
              <Button size="small" variant="ghost" onClick={sendAsText}>
                Send as text
              </Button>
            )}
            {!remark && blocked?.fix}
          </p>
        )}
        <div className="flex flex-wrap items-center gap-2 p-6 pt-2">
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
          <IconButton
            icon={Paperclip}
            label="Attach"
            size="small"
            tooltipSide="top"
            onClick={() => chooser.current?.click()}
          />
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
          <ModePicker
            sessionId={sessionId}
            open={picker === 'mode'}
            onOpenChange={(open) => setPicker(open ? 'mode' : null)}
          />
          <WorkspaceName sessionId={sessionId} />
          <span className="ml-auto flex items-center gap-6">
            <PauseQueue sessionId={sessionId} />
            <ContextRing sessionId={sessionId} />
            {editing ? (
              <>
                <Button size="small" variant="ghost" onClick={composer.endEdit}>
                  Cancel
                </Button>
                <Button size="small" variant="primary" disabled={nothing} onClick={() => void saveEdit()}>
                  {editing.kind === 'message' ? 'Send' : 'Save'}
                </Button>
              </>
            ) : (
              <SendButtons
                running={running}
                commandMode={commandMode}
                off={commandMode ? text.trim() === '!' : nothing || blocked !== null}
                stopping={stopping}
                onSend={() => void send('refuse')}
                onSteer={() => void send('steer')}
                onQueue={() => void send('queue')}
                onRun={() => void runCommandLine()}
                onStop={() => void stop()}
              />
            )}
          </span>
        </div>
      </div>
    </>
  )
}

function placeholderOf(running: 'none' | 'foreground' | 'background', whileRunning: 'steer' | 'queue'): string {
  if (running === 'foreground')
    return whileRunning === 'steer' ? 'Steer the running turn, or queue what comes next' : 'Queue what comes next'
  return 'Describe a task.  / for commands, @ to mention, ! for a shell command'
}
