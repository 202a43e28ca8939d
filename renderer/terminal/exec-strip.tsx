/** What runs in the background of a session, above the message: each with how long, "Open" and "Stop" (exec.md 4). */
import { SquareTerminal } from 'lucide-react'
import { useMemo } from 'react'
import type { ExecSession } from '../../preload/contract/session.ts'
import { shownText } from '../transcript/shown-text.ts'
import { useView } from '../state/session-store.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Duration } from '../ui/duration.tsx'
import { showExec, stopExec } from './exec-tabs.ts'

const none: ExecSession[] = []

export function ExecStrip({ sessionId }: { sessionId: string }) {
  const sessions = useView(sessionId, (view) => view.execSessions, none)
  const running = useMemo(() => sessions.filter(({ state }) => state !== 'ended'), [sessions])
  if (running.length === 0) return null
  return (
    <ul
      aria-label="Running processes"
      className="max-h-120 overflow-y-auto rounded-8 border border-line bg-raised py-2 text-12"
    >
      {running.map((session) => (
        <li key={session.id} className="flex h-28 items-center gap-8 pr-4 pl-10">
          <SquareTerminal size={13} strokeWidth={1.75} aria-hidden className="shrink-0 text-running" />
          <span className="figures shrink-0 text-muted">{session.id}</span>
          <code className="min-w-0 truncate" title={shownText(session.preview)}>
            {shownText(session.preview)}
          </code>
          <ExecBadges session={session} />
          <span className="grow" />
          <Duration from={session.startedAt} className="text-11 text-faint" />
          <Button size="small" variant="ghost" onClick={() => showExec(sessionId, session)}>
            Open
          </Button>
          <StopExec sessionId={sessionId} session={session} label="Stop" />
        </li>
      ))}
    </ul>
  )
}

export function ExecBadges({ session }: { session: ExecSession }) {
  return (
    <>
      {session.owner === 'person' && <Badge>Yours</Badge>}
      {session.label === 'background' && <Badge>Background</Badge>}
      {session.subagent && <Badge>{shownText(session.subagent.label)}</Badge>}
      {session.questionId !== undefined && <Badge tone="needs">Waiting for you</Badge>}
      {session.held && <Badge tone="accent">You have the keyboard</Badge>}
    </>
  )
}

export function StopExec({ sessionId, session, label }: { sessionId: string; session: ExecSession; label: string }) {
  return (
    <Button
      size="small"
      variant="ghost"
      busy={session.state === 'stopping'}
      aria-label={`${label} ${session.id}`}
      onClick={() => void stopExec(sessionId, session.id)}
    >
      {label}
    </Button>
  )
}
