/** One terminal on screen. Hiding it drops the emulator; showing it starts from the host's snapshot. */
import { ClipboardCopy, ClipboardPaste, Eraser, MessageSquareQuote, RotateCw, Search, TextSelect } from 'lucide-react'
import type { SearchAddon } from '@xterm/addon-search'
import { useCallback, useEffect, useEffectEvent, useRef, useState } from 'react'
import type { ErrorBody } from '../../preload/contract/errors.ts'
import type { TerminalState } from '../../preload/contract/events.ts'
import type { TerminalFrame } from '../../preload/contract/routes.ts'
import { useZoom } from '../app/appearance.ts'
import { provideTarget } from '../app/command-targets.ts'
import { commandKeys } from '../app/commands.ts'
import { isMac } from '../app/keys.ts'
import { focusRegion } from '../app/regions.ts'
import { bytesText, counted } from '../transcript/amounts.ts'
import { shownText } from '../transcript/shown-text.ts'
import { composerOf } from '../composer/composer-store.ts'
import { ask, useWindow } from '../state/window-store.ts'
import { Button } from '../ui/button.tsx'
import { classNames } from '../ui/class-names.ts'
import { ContextMenu, ContextMenuItem, ContextMenuSeparator } from '../ui/context-menu.tsx'
import { toast } from '../ui/toast.tsx'
import { copiedText, pastedLines, pasteBytesMax, safePaste } from './paste.ts'
import { createScreen, type Screen } from './screen.ts'
import { SearchBar } from './search-bar.tsx'
import { hideExec } from './exec-tabs.ts'
import { closeTerminal, restartTerminal } from './terminal-actions.ts'
import { attachTerminal, type TerminalLink } from './terminal-link.ts'
import '@xterm/xterm/css/xterm.css'

/** Terminals whose person asked not to be asked about pastes of several lines. */
const trustsPastes = new Set<string>()

type Ended = { exitCode: number | null; signal: string | null }

type TerminalViewProps = {
  terminal: TerminalState
  onRename: () => void
  /** Commands from keys and menus go to this one. */
  active: boolean
  /** A process of the agent's, or a `!` command: typed into only while the person drives it. */
  exec?: { drives: boolean }
}

export default function TerminalView({ terminal, onRename, active, exec }: TerminalViewProps) {
  const { id, workspace, title } = terminal
  const place = useRef<HTMLDivElement>(null)
  const screen = useRef<Screen>(null)
  const attached = useRef<TerminalLink>(null)
  const zoom = useZoom()
  const [linkTarget, setLinkTarget] = useState<string | null>(null)
  const [refusal, setRefused] = useState<{ attempt: number; error: ErrorBody } | null>(null)
  const [ended, setEnded] = useState<Ended | null>(
    terminal.state === 'running' ? null : { exitCode: terminal.exitCode, signal: null },
  )
  const [finding, setFinding] = useState<SearchAddon | null>(null)
  const [attempts, setAttempts] = useState(0)
  const drives = exec?.drives ?? true
  const driving = useRef(drives)
  const refused = refusal?.attempt === attempts ? refusal.error : null

  const paste = useCallback(
    async (pasted: string) => {
      const term = screen.current?.term
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
    [id],
  )

  const copy = useCallback(() => {
    const text = copiedText(screen.current?.term.getSelection() ?? '')
    if (text === '') return false
    navigator.clipboard.writeText(text).catch(() => toast.failed('Could not copy'))
    screen.current?.term.clearSelection()
    return true
  }, [])

  const isExec = exec !== undefined
  const close = useCallback(() => (isExec ? hideExec(id) : void closeTerminal(id)), [id, isExec])
  const fitNow = useRef(() => {})

  const open = useEffectEvent((element: HTMLElement, of: string) => ({
    shown: createScreen(element, of, zoom, setLinkTarget),
    over: terminal.state !== 'running',
  }))

  useEffect(() => {
    if (!place.current) return
    const { shown, over } = open(place.current, workspace)
    let isOver = over
    screen.current = shown
    const { term } = shown
    const write = (data: string) => new Promise<void>((resolve) => term.write(data, resolve))
    const onFrame = async (frame: TerminalFrame) => {
      if (frame.type === 'exit') {
        isOver = true
        return setEnded({ exitCode: frame.exitCode, signal: frame.signal })
      }
      if (frame.type === 'snapshot') {
        term.reset()
        term.resize(frame.cols, frame.rows)
      }
      await write(frame.data)
      if (frame.type === 'snapshot') fit()
    }
    const host = attachTerminal(id, { frame: onFrame, refused: (error) => setRefused({ attempt: attempts, error }) })
    attached.current = host
    const fit = () => {
      // Who only looks on sees it as it is.
      if (!driving.current) return
      const size = shown.fit()
      // The size follows the window in use; one in the background only looks on.
      if (size && document.hasFocus()) host.resize(size.cols, size.rows)
    }
    term.onData((data) => {
      if (!isOver && driving.current) host.send(data)
      term.scrollToBottom()
    })
    term.onBinary((data) => driving.current && host.send(data))
    term.attachCustomKeyEventHandler((event) => {
      if (event.type !== 'keydown') return true
      if (isOver) {
        if (event.key === 'Enter' && !isExec) void restartTerminal(id)
        else if (event.key === 'Escape') close()
        return event.key === 'Tab'
      }
      // Ctrl+C copies a selection and interrupts without one.
      if (
        !isMac &&
        event.ctrlKey &&
        !event.shiftKey &&
        !event.altKey &&
        event.key.toLowerCase() === 'c' &&
        term.hasSelection()
      ) {
        copy()
        event.preventDefault()
        return false
      }
      return true
    })
    const observer = new ResizeObserver(fit)
    observer.observe(place.current)
    const onFocus = () => fit()
    addEventListener('focus', onFocus)
    fitNow.current = fit
    fit()
    term.focus()
    return () => {
      removeEventListener('focus', onFocus)
      observer.disconnect()
      host.close()
      shown.dispose()
      screen.current = null
    }
  }, [id, workspace, attempts, copy, close, isExec])

  useEffect(() => {
    driving.current = drives
    if (drives) fitNow.current()
  }, [drives])

  useEffect(() => {
    screen.current?.setZoom(zoom)
    const size = screen.current?.fit()
    if (size) attached.current?.resize(size.cols, size.rows)
  }, [zoom])

  const pasteFromMenu = useCallback(() => {
    navigator.clipboard.readText().then(paste, () =>
      toast.note('Lathe may not read the clipboard here', {
        detail: `Paste with ${commandKeys('terminal.paste') ?? 'the keyboard'} instead.`,
      }),
    )
  }, [paste])
  const send = useCallback(() => {
    const { sessionId } = useWindow.getState()
    const text = copiedText(screen.current?.term.getSelection() ?? '')
    if (sessionId === null || text === '') return
    composerOf(sessionId).addFiles([
      new File([text], `Terminal selection, ${shownText(title)}.txt`, { type: 'text/plain' }),
    ])
    focusRegion('composer')
  }, [title])
  const find = useCallback(() => setFinding(screen.current?.search ?? null), [])
  const selectAll = useCallback(() => screen.current?.term.selectAll(), [])
  const clear = useCallback(() => screen.current?.term.clear(), [])

  useEffect(
    () =>
      active
        ? provideTarget('terminal', {
            find,
            copy,
            paste: pasteFromMenu,
            clear,
            selectAll,
            send,
            rename: onRename,
            close,
          })
        : undefined,
    [active, find, copy, pasteFromMenu, clear, selectAll, send, onRename, close],
  )

  if (refused || terminal.state === 'failed')
    return (
      <div role="alert" className="flex grow flex-col items-start gap-8 p-16 text-13">
        <p className="font-medium">
          {terminal.state === 'failed' ? 'The shell could not be started' : 'The terminal cannot be shown'}
        </p>
        <p className="text-12 text-muted">
          {shownText(
            refused
              ? [refused.message, refused.hint].filter(Boolean).join(' ')
              : `It ended with code ${terminal.exitCode ?? 'unknown'}.`,
          )}
        </p>
        <div className="flex gap-8">
          <Button
            size="small"
            onClick={() => (terminal.state === 'failed' ? void restartTerminal(id) : setAttempts((count) => count + 1))}
          >
            <RotateCw size={13} strokeWidth={1.75} aria-hidden />
            Try again
          </Button>
          <Button size="small" variant="ghost" onClick={close}>
            Close
          </Button>
        </div>
      </div>
    )

  return (
    <div className="relative flex min-h-0 grow flex-col bg-terminal">
      {finding && (
        <SearchBar
          search={finding}
          onClose={() => {
            setFinding(null)
            finding.clearDecorations()
            screen.current?.term.focus()
          }}
        />
      )}
      <ContextMenu
        items={
          <>
            <ContextMenuItem icon={ClipboardCopy} keys={commandKeys('terminal.copy')} onSelect={copy}>
              Copy
            </ContextMenuItem>
            <ContextMenuItem icon={ClipboardPaste} keys={commandKeys('terminal.paste')} onSelect={pasteFromMenu}>
              Paste
            </ContextMenuItem>
            <ContextMenuItem icon={TextSelect} keys={commandKeys('terminal.selectAll')} onSelect={selectAll}>
              Select all
            </ContextMenuItem>
            <ContextMenuItem icon={MessageSquareQuote} onSelect={send}>
              Send selection to the agent
            </ContextMenuItem>
            <ContextMenuSeparator />
            <ContextMenuItem icon={Search} keys={commandKeys('terminal.find')} onSelect={find}>
              Find
            </ContextMenuItem>
            <ContextMenuItem icon={Eraser} onSelect={clear}>
              Clear
            </ContextMenuItem>
          </>
        }
      >
        <div
          ref={place}
          className={classNames('min-h-0 grow py-6 pl-10', drives ? 'overflow-hidden' : 'overflow-auto')}
          onPasteCapture={(event) => {
            event.preventDefault()
            event.stopPropagation()
            void paste(event.clipboardData.getData('text/plain'))
          }}
        />
      </ContextMenu>
      {linkTarget !== null && (
        <p className="pointer-events-none absolute bottom-6 left-10 max-w-[80%] truncate rounded-4 bg-raised px-6 py-2 text-11 text-muted shadow-float">
          {isMac ? '⌘' : 'Ctrl'}+click to open {shownText(linkTarget)}
        </p>
      )}
      {ended && (
        <div
          role="status"
          className="flex shrink-0 items-center gap-8 border-t border-line px-12 py-4 text-12 text-muted"
        >
          <span className="grow">
            {ended.signal !== null
              ? `Ended by ${ended.signal}.`
              : ended.exitCode === null
                ? 'Ended.'
                : `Ended with code ${ended.exitCode}.`}{' '}
            {isExec ? 'Esc closes.' : 'Enter restarts, Esc closes.'}
          </span>
          {!isExec && (
            <Button size="small" onClick={() => void restartTerminal(id)}>
              Restart
            </Button>
          )}
        </div>
      )}
    </div>
  )
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
