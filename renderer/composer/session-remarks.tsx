/** Short facts of the session above the message: its notices, and that automatic work waits for the person. */
import { CirclePause, Info, ShieldAlert, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { attempt } from '../app/attempt.ts'
import type { Notice } from '../../preload/contract/session.ts'
import { askForTrust } from '../sessions/session-actions.ts'
import { useSessionController, useView } from '../state/session-store.ts'
import { useTrusted } from '../state/workbench-store.ts'
import { Shown } from '../transcript/shown.tsx'
import { Button } from '../ui/button.tsx'

const none: Notice[] = []
const icon = { size: 13, strokeWidth: 1.75, 'aria-hidden': true } as const

export function SessionRemarks({ sessionId }: { sessionId: string }) {
  const controller = useSessionController(sessionId)
  const notices = useView(sessionId, ({ header }) => header.notices, none)
  const folder = useView(sessionId, ({ header }) => header.workspace, '')
  const untrusted = !useTrusted(folder) && folder !== ''
  const waiting = useView(sessionId, ({ header }) => header.automaticHeld?.waiting ?? 0, 0)
  // Only worth a word where something automatic waits, or may come.
  const held = useView(
    sessionId,
    ({ header, turns, execSessions }) =>
      header.automaticHeld !== null &&
      (header.automaticHeld.waiting > 0 ||
        turns.some((turn) => turn.origin === 'background' || turn.source === 'goal') ||
        execSessions.some((one) => one.wakes && one.state !== 'ended')),
    false,
  )
  if (notices.length === 0 && !held && !untrusted) return null
  return (
    <div className="flex flex-col">
      {untrusted && (
        <Remark icon={<ShieldAlert {...icon} className="text-needs" />}>
          This folder is not trusted, so the agent only reads.
          <Button size="small" variant="ghost" className="ml-8" onClick={() => void askForTrust(folder)}>
            Trust…
          </Button>
        </Remark>
      )}
      {notices.map((notice) => (
        <Remark
          key={notice.key}
          icon={
            notice.level === 'info' ? (
              <Info {...icon} className="text-note" />
            ) : (
              <TriangleAlert {...icon} className={notice.level === 'error' ? 'text-failed' : 'text-needs'} />
            )
          }
        >
          <Shown text={notice.text} />
        </Remark>
      ))}
      {held && (
        <Remark icon={<CirclePause {...icon} className="text-needs" />}>
          Automatic work paused until your next message
          {waiting > 0 && <span className="text-faint"> · {waiting} waiting</span>}
          <Button
            size="small"
            variant="ghost"
            className="ml-8"
            onClick={() => void attempt('Could not resume', () => controller.releaseHold())}
          >
            Resume
          </Button>
        </Remark>
      )}
    </div>
  )
}

function Remark({ icon: mark, children }: { icon: ReactNode; children: ReactNode }) {
  return (
    <p className="flex min-h-24 items-center gap-8 px-8 text-12 text-muted">
      <span className="shrink-0">{mark}</span>
      <span className="min-w-0">{children}</span>
    </p>
  )
}
