import {
  CircleAlert,
  CircleCheck,
  CirclePause,
  CircleSlash,
  FileDiff,
  type LucideIcon,
  Play,
  Redo2,
  RotateCw,
  Undo2,
} from 'lucide-react'
import type { Turn } from '../../../preload/contract/session.ts'
import { attempt } from '../../app/attempt.ts'
import { countFiles } from '../../changes/change-scope.ts'
import { useSessionController, useView } from '../../state/session-store.ts'
import { showDialog, showInspector } from '../../state/window-store.ts'
import { Button } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { IconButton } from '../../ui/icon-button.tsx'
import { Tooltip } from '../../ui/tooltip.tsx'
import { durationText } from '../../ui/time-text.ts'
import { ExecSurvivors } from '../../terminal/exec-survivors.tsx'
import { costText, counted, tokensText } from '../amounts.ts'
import { Counts } from '../counts.tsx'
import { canGoOn, outcomeWords } from '../outcome.ts'
import type { RowOf } from '../rows.ts'
import { useSessionId } from '../transcript-context.ts'

const marks: Record<NonNullable<Turn['outcome']>, { icon: LucideIcon; tone: string }> = {
  completed: { icon: CircleCheck, tone: 'text-ok' },
  stopped: { icon: CirclePause, tone: 'text-muted' },
  failed: { icon: CircleAlert, tone: 'text-failed' },
  interrupted: { icon: CircleSlash, tone: 'text-needs' },
}

/** The end of a turn, drawn from its row (S-63): outcome, how long, which model, tokens, files changed. */
export function TurnEndRow({ row: { turn, changes, newest, unfinished } }: { row: RowOf<'turnEnd'> }) {
  const sessionId = useSessionId()
  const controller = useSessionController(sessionId)
  const idle = useView(sessionId, canGoOn, false)
  if (!turn.outcome) return null
  const { icon: Icon, tone } = marks[turn.outcome]
  const { input, output, total, cost } = turn.usage
  const tokens = total ?? (input !== null || output !== null ? (input ?? 0) + (output ?? 0) : null)
  const files = countFiles(changes)
  const isUndone = files > 0 && changes.every(({ undone }) => undone)
  const sum = (of: 'added' | 'removed') => changes.reduce((all, file) => all + (file[of] ?? 0), 0)
  return (
    <div className="mt-4 mb-8 flex min-h-28 flex-wrap items-center gap-x-6 gap-y-2 text-11 text-faint">
      <span
        className={classNames(
          'inline-flex items-center gap-6 text-12',
          turn.outcome === 'completed' ? 'text-muted' : tone,
        )}
      >
        <Icon size={14} strokeWidth={1.75} aria-hidden className={tone} />
        {outcomeWords(turn)}
      </span>
      {turn.durationMs !== null && (
        <Fact
          label={turn.waitedMs >= 1_000 ? `Waited for you ${durationText(turn.waitedMs)} of it` : 'How long it took'}
        >
          {durationText(turn.durationMs)}
        </Fact>
      )}
      <Fact label={turn.servedBy ? `Served by ${turn.servedBy}` : 'Model'}>{turn.model}</Fact>
      {turn.agent !== undefined && <Fact label="Agent">{turn.agent}</Fact>}
      {tokens !== null && (
        <Fact
          label={[
            input !== null && `${tokensText(input)} in`,
            output !== null && `${tokensText(output)} out`,
            turn.rate !== null && `${turn.rate} tokens/s`,
          ]
            .filter(Boolean)
            .join(', ')}
        >
          {tokensText(tokens)} tokens
        </Fact>
      )}
      {cost !== null && cost > 0 && <Fact label="Price as reported">{costText(cost)}</Fact>}
      {(files > 0 || (newest && idle)) && (
        <span className="-mr-6 ml-auto flex items-center gap-2">
          {files > 0 && (
            <Button size="small" variant="ghost" onClick={() => showInspector('changes')}>
              <FileDiff size={13} strokeWidth={1.75} aria-hidden />
              {counted(files, 'file')} changed
              <Counts added={sum('added')} removed={sum('removed')} />
            </Button>
          )}
          {files > 0 && idle && (
            <Button
              acts
              size="small"
              variant="ghost"
              aria-label={isUndone ? 'Redo changes' : 'Undo changes'}
              onClick={() => showDialog({ kind: 'undo', sessionId, turnId: turn.id, redo: isUndone })}
            >
              {isUndone ? (
                <Redo2 size={13} strokeWidth={1.75} aria-hidden />
              ) : (
                <Undo2 size={13} strokeWidth={1.75} aria-hidden />
              )}
              {isUndone ? 'Redo' : 'Undo'}
            </Button>
          )}
          {newest && idle && unfinished && (
            <Button
              acts
              size="small"
              variant="ghost"
              onClick={() => void attempt('Could not continue', () => controller.continueTurn(turn.id))}
            >
              <Play size={12} strokeWidth={1.75} aria-hidden /> Continue
            </Button>
          )}
          {newest && idle && (
            <IconButton
              acts
              icon={RotateCw}
              label="Try this turn again"
              size="small"
              onClick={() => void attempt('Could not try again', () => controller.retry(turn.id))}
            />
          )}
        </span>
      )}
      <ExecSurvivors sessionId={sessionId} turnId={turn.id} />
    </div>
  )
}

function Fact({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <Tooltip label={label}>
      <span className="figures before:mr-6 before:content-['·']">{children}</span>
    </Tooltip>
  )
}
