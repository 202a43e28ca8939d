/** Below a terminal that no longer runs: how it ended, or why it could not start, and what to do about it. */
import { ChevronDown, TriangleAlert } from 'lucide-react'
import type { TerminalState } from '../../preload/contract/events.ts'
import { useMayAct } from '../ui/acting.ts'
import { Button } from '../ui/button.tsx'
import { shownText } from '../transcript/shown-text.ts'
import { ProfileMenu } from './profile-menu.tsx'
import { restartTerminal } from './terminal-actions.ts'
import type { Ended } from './use-terminal.ts'

type TerminalEndProps = { terminal: TerminalState; ended: Ended; isExec: boolean; onClose: () => void }

export function TerminalEnd({ terminal, ended, isExec, onClose }: TerminalEndProps) {
  const { id, workspace, program, state } = terminal
  const mayAct = useMayAct()
  if (state === 'failed' && !isExec && mayAct)
    return (
      <div
        role="alert"
        className="flex shrink-0 flex-wrap items-center gap-x-8 gap-y-4 border-t border-line bg-raised px-12 py-6 text-12"
      >
        <TriangleAlert size={14} strokeWidth={1.75} aria-hidden className="shrink-0 text-failed" />
        <span className="min-w-0 grow truncate">
          <code>{shownText(program)}</code>{' '}
          {ended.exitCode === null ? 'could not be started.' : `ended at once with exit code ${ended.exitCode}.`}
        </span>
        <Button size="small" onClick={() => void restartTerminal(id)}>
          Try again
        </Button>
        <ProfileMenu
          workspace={workspace}
          align="end"
          onChoose={(profile) => void restartTerminal(id, profile)}
          trigger={
            <Button size="small">
              Choose another shell
              <ChevronDown size={13} strokeWidth={1.75} aria-hidden />
            </Button>
          }
        />
        <Button size="small" variant="ghost" onClick={onClose}>
          Close
        </Button>
      </div>
    )
  return (
    <div
      role="status"
      className="flex shrink-0 items-center gap-8 border-t border-line bg-raised px-12 py-4 text-12 text-muted"
    >
      <span className="grow">
        {endWords(ended)} {!mayAct ? '' : isExec ? 'Esc closes.' : 'Enter restarts, Esc closes.'}
      </span>
      {!isExec && (
        <Button acts size="small" onClick={() => void restartTerminal(id)}>
          Restart
        </Button>
      )}
    </div>
  )
}

function endWords({ exitCode, signal }: Ended): string {
  if (signal !== null) return `Ended by ${signal}.`
  return exitCode === null ? 'Ended.' : `Ended with code ${exitCode}.`
}
