import { useEffect, useState } from 'react'
import { useSessionHandle } from '../state/session-store.ts'
import { announcementsOf } from './announcements.ts'
import { statusText } from './status-text.ts'

const statusEveryMs = 5_000

/** The two live regions of a session. The transcript itself is silent: it would read every letter. */
export function Announcer({ sessionId }: { sessionId: string }) {
  const { store } = useSessionHandle(sessionId)
  const [polite, setPolite] = useState('')
  const [assertive, setAssertive] = useState('')

  useEffect(() => {
    let saidAt = 0
    let saidKind: string | undefined
    return store.subscribe(({ view }, { view: before }) => {
      if (!view || !before || view === before || view.journalId !== before.journalId) return
      const found = announcementsOf(before, view)
      if (found.assertive.length > 0) setAssertive(found.assertive.join(' '))
      if (found.polite.length > 0) setPolite(found.polite.join(' '))
      const status = view.turn?.status
      if (!status || status.kind === saidKind || found.polite.length > 0 || Date.now() - saidAt < statusEveryMs) return
      saidAt = Date.now()
      saidKind = status.kind
      setPolite(statusText(status, Date.now()).words)
    })
  }, [store])

  return (
    <>
      <div aria-live="polite" className="sr-only">
        {polite}
      </div>
      <div aria-live="assertive" className="sr-only">
        {assertive}
      </div>
    </>
  )
}
