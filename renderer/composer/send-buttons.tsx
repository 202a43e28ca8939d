import { ArrowUp, CornerDownRight, ListPlus, Square } from 'lucide-react'
import { shownKeys } from '../app/keys.ts'
import { useSetting } from '../state/workbench-store.ts'
import { Button } from '../ui/button.tsx'
import { Tooltip } from '../ui/tooltip.tsx'

/** Its name stays; where the message is narrow the icon stands alone. */
const wordWhereRoom = '@max-[35rem]:sr-only'

type SendButtonsProps = {
  running: 'none' | 'foreground' | 'background'
  commandMode: boolean
  /** There is nothing that could be sent. */
  off: boolean
  stopping: boolean
  onSend: () => void
  onSteer: () => void
  onQueue: () => void
  onRun: () => void
  onStop: () => void
}

/** What can be done with the message: while a turn runs both ways of adding to it, and Stop (T-132). */
export function SendButtons({
  running,
  commandMode,
  off,
  stopping,
  onSend,
  onSteer,
  onQueue,
  onRun,
  onStop,
}: SendButtonsProps) {
  const whileRunning = useSetting('composer.whileRunning')
  const tabQueues = useSetting('composer.tabQueues')
  const enterSends = useSetting('composer.enterSends')
  const enter = enterSends ? 'Enter' : shownKeys('Mod+Enter')
  const other = shownKeys(enterSends ? 'Mod+Enter' : 'Enter')
  const steerKeys = running === 'background' ? other : whileRunning === 'steer' ? enter : enterSends ? other : undefined
  const queueKeys = tabQueues ? 'Tab' : whileRunning === 'queue' ? enter : enterSends ? other : undefined
  return (
    <>
      {running !== 'none' && !commandMode && (
        <>
          <Tooltip label="Send it after this turn" keys={queueKeys} side="top">
            <Button size="small" variant="ghost" disabled={off} onClick={onQueue}>
              <ListPlus size={13} strokeWidth={1.75} aria-hidden /> <span className={wordWhereRoom}>Queue</span>
            </Button>
          </Tooltip>
          <Tooltip label="Give it to the running turn" keys={steerKeys} side="top">
            <Button size="small" variant="ghost" disabled={off} onClick={onSteer}>
              <CornerDownRight size={13} strokeWidth={1.75} aria-hidden />{' '}
              <span className={wordWhereRoom}>Steer now</span>
            </Button>
          </Tooltip>
        </>
      )}
      {running !== 'none' && (
        <Tooltip label="Stop the turn" keys="Esc" side="top">
          <Button size="small" busy={stopping} onClick={onStop}>
            <Square size={10} strokeWidth={2} fill="currentColor" aria-hidden /> Stop
          </Button>
        </Tooltip>
      )}
      {commandMode && (
        <Button size="small" variant="primary" disabled={off} onClick={onRun}>
          Run
        </Button>
      )}
      {!commandMode && running !== 'foreground' && (
        <Tooltip label="Send" keys={enter} side="top">
          <button
            type="button"
            aria-label="Send"
            disabled={off}
            onClick={onSend}
            className="grid size-28 shrink-0 place-items-center rounded-8 bg-accent text-on-accent transition-colors hover:bg-accent-hover disabled:bg-pressed disabled:text-disabled"
          >
            <ArrowUp size={16} strokeWidth={2} aria-hidden />
          </button>
        </Tooltip>
      )}
    </>
  )
}
