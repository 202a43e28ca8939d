/** The session's entries, from the first to what is being written now, however many there are. */
import { useSession, useSessionHandle } from '../state/session-store.ts'
import { ErrorState } from '../ui/error-state.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { Announcer } from './announcer.tsx'
import { MarkdownWorkspace } from './markdown.tsx'
import { RowList } from './row-list.tsx'
import { SessionIdProvider } from './transcript-context.ts'

export function Transcript({ sessionId }: { sessionId: string }) {
  const session = useSessionHandle(sessionId)
  const phase = useSession(sessionId, (state) => state.phase)
  const refusal = useSession(sessionId, (state) => state.refusal)
  const there = useSession(sessionId, ({ view }) => view !== null)
  const workspace = useSession(sessionId, ({ view }) => view?.header.workspace ?? '')
  return (
    <section data-region="transcript" className="relative flex min-h-0 grow flex-col">
      {there ? (
        <SessionIdProvider value={sessionId}>
          <MarkdownWorkspace value={workspace}>
            <RowList key={sessionId} sessionId={sessionId} />
          </MarkdownWorkspace>
        </SessionIdProvider>
      ) : phase === 'refused' && refusal ? (
        <ErrorState
          what="This session could not be opened"
          message={refusal.message}
          hint={refusal.hint}
          code={refusal.code}
          onRetry={session.reopen}
        />
      ) : (
        <div className="mx-auto w-full max-w-784 px-24 pt-48">
          <Skeleton label="Loading the transcript" lines={[0.5, 0.9, 0.8, 0.35]} />
        </div>
      )}
      <Announcer sessionId={sessionId} />
    </section>
  )
}
