/** Steers and follow-ups above the text, in the order they will be read, with what the host lets a person do to each (S-104). */
import { ArrowDown, ArrowUp, CornerDownRight, Pause, Pencil, Play, Send, X, Zap } from 'lucide-react'
import type { ReactNode } from 'react'
import type { FollowUp, Queue, Steer } from '../../preload/contract/session.ts'
import { attempt } from '../app/attempt.ts'
import { useSession, useSessionController, useView } from '../state/session-store.ts'
import { ask } from '../state/window-store.ts'
import { Shown } from '../transcript/shown.tsx'
import { Button } from '../ui/button.tsx'
import { classNames } from '../ui/class-names.ts'
import { IconButton } from '../ui/icon-button.tsx'
import { Spinner } from '../ui/spinner.tsx'
import { toast } from '../ui/toast.tsx'
import { attachmentsText } from './pickers.tsx'
import { composerOf } from './composer-store.ts'

const noSteers: Steer[] = []
const noQueue: Queue = { followUps: [], paused: null }

export function PendingList({ sessionId }: { sessionId: string }) {
  const steers = useView(sessionId, ({ turn }) => turn?.steers ?? noSteers, noSteers)
  const queue = useView(sessionId, ({ header }) => header.queue, noQueue)
  const sending = useSession(sessionId, ({ unsent }) => unsent)
  const waiting = sending.filter((one) => one.as !== 'turn' && one.refusal === null)
  if (steers.length === 0 && queue.followUps.length === 0 && waiting.length === 0) return null
  return (
    <div className="flex max-h-[24vh] flex-col gap-2 overflow-auto">
      {steers.length > 0 && (
        <ul aria-label="Steers">
          {steers.map((steer) => (
            <SteerLine key={steer.id} sessionId={sessionId} steer={steer} />
          ))}
        </ul>
      )}
      {queue.followUps.length > 0 && (
        <section aria-label="Queue">
          {queue.paused && <PausedLine sessionId={sessionId} queue={queue} />}
          <ol aria-label="Queued messages">
            {queue.followUps.map((one, index) => (
              <FollowUpLine key={one.id} sessionId={sessionId} one={one} index={index} all={queue.followUps} />
            ))}
          </ol>
        </section>
      )}
      {waiting.map((one) => (
        <Line key={one.requestId} icon={<Spinner size={12} />} text={one.text} files={one.attachments.length} dim />
      ))}
    </div>
  )
}

function Line({
  icon,
  text,
  files,
  dim = false,
  children,
}: {
  icon: ReactNode
  text: string
  files: number
  dim?: boolean
  children?: ReactNode
}) {
  return (
    <div
      className={classNames(
        'group/pending flex min-h-28 items-center gap-8 rounded-6 pr-2 pl-8 text-13 hover:bg-hover',
        dim && 'opacity-60',
      )}
    >
      <span className="grid w-14 shrink-0 place-items-center text-faint">{icon}</span>
      <Shown text={text.replaceAll(/\s+/g, ' ').slice(0, 300)} className="min-w-0 grow truncate text-ink" />
      {attachmentsText(files)}
      <span className="flex shrink-0 items-center">{children}</span>
    </div>
  )
}

function SteerLine({ sessionId, steer }: { sessionId: string; steer: Steer }) {
  const controller = useSessionController(sessionId)
  const can = (action: Steer['actions'][number]) => steer.actions.includes(action)

  async function withdraw(): Promise<void> {
    const back = await attempt('Could not take it back', () => controller.withdrawSteer(steer.id))
    if (back) composerOf(sessionId).restore(back)
    else if (back === null) toast.note('The agent has read it already')
  }
  async function sendNow(): Promise<void> {
    const sent = await attempt('Could not send it now', () => controller.sendSteerNow(steer.id))
    if (sent === 'next_step') toast.note('It goes with the next step', { detail: 'What runs now is not cut off.' })
  }
  return (
    <li>
      <Line
        icon={
          steer.state === 'sending' ? (
            <Spinner size={12} />
          ) : (
            <CornerDownRight size={13} strokeWidth={1.75} aria-label="For the running turn" />
          )
        }
        text={steer.text}
        files={steer.attachments.length}
      >
        {can('sendNow') && <IconButton icon={Zap} label="Send now" size="small" onClick={() => void sendNow()} />}
        {can('edit') && (
          <IconButton
            icon={Pencil}
            label="Edit"
            size="small"
            onClick={() => composerOf(sessionId).beginEdit({ kind: 'steer', id: steer.id }, steer)}
          />
        )}
        {can('withdraw') && <IconButton icon={X} label="Take back" size="small" onClick={() => void withdraw()} />}
      </Line>
    </li>
  )
}

function FollowUpLine({
  sessionId,
  one,
  index,
  all,
}: {
  sessionId: string
  one: FollowUp
  index: number
  all: FollowUp[]
}) {
  const controller = useSessionController(sessionId)
  const running = useView(sessionId, ({ header }) => header.currentTurnId !== null, false)
  const quiet = 'opacity-0 group-focus-within/pending:opacity-100 group-hover/pending:opacity-100'
  return (
    <li>
      <Line icon={<span className="figures text-11">{index + 1}</span>} text={one.text} files={one.attachments.length}>
        {index > 0 && (
          <IconButton
            icon={ArrowUp}
            label="Move up"
            size="small"
            className={quiet}
            onClick={() => void attempt('Could not move it', () => controller.moveFollowUp(one.id, all[index - 1]!.id))}
          />
        )}
        {index < all.length - 1 && (
          <IconButton
            icon={ArrowDown}
            label="Move down"
            size="small"
            className={quiet}
            onClick={() =>
              void attempt('Could not move it', () => controller.moveFollowUp(one.id, all[index + 2]?.id ?? null))
            }
          />
        )}
        {running ? (
          <IconButton
            icon={CornerDownRight}
            label="Steer with this now"
            size="small"
            onClick={() => void attempt('Could not steer with it', () => controller.steerFollowUp(one.id))}
          />
        ) : (
          <IconButton
            icon={Send}
            label="Start this now"
            size="small"
            onClick={() => void attempt('Could not start it', () => controller.startFollowUp(one.id))}
          />
        )}
        <IconButton
          icon={Pencil}
          label="Edit"
          size="small"
          onClick={() => composerOf(sessionId).beginEdit({ kind: 'followUp', id: one.id, revision: one.revision }, one)}
        />
        <IconButton
          icon={X}
          label="Take back"
          size="small"
          onClick={() =>
            void attempt('Could not take it back', () => controller.removeFollowUp(one.id)).then(
              (back) => back && composerOf(sessionId).restore(back),
            )
          }
        />
      </Line>
    </li>
  )
}

const pauseWords: Record<NonNullable<Queue['paused']>, string> = {
  stop: 'Paused because you stopped the turn',
  failure: 'Paused because the turn failed',
  recovery: 'Paused after the interruption',
  refused: 'The next message could not start',
  person: 'Paused by you',
}

/** A paused queue waits: nothing of it is sent by itself (K-25). */
function PausedLine({ sessionId, queue }: { sessionId: string; queue: Queue }) {
  const controller = useSessionController(sessionId)
  const first = queue.followUps[0]

  async function clear(): Promise<void> {
    const yes = await ask({
      title: 'Clear the queue?',
      description: `${queue.followUps.length === 1 ? 'The waiting message is' : `All ${queue.followUps.length} waiting messages are`} removed.`,
      confirm: 'Clear',
      danger: true,
    })
    if (yes) await attempt('Could not clear the queue', () => controller.clearFollowUps())
  }
  return (
    <div className="flex min-h-28 items-center gap-8 pr-2 pl-8 text-12 text-muted">
      <Pause size={13} strokeWidth={1.75} aria-hidden className="w-14 shrink-0 text-needs" />
      <span className="min-w-0 grow">
        {queue.paused && pauseWords[queue.paused]}
        {queue.pausedBy && `: ${queue.pausedBy.message}`}
      </span>
      <Button size="small" onClick={() => void attempt('Could not resume', () => controller.resumeQueue())}>
        <Play size={12} strokeWidth={1.75} aria-hidden /> Resume
      </Button>
      {first && (
        <Button
          size="small"
          variant="ghost"
          onClick={() =>
            composerOf(sessionId).beginEdit({ kind: 'followUp', id: first.id, revision: first.revision }, first)
          }
        >
          Edit
        </Button>
      )}
      <Button size="small" variant="ghost" onClick={() => void clear()}>
        Clear
      </Button>
    </div>
  )
}

/** "Pause" while something waits and nothing holds it. */
export function PauseQueue({ sessionId }: { sessionId: string }) {
  const controller = useSessionController(sessionId)
  const waiting = useView(
    sessionId,
    ({ header }) => header.queue.followUps.length > 0 && header.queue.paused === null,
    false,
  )
  if (!waiting) return null
  return (
    <IconButton
      icon={Pause}
      label="Pause the queue"
      size="small"
      onClick={() => void attempt('Could not pause', () => controller.pauseQueue())}
    />
  )
}
