import { CornerDownRight, Pencil, Workflow } from 'lucide-react'
import { useState } from 'react'
import { useView } from '../../state/session-store.ts'
import { Button } from '../../ui/button.tsx'
import { IconButton } from '../../ui/icon-button.tsx'
import { AttachmentChips } from '../attachment-chips.tsx'
import { CopyButton } from '../copy-button.tsx'
import { editMessage } from '../item-actions.ts'
import type { RowOf } from '../rows.ts'
import { MentionChips } from '../mention-chips.tsx'
import { ShowMore, useWholeText } from '../show-more.tsx'
import { Shown } from '../shown.tsx'
import { useSessionId } from '../transcript-context.ts'

const linesFolded = 24
const charsFolded = 4_000

/** What the person said, or what said it in their place (S-65). */
export function UserRow({ row: { item, origin, continues } }: { row: RowOf<'user'> }) {
  const whole = useWholeText(item)
  const sessionId = useSessionId()
  const running = useView(sessionId, ({ header }) => header.currentTurnId !== null, false)
  if (continues) {
    return (
      <p className="flex items-center gap-8 py-6 text-12 text-faint">
        <CornerDownRight size={14} strokeWidth={1.75} aria-hidden /> Continued
      </p>
    )
  }
  return (
    <div className="group/user relative mt-20 mb-8 rounded-8 border border-line bg-sunken px-12 py-10">
      {(origin || item.steer) && (
        <p className="mb-4 flex items-center gap-6 text-11 text-faint">
          {origin ? (
            <Workflow size={12} strokeWidth={1.75} aria-hidden />
          ) : (
            <CornerDownRight size={12} strokeWidth={1.75} aria-hidden />
          )}
          {origin ? <Shown text={origin} /> : 'While it worked'}
        </p>
      )}
      {item.text !== '' && <MessageText text={item.text} />}
      <ShowMore item={item} />
      {item.attachments.length > 0 && (
        <AttachmentChips attachments={item.attachments} className={item.text === '' ? '' : 'mt-8'} />
      )}
      {item.mentions && <MentionChips mentions={item.mentions} className="mt-8" />}
      <span className="absolute top-6 right-6 flex bg-sunken opacity-0 group-hover/user:opacity-100 focus-within:opacity-100">
        {!origin && item.source !== 'command' && (
          <IconButton
            acts
            icon={Pencil}
            label={running ? 'Stop and edit' : 'Edit message'}
            size="small"
            onClick={() => void editMessage(sessionId, item)}
          />
        )}
        {item.text !== '' && <CopyButton text={whole} label="Copy message" />}
      </span>
    </div>
  )
}

/** A message as it was typed. A very long one is cut short until it is asked for. */
export function MessageText({ text }: { text: string }) {
  const [whole, setWhole] = useState(false)
  const long = text.length > charsFolded || text.split('\n', linesFolded + 1).length > linesFolded
  return (
    <>
      <p className={`pr-24 text-14 break-words whitespace-pre-wrap text-ink ${long && !whole ? 'line-clamp-12' : ''}`}>
        {long && !whole ? text.slice(0, charsFolded) : text}
      </p>
      {long && (
        <Button
          size="small"
          variant="ghost"
          className="mt-4 -ml-8"
          aria-expanded={whole}
          onClick={() => setWhole(!whole)}
        >
          {whole ? 'Show less' : 'Show all'}
        </Button>
      )}
    </>
  )
}
