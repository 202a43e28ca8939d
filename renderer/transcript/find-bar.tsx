/** Find in the session on screen (S-69): in all of it, loaded or not, and in what is being written. */
import { ArrowDown, ArrowUp, X } from 'lucide-react'
import { useEffect, useEffectEvent, useState } from 'react'
import { focusOnMount } from '../app/focus-on-mount.ts'
import { useSessionController } from '../state/session-store.ts'
import { useWindow } from '../state/window-store.ts'
import { IconButton } from '../ui/icon-button.tsx'

const quietMs = 200

type Found = { text: string; itemIds: string[]; more: boolean; at: number }

export function FindBar({ sessionId, onClose }: { sessionId: string; onClose: () => void }) {
  const controller = useSessionController(sessionId)
  const [text, setText] = useState('')
  const [found, setFound] = useState<Found | null>(null)

  const show = (next: Found) => {
    setFound(next)
    const itemId = next.itemIds[next.at]
    if (itemId !== undefined) useWindow.setState({ target: { sessionId, itemId, words: [next.text], keepFocus: true } })
  }

  async function find(wanted: string): Promise<void> {
    if (wanted.trim() === '') return setFound(null)
    const { matches, more } = await controller.find(wanted).catch(() => ({ matches: [], more: false }))
    const itemIds = matches.map(({ itemId }) => itemId)
    // The newest first: that is where the reader mostly is.
    show({ text: wanted, itemIds, more, at: itemIds.length - 1 })
  }
  const findTyped = useEffectEvent((wanted: string) => void find(wanted))
  useEffect(() => {
    const timer = setTimeout(() => findTyped(text), quietMs)
    return () => clearTimeout(timer)
  }, [text])

  function step(by: 1 | -1): void {
    if (found?.text !== text) return void find(text)
    const { itemIds, at } = found
    if (itemIds.length > 0) show({ ...found, at: (at + by + itemIds.length) % itemIds.length })
  }

  const words =
    found === null || text.trim() === ''
      ? ''
      : found.itemIds.length === 0
        ? 'Nothing found'
        : `${found.at + 1} of ${found.itemIds.length}${found.more ? '+' : ''}`
  return (
    <div
      role="search"
      aria-label="Find in session"
      className="absolute top-8 right-24 z-10 flex h-32 w-320 max-w-[calc(100%-3rem)] items-center gap-2 rounded-8 bg-raised pr-4 pl-10 shadow-float"
    >
      <input
        ref={focusOnMount}
        aria-label="Find in session"
        placeholder="Find"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return
          if (event.key === 'Enter') step(event.shiftKey ? 1 : -1)
          if (event.key === 'Escape') {
            event.stopPropagation()
            onClose()
          }
        }}
        className="h-full min-w-0 grow bg-transparent text-12 outline-none"
      />
      <span role="status" className="figures shrink-0 px-4 text-11 text-muted">
        {words}
      </span>
      <IconButton icon={ArrowUp} label="Earlier" size="small" onClick={() => step(-1)} />
      <IconButton icon={ArrowDown} label="Later" size="small" onClick={() => step(1)} />
      <IconButton icon={X} label="Close find" size="small" onClick={onClose} />
    </div>
  )
}
