/** What a turn left running, at its end: named, and one click from gone (T-97, X-425). */
import { useMemo } from 'react'
import type { ExecSession } from '../../preload/contract/session.ts'
import { counted } from '../transcript/amounts.ts'
import { shownText } from '../transcript/shown-text.ts'
import { useView } from '../state/session-store.ts'
import { Button } from '../ui/button.tsx'
import { StopExec } from './exec-strip.tsx'
import { showExec, stopExec } from './exec-tabs.ts'

const none: ExecSession[] = []

export function ExecSurvivors({ sessionId, turnId }: { sessionId: string; turnId: string }) {
  const sessions = useView(sessionId, (view) => view.execSessions, none)
  const left = useMemo(
    () => sessions.filter((one) => one.turnId === turnId && one.state !== 'ended'),
    [sessions, turnId],
  )
  if (left.length === 0) return null
  return (
    <div className="flex w-full flex-wrap items-center gap-x-8 gap-y-2 text-12 text-muted">
      <span>{counted(left.length, 'process', 'processes')} still running:</span>
      {left.map((session) => (
        <span key={session.id} className="inline-flex min-w-0 items-center">
          <Button size="small" variant="ghost" onClick={() => showExec(sessionId, session)}>
            <span className="figures">{session.id}</span>
            <code className="max-w-240 truncate">{shownText(session.preview)}</code>
          </Button>
          <StopExec sessionId={sessionId} session={session} label="Stop it" />
        </span>
      ))}
      {left.length > 1 && (
        <Button
          acts
          size="small"
          variant="ghost"
          onClick={() => void Promise.all(left.map(({ id }) => stopExec(sessionId, id)))}
        >
          Stop them all
        </Button>
      )}
    </div>
  )
}
