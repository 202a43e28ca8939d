/** Find in the session on screen (S-69): in all of it, loaded or not, and in what is being written. */
import { useEffect, useEffectEvent, useState } from 'react'
import { useSessionController } from '../state/session-store.ts'
import { useWindow } from '../state/window-store.ts'
import { FindBar } from '../ui/find-bar.tsx'

const quietMs = 200

type Found = { text: string; itemIds: string[]; more: boolean; at: number }

export function SessionFind({ sessionId, onClose }: { sessionId: string; onClose: () => void }) {
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

  const said =
    found === null || text.trim() === ''
      ? ''
      : found.itemIds.length === 0
        ? 'Nothing found'
        : `${found.at + 1} of ${found.itemIds.length}${found.more ? '+' : ''}`
  return <FindBar label="Find in session" {...{ text, said, onClose }} onText={setText} onStep={step} upwards />
}
