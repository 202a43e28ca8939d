/** The life of one emulator on screen: made when shown, fed from the host's snapshot on, gone when hidden. */
import type { Terminal } from '@xterm/xterm'
import { type RefObject, useEffect, useEffectEvent, useRef } from 'react'
import type { ErrorBody } from '../../preload/contract/errors.ts'
import type { TerminalState } from '../../preload/contract/events.ts'
import type { TerminalFrame } from '../../preload/contract/terminal-routes.ts'
import { useZoom } from '../app/appearance.ts'
import { isMac } from '../app/keys.ts'
import { useSetting } from '../state/workbench-store.ts'
import { PacedWrites } from './paced-writes.ts'
import { createScreen, type Screen } from './screen.ts'
import { attachTerminal, type TerminalLink } from './terminal-link.ts'

export type Ended = { exitCode: number | null; signal: string | null }

type Given = {
  terminal: TerminalState
  /** It takes the keyboard when it is shown. */
  active: boolean
  /** The person has its keyboard; who only looks on sees it in the size it has. */
  drives: boolean
  onLink(target: string | null): void
  onEnded(ended: Ended): void
  onRefused(error: ErrorBody): void
  /** Answers whether there was a selection to copy. */
  copy(term: Terminal): boolean
  restart(): void
  close(): void
  say(text: string): void
}

/** `place` is the element it is drawn into. */
export function useTerminal(place: RefObject<HTMLElement | null>, given: Given): RefObject<Screen | null> {
  const { terminal, drives } = given
  const { id, workspace } = terminal
  const screen = useRef<Screen>(null)
  const link = useRef<TerminalLink>(null)
  const driving = useRef(drives)
  const typePx = useSetting('terminal.fontSize') * useZoom()
  const speaks = useSetting('terminal.screenReader')

  const say = useEffectEvent((text: string) => given.say(text))
  const onLink = useEffectEvent((target: string | null) => given.onLink(target))
  const onEnded = useEffectEvent((ended: Ended) => given.onEnded(ended))
  const onRefused = useEffectEvent((error: ErrorBody) => given.onRefused(error))
  const folder = useEffectEvent(() => given.terminal.folder)
  const inFront = useEffectEvent(() => given.active)
  const wasOver = useEffectEvent(() => given.terminal.state !== 'running')
  const make = useEffectEvent((element: HTMLElement, of: string) => {
    const cleared = () => link.current?.clear()
    const made = createScreen(element, { workspace: of, folder, typePx, onLink, cleared, say })
    made.offerText(speaks)
    return made
  })
  const fit = useEffectEvent(() => {
    if (!driving.current) return
    const size = screen.current?.fit()
    // The size follows the window in use; one in the background only looks on.
    if (size && document.hasFocus()) link.current?.resize(size.cols, size.rows)
  })
  /** What the keys of an ended terminal do, and the one key that means two things. */
  const onKey = useEffectEvent((event: KeyboardEvent, term: Terminal, isOver: boolean): boolean => {
    if (event.type !== 'keydown') return true
    if (isOver) {
      if (event.key === 'Enter') given.restart()
      else if (event.key === 'Escape') given.close()
      return event.key === 'Tab'
    }
    const isCopy = event.ctrlKey && !event.shiftKey && !event.altKey && event.key.toLowerCase() === 'c'
    if (isMac || !isCopy || !given.copy(term)) return true
    event.preventDefault()
    return false
  })

  useEffect(() => {
    if (!place.current) return
    const shown = make(place.current, workspace)
    screen.current = shown
    const { term } = shown
    let isOver = wasOver()
    const write = (data: string) => new Promise<void>((resolve) => term.write(data, resolve))
    const output = new PacedWrites(write, () => term.textarea === document.activeElement)
    const onFrame = async (frame: TerminalFrame) => {
      if (frame.type === 'data') return output.push(frame.data)
      // What is still to be parsed stands before it.
      await output.flush()
      if (frame.type === 'exit') {
        isOver = true
        return onEnded({ exitCode: frame.exitCode, signal: frame.signal })
      }
      term.reset()
      term.resize(frame.cols, frame.rows)
      const at = frame.commands?.at ?? frame.data.length
      await write(frame.data.slice(0, at))
      if (frame.commands) shown.commands.begin(frame.commands)
      await write(frame.data.slice(at))
      fit()
    }
    const host = attachTerminal(id, { frame: onFrame, refused: onRefused })
    link.current = host
    term.onData((data) => {
      if (!isOver && driving.current) host.send(data)
      term.scrollToBottom()
    })
    term.onBinary((data) => driving.current && host.send(data))
    term.attachCustomKeyEventHandler((event) => onKey(event, term, isOver))
    const observer = new ResizeObserver(() => fit())
    observer.observe(place.current)
    const onFocus = () => fit()
    addEventListener('focus', onFocus)
    const onKeyboard = () => void output.flush()
    term.textarea?.addEventListener('focus', onKeyboard)
    fit()
    if (inFront()) term.focus()
    return () => {
      removeEventListener('focus', onFocus)
      observer.disconnect()
      host.close()
      output.drop()
      shown.dispose()
      screen.current = null
    }
  }, [id, workspace, place])

  useEffect(() => {
    driving.current = drives
    if (drives) fit()
  }, [drives])

  useEffect(() => {
    screen.current?.setType(typePx)
    fit()
  }, [typePx])

  useEffect(() => screen.current?.offerText(speaks), [speaks])

  return screen
}
