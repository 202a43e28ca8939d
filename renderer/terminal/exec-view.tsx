/** An exec session in the terminal pane: watched, taken over, handed back, stopped. */
import { Keyboard, KeyboardOff } from 'lucide-react'
import type { ExecSession } from '../../preload/contract/session.ts'
import { useView } from '../state/session-store.ts'
import { Button } from '../ui/button.tsx'
import { Duration } from '../ui/duration.tsx'
import { ExecBadges, StopExec } from './exec-strip.tsx'
import { type ExecTab, holdExec } from './exec-tabs.ts'
import TerminalView from './terminal-view.tsx'

const noRename = () => {}

export default function ExecView({ tab, active }: { tab: ExecTab; active: boolean }) {
  const { sessionId, execId } = tab
  const session = useView(sessionId, (view) => view.execSessions.find(({ id }) => id === execId) ?? null, null)
  const running = session !== null && session.state !== 'ended'
  const drives = running && session.tty && (session.owner === 'person' || session.held === true)
  const terminal = {
    id: tab.id,
    title: tab.title,
    workspace: tab.workspace,
    folder: tab.workspace,
    profile: '',
    program: '',
    state: running ? ('running' as const) : ('exited' as const),
    exitCode: session?.end?.exitCode ?? null,
    busy: false,
    createdAt: session?.startedAt ?? 0,
  }
  return (
    <>
      {session && (
        <div className="flex h-32 shrink-0 items-center gap-8 border-b border-line bg-raised pr-6 pl-10 text-12 text-muted">
          <span className="truncate">{whoDrives(session)}</span>
          <ExecBadges session={session} />
          <span className="grow" />
          {running && <Duration from={session.startedAt} className="text-11 text-faint" />}
          {running && session.tty && session.owner === 'agent' && (
            <Button acts size="small" onClick={() => void holdExec(sessionId, execId, !session.held)}>
              {session.held ? (
                <KeyboardOff size={13} strokeWidth={1.75} aria-hidden />
              ) : (
                <Keyboard size={13} strokeWidth={1.75} aria-hidden />
              )}
              {session.held ? 'Hand back' : 'Take over'}
            </Button>
          )}
          {running && <StopExec sessionId={sessionId} session={session} label="Stop" />}
        </div>
      )}
      <TerminalView terminal={terminal} onRename={noRename} active={active} exec={{ drives }} />
    </>
  )
}

function whoDrives({ state, owner, held, tty, end }: ExecSession): string {
  if (state === 'ended') return endWords(end)
  if (owner === 'person') return 'Your command; the agent can read it.'
  if (held) return 'The agent looks on until you hand it back.'
  return tty ? 'Run by the agent.' : 'Run by the agent, without a terminal.'
}

function endWords(end: ExecSession['end']): string {
  if (!end) return 'Ended.'
  if (end.reason === 'stopped') return 'Stopped.'
  if (end.reason === 'timed_out') return 'Ended at its time limit.'
  if (end.reason === 'lost' || end.reason === 'shutdown') return 'Ended when Lathe closed.'
  return end.signal ? `Ended by ${end.signal}.` : `Exit ${end.exitCode ?? '?'}.`
}
