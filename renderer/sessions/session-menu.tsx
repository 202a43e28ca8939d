import { Archive, ArchiveRestore, Download, GitFork, Link, MailOpen, PenLine, Pin, PinOff, Trash2 } from 'lucide-react'
import type { Entry } from '../../preload/contract/session.ts'
import { useCommandKeys } from '../app/commands.ts'
import { useWindow } from '../state/window-store.ts'
import { MenuItem, MenuSeparator } from '../ui/menu.tsx'
import {
  archiveSession,
  copySessionLink,
  deleteSession,
  exportSession,
  forkSession,
  markUnread,
  pinSession,
} from './session-actions.ts'

/** What can be done to a session (S-53), for the context menu and for the button that opens the same. */
export function SessionMenu({ entry, place }: { entry: Entry; place: 'list' | 'title' }) {
  const renameKeys = useCommandKeys('session.rename')
  const { id } = entry
  const pinned = entry.pinnedAt !== null
  const archived = entry.archivedAt !== null
  return (
    <>
      {/* After the menu has given the focus back, or the field would lose it at once. */}
      <MenuItem
        acts
        icon={PenLine}
        keys={renameKeys}
        onSelect={() => setTimeout(() => useWindow.setState({ renaming: { sessionId: id, place } }), 50)}
      >
        Rename
      </MenuItem>
      <MenuItem acts icon={pinned ? PinOff : Pin} onSelect={() => void pinSession(id, !pinned)}>
        {pinned ? 'Unpin' : 'Pin'}
      </MenuItem>
      <MenuItem acts icon={MailOpen} onSelect={() => void markUnread(id)}>
        Mark as unread
      </MenuItem>
      <MenuItem acts icon={archived ? ArchiveRestore : Archive} onSelect={() => void archiveSession(id, !archived)}>
        {archived ? 'Take out of the archive' : 'Archive'}
      </MenuItem>
      <MenuSeparator />
      <MenuItem acts icon={GitFork} onSelect={() => void forkSession(id)}>
        Fork
      </MenuItem>
      <MenuItem icon={Link} onSelect={() => void copySessionLink(id)}>
        Copy link
      </MenuItem>
      <MenuItem icon={Download} onSelect={() => void exportSession(id, 'md')}>
        Export as Markdown
      </MenuItem>
      <MenuItem icon={Download} onSelect={() => void exportSession(id, 'json')}>
        Export as JSON
      </MenuItem>
      <MenuItem icon={Download} onSelect={() => void exportSession(id, 'html')}>
        Export as HTML
      </MenuItem>
      <MenuSeparator />
      <MenuItem acts icon={Trash2} danger onSelect={() => void deleteSession(id)}>
        Delete
      </MenuItem>
    </>
  )
}
