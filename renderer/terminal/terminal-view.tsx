/** One terminal on screen. Hiding it drops the emulator; showing it starts from the host's snapshot. */
import type { SearchAddon } from '@xterm/addon-search'
import type { Terminal } from '@xterm/xterm'
import { RotateCw } from 'lucide-react'
import { useCallback, useEffect, useRef, useState } from 'react'
import type { ErrorBody } from '../../preload/contract/errors.ts'
import type { TerminalState } from '../../preload/contract/events.ts'
import { provideTarget } from '../app/command-targets.ts'
import { commandKeys } from '../app/commands.ts'
import { isMac } from '../app/keys.ts'
import { focusRegion } from '../app/regions.ts'
import { composerOf } from '../composer/composer-store.ts'
import { ask, useWindow } from '../state/window-store.ts'
import { bytesText, counted } from '../transcript/amounts.ts'
import { shownText } from '../transcript/shown-text.ts'
import { useMayAct } from '../ui/acting.ts'
import { Button } from '../ui/button.tsx'
import { classNames } from '../ui/class-names.ts'
import { ContextMenu } from '../ui/menu.tsx'
import { toast } from '../ui/toast.tsx'
import { hideExec } from './exec-tabs.ts'
import { copiedText, pastedLines, pasteBytesMax, safePaste } from './paste.ts'
import { closeTerminal, restartTerminal } from './terminal-actions.ts'
import { TerminalEnd } from './terminal-end.tsx'
import { TerminalFind } from './terminal-find.tsx'
import { TerminalMenu } from './terminal-menu.tsx'
import { type Ended, useTerminal } from './use-terminal.ts'
import '@xterm/xterm/css/xterm.css'
import './terminal.css'

/** Terminals whose person asked not to be asked about pastes of several lines. */
const trustsPastes = new Set<string>()

type TerminalViewProps = {
  terminal: TerminalState
  onRename: () => void
  /** Commands from keys and menus go to this one. */
  active: boolean
  /** A process of the agent's, or a `!` command: typed into only while the person drives it. */
  exec?: { drives: boolean }
}

export default function TerminalView(props: TerminalViewProps) {
  const { id } = props.terminal
  const [attempts, setAttempts] = useState(0)
  const [refused, setRefused] = useState<ErrorBody | null>(null)
  if (!refused) return <ShownTerminal key={attempts} {...props} onRefused={setRefused} />
  const again = () => {
    setRefused(null)
    setAttempts(attempts + 1)
  }
  return (
    <div role="alert" className="flex grow flex-col items-start gap-8 p-16 text-13">
      <p className="font-medium">The terminal cannot be shown</p>
      <p className="text-12 text-muted">{shownText([refused.message, refused.hint].filter(Boolean).join(' '))}</p>
      <div className="flex gap-8">
        <Button size="small" onClick={again}>
          <RotateCw size={13} strokeWidth={1.75} aria-hidden />
          Try again
        </Button>
        <Button size="small" variant="ghost" onClick={() => closeView(id, props.exec !== undefined)}>
          Close
        </Button>
      </div>
    </div>
  )
}

/** A process goes on; only this window no longer looks. */
function closeView(id: string, isExec: boolean): void {
  if (isExec) hideExec(id)
  else void closeTerminal(id)
}

type ShownTerminalProps = TerminalViewProps & { onRefused: (error: ErrorBody) => void }

function ShownTerminal({ terminal, onRename, active, exec, onRefused }: ShownTerminalProps) {
  const { id, title, folder } = terminal
  const place = useRef<HTMLDivElement>(null)
  const [linkTarget, setLinkTarget] = useState<string | null>(null)
  const [ended, setEnded] = useState<Ended | null>(
    terminal.state === 'running' ? null : { exitCode: terminal.exitCode, signal: null },
  )
  const [finding, setFinding] = useState<SearchAddon | null>(null)
  const [said, setSaid] = useState('')
  const drives = useMayAct() && (exec?.drives ?? true)
  const isExec = exec !== undefined

  const close = useCallback(() => closeView(id, isExec), [id, isExec])
  const shown = useTerminal(place, {
    terminal,
    active,
    drives,
    onLink: setLinkTarget,
    onEnded: setEnded,
    onRefused,
    copy: copySelection,
    restart: () => void (isExec || restartTerminal(id)),
    close,
    say: setSaid,
  })

  const paste = useCallback(
    async (pasted: string) => {
      const term = shown.current?.term
      if (!term || pasted === '') return
      const text = safePaste(pasted)
      const bytes = new TextEncoder().encode(text).byteLength
      if (bytes > pasteBytesMax)
        return toast.warn('Too much to paste', {
          detail: `${bytesText(bytes)}; at most ${bytesText(pasteBytesMax)} can be pasted.`,
        })
      const lines = pastedLines(text)
      // A program on the alternate screen is an editor or a pager, not a prompt that would run each line.
      if (lines > 1 && term.buffer.active.type === 'normal' && !trustsPastes.has(id)) {
        const yes = await ask({
          title: `Paste ${lines} lines?`,
          description: <PasteSample text={text} />,
          confirm: 'Paste',
          option: { label: 'Do not ask again in this terminal', ticked: () => trustsPastes.add(id) },
        })
        if (!yes) return term.focus()
      }
      term.paste(text)
      term.focus()
    },
    [id, shown],
  )
  const pasteFromClipboard = useCallback(() => {
    navigator.clipboard.readText().then(paste, () =>
      toast.note('Lathe may not read the clipboard here', {
        detail: `Paste with ${commandKeys('terminal.paste') ?? 'the keyboard'} instead.`,
      }),
    )
  }, [paste])

  /** Adds text to the message as a chip that says where it is from; nothing is sent. */
  const give = useCallback(
    (what: string, text: string) => {
      const { sessionId } = useWindow.getState()
      if (sessionId === null || text.trim() === '') return
      const named = shownText(title)
      const name = `${what}, ${named} in ${folder.split(/[\\/]/).at(-1) ?? ''}`
      composerOf(sessionId).addPaste(`From the terminal "${named}" in ${folder}:\n\n${text}`, name)
      focusRegion('composer')
    },
    [title, folder],
  )
  const send = useCallback(
    () => give('Terminal selection', copiedText(shown.current?.term.getSelection() ?? '')),
    [give, shown],
  )
  const sendOutput = useCallback(() => {
    const last = shown.current?.commands.output()
    if (!last) return
    const line = last.command === null ? '' : `$ ${last.command}\n`
    const end = last.exitCode === null ? '' : `\n\nExit code: ${last.exitCode}`
    give('Terminal command', `${line}${last.output}${end}`)
  }, [give, shown])
  const copyOutput = useCallback(() => {
    const last = shown.current?.commands.output()
    if (!last) return
    if (last.output.trim() === '') return toast.note('The last command printed nothing')
    putOnClipboard(last.output)
    const lines = counted(last.output.trimEnd().split('\n').length, 'line')
    toast.note(`Copied ${lines}`, last.partial ? { detail: 'The beginning has left the scrollback.' } : {})
  }, [shown])
  const jump = useCallback(
    (direction: 1 | -1) => {
      const there = shown.current?.commands.jump(direction)
      if (there) setSaid(shownText(there))
    },
    [shown],
  )
  const marked = useCallback(() => (shown.current?.commands.run.length ?? 0) > 0, [shown])
  const find = useCallback(() => setFinding(shown.current?.search ?? null), [shown])
  const copy = useCallback(() => shown.current && copySelection(shown.current.term), [shown])
  const selectAll = useCallback(() => shown.current?.term.selectAll(), [shown])
  const clear = useCallback(() => shown.current?.clear(), [shown])

  useEffect(
    () =>
      active
        ? provideTarget('terminal', {
            find,
            copy,
            paste: pasteFromClipboard,
            clear,
            selectAll,
            marked,
            jump,
            copyOutput,
            send,
            sendOutput,
            rename: onRename,
            close,
          })
        : undefined,
    [
      active,
      find,
      copy,
      pasteFromClipboard,
      clear,
      selectAll,
      marked,
      jump,
      copyOutput,
      send,
      sendOutput,
      onRename,
      close,
    ],
  )

  return (
    <div className="relative flex min-h-0 grow flex-col bg-terminal">
      {finding && (
        <TerminalFind
          search={finding}
          onClose={() => {
            setFinding(null)
            finding.clearDecorations()
            shown.current?.term.focus()
          }}
        />
      )}
      <ContextMenu
        items={
          <TerminalMenu
            marked={marked()}
            {...{ copy, copyOutput, selectAll, send, sendOutput, find, clear, paste: pasteFromClipboard }}
          />
        }
      >
        <div
          className={classNames('flex min-h-0 grow flex-col py-4 pl-12', drives ? 'overflow-hidden' : 'overflow-auto')}
          onPasteCapture={(event) => {
            event.preventDefault()
            event.stopPropagation()
            void paste(event.clipboardData.getData('text/plain'))
          }}
        >
          <div ref={place} className="min-h-0 grow" />
        </div>
      </ContextMenu>
      <p role="status" className="sr-only" aria-label="Terminal output">
        {said}
      </p>
      {linkTarget !== null && (
        <p className="pointer-events-none absolute bottom-6 left-10 max-w-[80%] truncate rounded-4 bg-raised px-6 py-2 text-11 text-muted shadow-float">
          {isMac ? '⌘' : 'Ctrl'}+click to open {shownText(linkTarget)}
        </p>
      )}
      {ended && <TerminalEnd terminal={terminal} ended={ended} isExec={isExec} onClose={close} />}
    </div>
  )
}

/** Answers whether there was a selection; it is gone then. */
function copySelection(term: Terminal): boolean {
  const text = copiedText(term.getSelection())
  if (text === '') return false
  putOnClipboard(text)
  term.clearSelection()
  return true
}

function putOnClipboard(text: string): void {
  navigator.clipboard.writeText(text).catch(() => toast.failed('Could not copy'))
}

const sampleLines = 6

function PasteSample({ text }: { text: string }) {
  const lines = text.split(/\r\n|\n|\r/)
  return (
    <>
      <p>A shell may run each line as it arrives.</p>
      <pre className="mt-8 max-h-160 overflow-auto rounded-6 bg-sunken p-8 text-11 text-ink">
        {lines.slice(0, sampleLines).map((line) => `${shownText(line.slice(0, 200))}\n`)}
        {lines.length > sampleLines && (
          <span className="text-faint">{`and ${counted(lines.length - sampleLines, 'more line')}`}</span>
        )}
      </pre>
    </>
  )
}
