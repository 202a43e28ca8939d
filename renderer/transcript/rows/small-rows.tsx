/** Rows of a line or two: decisions as they stand in the transcript, notices, what could not be sent, what is not known here. */
import { CircleHelp, Clock, Info, Lock, Pencil, RotateCw, ShieldCheck, ShieldX, TriangleAlert, X } from 'lucide-react'
import { attempt } from '../../app/attempt.ts'
import { focusPending } from '../../approvals/focus-pending.ts'
import { composerOf } from '../../composer/composer-store.ts'
import { useSessionController } from '../../state/session-store.ts'
import { Button } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { Spinner } from '../../ui/spinner.tsx'
import { MentionChips } from '../mention-chips.tsx'
import { AttachmentChips } from '../attachment-chips.tsx'
import type { RowOf } from '../rows.ts'
import { Shown } from '../shown.tsx'
import { useSessionId } from '../transcript-context.ts'
import { MessageText } from './user-row.tsx'

const icon = { size: 14, strokeWidth: 1.75, 'aria-hidden': true } as const
const line = 'flex min-h-28 items-center gap-8 py-2 text-13 text-muted'

const approvalEnds = {
  open: 'Waiting for your approval',
  allowed: 'Allowed',
  denied: 'Denied',
  nobody_answered: 'Nobody answered',
  cancelled: 'Withdrawn',
  interrupted: 'Interrupted before an answer',
}

/** An approval in its place. The card with the buttons is pinned above the message, so that it is never scrolled away. */
export function ApprovalRow({ row: { item } }: { row: RowOf<'approval'> }) {
  const open = item.state === 'open'
  return (
    <div className={classNames(line, open && 'text-needs')}>
      {open ? (
        <Clock {...icon} className="shrink-0" />
      ) : item.state === 'allowed' ? (
        <ShieldCheck {...icon} className="shrink-0" />
      ) : (
        <ShieldX {...icon} className="shrink-0" />
      )}
      <span className="shrink-0">{approvalEnds[item.state]}</span>
      <Shown
        text={item.request.detailKind === 'command' ? item.request.detail.trim().split('\n')[0]! : item.request.title}
        className="min-w-0 truncate font-mono text-12"
      />
      {item.feedback && <span className="min-w-0 truncate text-faint">· “{item.feedback}”</span>}
      {open && (
        <Button size="small" variant="ghost" className="ml-auto" acts onClick={focusPending}>
          Show
        </Button>
      )}
    </div>
  )
}

const questionEnds = {
  open: 'Waiting for your answer',
  answered: 'You answered',
  declined: 'You declined',
  blank: 'You left it open',
  expired: 'No answer in time',
  cancelled: 'Withdrawn',
  interrupted: 'Interrupted before an answer',
  unattended: 'Nobody was there to answer',
}

export function QuestionRow({ row: { item } }: { row: RowOf<'question'> }) {
  const open = item.state === 'open'
  const Icon = item.ask === 'secret' ? Lock : CircleHelp
  return (
    <div className="py-6">
      <div className={classNames('flex items-start gap-8 text-13', open ? 'text-needs' : 'text-muted')}>
        <Icon {...icon} className="mt-3 shrink-0" />
        <div className="min-w-0 grow">
          <p className="break-words whitespace-pre-wrap text-ink">
            <Shown text={item.text} />
          </p>
          <p className="mt-2">
            {questionEnds[item.state]}
            {item.state === 'answered' && item.answer && (
              <>
                :{' '}
                <span className="break-words text-ink">
                  <Shown text={item.answer} />
                </span>
              </>
            )}
          </p>
        </div>
        {open && (
          <Button size="small" variant="ghost" acts onClick={focusPending}>
            Show
          </Button>
        )}
      </div>
    </div>
  )
}

export function NoticeRow({ row: { item } }: { row: RowOf<'notice'> }) {
  const Icon = item.level === 'info' ? Info : TriangleAlert
  const tone = item.level === 'info' ? 'text-note' : item.level === 'warning' ? 'text-needs' : 'text-failed'
  return (
    <div className="flex items-start gap-8 py-4 text-13 text-muted">
      <Icon {...icon} className={classNames('mt-3 shrink-0', tone)} />
      <p className="min-w-0 break-words whitespace-pre-wrap">
        <span className="sr-only">
          {item.level === 'info' ? 'Note: ' : item.level === 'warning' ? 'Warning: ' : 'Error: '}
        </span>
        <Shown text={item.text} />
      </p>
    </div>
  )
}

/** A message on its way, or the one that was refused: the words stay, with the reason and a way on (T-3). */
export function UnsentRow({ row: { unsent } }: { row: RowOf<'unsent'> }) {
  const sessionId = useSessionId()
  const controller = useSessionController(sessionId)
  const { requestId, text, attachments, mentions, refusal } = unsent
  return (
    <div
      className={classNames(
        'mt-20 mb-8 rounded-8 border px-12 py-10',
        refusal ? 'border-failed/50 bg-failed-soft/40' : 'border-line bg-sunken',
      )}
    >
      {text !== '' && <MessageText text={text} />}
      {attachments.length > 0 && <AttachmentChips attachments={attachments} className="mt-8" />}
      {mentions && (
        <MentionChips
          mentions={mentions}
          missing={refusal?.code === 'mention.missing' ? String(refusal.data?.['ref']) : null}
          className="mt-8"
        />
      )}
      {refusal ? (
        <div className="mt-8 flex flex-wrap items-center gap-8 text-12">
          <p className="mr-auto min-w-0 text-muted">
            <span className="font-medium text-failed">Not sent.</span> {refusal.message} {refusal.hint}
          </p>
          <Button size="small" onClick={() => void controller.tryAgain(requestId).catch(() => {})}>
            <RotateCw {...icon} size={13} /> Try again
          </Button>
          <Button
            size="small"
            variant="ghost"
            onClick={() => {
              const message = controller.takeUnsent(requestId)
              if (message) composerOf(sessionId).restore(message)
            }}
          >
            <Pencil {...icon} size={13} /> Edit
          </Button>
          <Button size="small" variant="ghost" onClick={() => controller.takeUnsent(requestId)}>
            <X {...icon} size={13} /> Discard
          </Button>
        </div>
      ) : (
        <p className="mt-6 flex items-center gap-6 text-11 text-faint">
          <Spinner size={11} /> Sending
        </p>
      )}
    </div>
  )
}

const recoveryWords = {
  confirm: ['Interrupted, nothing is running', 'What was finished is kept. You decide whether it goes on.'],
  tool_state_unknown: ['Interrupted during a tool call', ''],
  loop_guard: ['Interrupted again while continuing', 'What was finished is kept.'],
  unknown_format: ['Could not be restored', 'It was written by a newer Lathe. What could be read is kept.'],
  invalid_format: ['Could not be restored', 'Part of its record is damaged. What could be read is kept.'],
  recovery_failed: ['Could not be restored', 'What could be read is kept.'],
} as const

/** After a crash in mid turn: where it stopped, and the person's decision (S-43). */
export function RecoveryRow({ row: { recovery } }: { row: RowOf<'recovery'> }) {
  const controller = useSessionController(useSessionId())
  const { recoveryId, turnId, reason, tool, canContinue } = recovery
  const [title, text] = recoveryWords[reason]
  return (
    <section
      aria-label="Interrupted turn"
      className="my-12 rounded-8 border border-needs/40 bg-needs-soft/50 px-12 py-10"
    >
      <h3 className="flex items-center gap-8 text-13 font-medium text-ink">
        <TriangleAlert {...icon} className="shrink-0 text-needs" /> {title}
      </h3>
      <p className="mt-4 ml-24 text-13 text-muted">
        {reason === 'tool_state_unknown' ? (
          <>
            <Shown text={tool ?? 'A tool call'} className="font-mono text-12 text-ink" /> may or may not have run. Look
            before you continue.
          </>
        ) : (
          text
        )}
      </p>
      <div className="mt-8 ml-24 flex gap-8">
        {canContinue && (
          <Button
            acts
            size="small"
            variant="primary"
            onClick={() => void attempt('Could not continue', () => controller.continueRecovery(recoveryId))}
          >
            Continue
          </Button>
        )}
        <Button acts size="small" onClick={() => void attempt('Could not try again', () => controller.retry(turnId))}>
          Retry
        </Button>
        <Button
          acts
          size="small"
          variant="ghost"
          onClick={() => void attempt('Could not dismiss', () => controller.dismissRecovery(recoveryId))}
        >
          Dismiss
        </Button>
      </div>
    </section>
  )
}

/** An entry from a newer Lathe. */
export function UnknownRow({ row: { named } }: { row: RowOf<'unknown'> }) {
  return (
    <p className={line}>
      <CircleHelp {...icon} className="shrink-0" /> An entry this version cannot show ({named})
    </p>
  )
}
