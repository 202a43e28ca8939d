import { Archive, ArchiveRestore, Download, GitFork, Link, MailOpen, PenLine, Pin, PinOff, Trash2 } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Entry } from '../../preload/contract/session.ts'
import { useCommandKeys } from '../app/commands.ts'
import { useWindow } from '../state/window-store.ts'
import type { MenuItemProps } from '../ui/dropdown-menu.tsx'
import {
  archiveSession,
  copySessionLink,
  deleteSession,
  exportSession,
  forkSession,
  markUnread,
  pinSession,
} from './session-actions.ts'

type Item = (props: MenuItemProps) => ReactNode

/** What can be done to a session (S-53), for the context menu and for the button that opens the same. */
export function SessionMenu({
  entry,
  place,
  Item,
  Separator,
}: {
  entry: Entry
  place: 'list' | 'title'
  Item: Item
  Separator: () => ReactNode
}) {
  const renameKeys = useCommandKeys('session.rename')
  const { id } = entry
  const pinned = entry.pinnedAt !== null
  const archived = entry.archivedAt !== null
  return (
    <>
      {/* After the menu has given the focus back, or the field would lose it at once. */}
      <Item
        icon={PenLine}
        keys={renameKeys}
        onSelect={() => setTimeout(() => useWindow.setState({ renaming: { sessionId: id, place } }), 50)}
      >
        Rename
      </Item>
      <Item icon={pinned ? PinOff : Pin} onSelect={() => void pinSession(id, !pinned)}>
        {pinned ? 'Unpin' : 'Pin'}
      </Item>
      <Item icon={MailOpen} onSelect={() => void markUnread(id)}>
        Mark as unread
      </Item>
      <Item icon={archived ? ArchiveRestore : Archive} onSelect={() => void archiveSession(id, !archived)}>
        {archived ? 'Take out of the archive' : 'Archive'}
      </Item>
      <Separator />
      <Item icon={GitFork} onSelect={() => void forkSession(id)}>
        Fork
      </Item>
      <Item icon={Link} onSelect={() => void copySessionLink(id)}>
        Copy link
      </Item>
      <Item icon={Download} onSelect={() => void exportSession(id, 'md')}>
        Export as Markdown
      </Item>
      <Item icon={Download} onSelect={() => void exportSession(id, 'json')}>
        Export as JSON
      </Item>
      <Item icon={Download} onSelect={() => void exportSession(id, 'html')}>
        Export as HTML
      </Item>
      <Separator />
      <Item icon={Trash2} danger onSelect={() => void deleteSession(id)}>
        Delete
      </Item>
    </>
  )
}
