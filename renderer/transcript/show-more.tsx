import { attempt } from '../app/attempt.ts'
import type { Item } from '../../preload/contract/items.ts'
import { useSessionController } from '../state/session-store.ts'
import { Button } from '../ui/button.tsx'
import { counted } from './amounts.ts'
import { useSessionId } from './transcript-context.ts'

/** Below a text that came shortened: loads the rest (S-58). */
export function ShowMore({ item: { id, omitted } }: { item: Item }) {
  const controller = useSessionController(useSessionId())
  if (omitted === undefined) return null
  return (
    <Button
      size="small"
      variant="ghost"
      className="mt-4 -ml-8"
      onClick={() => void attempt('Could not load the rest', () => controller.loadItem(id))}
    >
      Show more ({counted(omitted, 'character')})
    </Button>
  )
}

/** What copying a text gives: always all of it. */
export function useWholeText(item: Extract<Item, { text: string }>): string | (() => Promise<string>) {
  const controller = useSessionController(useSessionId())
  if (item.omitted === undefined) return item.text
  return async () => {
    const whole = await controller.loadItem(item.id)
    return 'text' in whole ? whole.text : item.text
  }
}
