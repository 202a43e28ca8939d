/** The rows of a session as it stands in this window, what is opened in it and what is on its way. */
import { useMemo, useState } from 'react'
import { useStore } from 'zustand'
import type { SessionView } from '../../preload/contract/session.ts'
import { shownView } from '../state/session-state.ts'
import { useSession } from '../state/session-store.ts'
import { useSetting } from '../state/workbench-store.ts'
import { type Row, rowBuilder } from './rows.ts'
import { transcriptView } from './view-state.ts'

type Rows = { rows: Row[] } & Pick<SessionView, 'itemsBefore' | 'itemsAfter'> & Pick<SessionView['header'], 'itemCount'>

export function useRows(sessionId: string): Rows {
  const view = useSession(sessionId, shownView)!
  const unsent = useSession(sessionId, (state) => state.unsent)
  const opened = useStore(transcriptView(sessionId), (state) => state.opened)
  const foldOver = useSetting('transcript.foldOver')
  const [build] = useState(rowBuilder)
  const rows = useMemo(() => build(view, unsent, opened, foldOver), [build, view, unsent, opened, foldOver])
  return { rows, itemsBefore: view.itemsBefore, itemsAfter: view.itemsAfter, itemCount: view.header.itemCount }
}
