/** All that stands below the transcript: what waits for the person, what runs, what is queued, and the message. */
import { PendingDecisions } from '../approvals/pending-decisions.tsx'
import { useView } from '../state/session-store.ts'
import { ExecStrip } from '../terminal/exec-strip.tsx'
import { FilesInWriting } from '../transcript/files-in-writing.tsx'
import { TurnStatus } from '../transcript/turn-status.tsx'
import { useMayAct } from '../ui/acting.ts'
import { MessageBox } from './message-box.tsx'
import { PendingList } from './pending-list.tsx'
import { SessionRemarks } from './session-remarks.tsx'
import { SubagentBar } from './subagent-bar.tsx'
import { Watching } from './watching.tsx'

export function Composer({ sessionId }: { sessionId: string }) {
  const mayAct = useMayAct()
  const parent = useView(sessionId, ({ header }) => header.parent ?? null, null)
  return (
    <section data-region="composer" aria-label="Composer" className="shrink-0 px-24 pb-16">
      <div className="mx-auto flex w-full max-w-736 flex-col gap-6">
        {mayAct && <PendingDecisions sessionId={sessionId} />}
        <FilesInWriting sessionId={sessionId} />
        <TurnStatus sessionId={sessionId} />
        {parent ? (
          <SubagentBar parent={parent} />
        ) : mayAct ? (
          <>
            <SessionRemarks sessionId={sessionId} />
            <ExecStrip sessionId={sessionId} />
            <PendingList sessionId={sessionId} />
            <MessageBox key={sessionId} sessionId={sessionId} />
          </>
        ) : (
          <Watching />
        )}
      </div>
    </section>
  )
}
