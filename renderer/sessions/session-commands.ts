import { type Command, connected, entry, listed, onSession } from '../app/command.ts'
import { showDialog, useWindow } from '../state/window-store.ts'
import {
  archiveSession,
  copySessionLink,
  deleteSession,
  exportSession,
  forkSession,
  markUnread,
  newSession,
  pinSession,
} from './session-actions.ts'
import { chooseImport } from './session-import.ts'

export const sessionCommands: readonly Command[] = [
  {
    id: 'session.new',
    title: 'New session',
    category: 'Session',
    keys: 'Mod+N',
    when: connected,
    run: () => newSession(),
  },
  {
    id: 'session.rename',
    title: 'Rename session',
    category: 'Session',
    keys: 'F2',
    when: listed,
    run: onSession((id) => useWindow.setState({ renaming: { sessionId: id, place: 'title' } })),
  },
  {
    id: 'session.deleted',
    title: 'Recently deleted sessions',
    category: 'Session',
    when: connected,
    run: () => showDialog({ kind: 'deleted' }),
  },
  {
    id: 'session.fork',
    title: 'Fork session',
    category: 'Session',
    when: listed,
    run: onSession((id) => forkSession(id)),
  },
  {
    id: 'session.pin',
    title: 'Pin or unpin session',
    category: 'Session',
    when: listed,
    run: onSession((id) => pinSession(id, entry()?.pinnedAt == null)),
  },
  {
    id: 'session.archive',
    title: 'Archive session',
    category: 'Session',
    when: listed,
    run: onSession((id) => archiveSession(id, entry()?.archivedAt == null)),
  },
  {
    id: 'session.unread',
    title: 'Mark session as unread',
    category: 'Session',
    when: listed,
    run: onSession(markUnread),
  },
  {
    id: 'session.exportMarkdown',
    title: 'Export session as Markdown',
    category: 'Session',
    when: listed,
    run: onSession((id) => exportSession(id, 'md')),
  },
  {
    id: 'session.exportJson',
    title: 'Export session as JSON',
    category: 'Session',
    when: listed,
    run: onSession((id) => exportSession(id, 'json')),
  },
  {
    id: 'session.exportHtml',
    title: 'Export session as HTML',
    category: 'Session',
    when: listed,
    run: onSession((id) => exportSession(id, 'html')),
  },
  {
    id: 'session.import',
    title: 'Import session…',
    category: 'Session',
    when: connected,
    run: () => chooseImport(),
  },
  {
    id: 'session.copyLink',
    title: 'Copy link to session',
    category: 'Session',
    when: listed,
    run: onSession(copySessionLink),
  },
  { id: 'session.delete', title: 'Delete session', category: 'Session', when: listed, run: onSession(deleteSession) },
]
