/** Comments between the lines of a change: being written, and waiting to go to the agent (F-912). */
import { MessageSquareText, Pencil, X } from 'lucide-react'
import { type KeyboardEvent, useState } from 'react'
import { commentCharsMax } from '../../preload/contract/limits.ts'
import type { Comment } from '../../preload/contract/change-routes.ts'
import { focusOnMount } from '../app/focus-on-mount.ts'
import { linesText } from '../composer/comments.ts'
import { Shown } from '../transcript/shown.tsx'
import { Button } from '../ui/button.tsx'
import { IconButton } from '../ui/icon-button.tsx'

export function LineComment({
  comment,
  onSave,
  onRemove,
}: {
  comment: Comment
  onSave: (text: string) => void
  onRemove: () => void
}) {
  const [editing, setEditing] = useState(false)
  const lines = linesText(comment)
  if (editing)
    return (
      <CommentField
        lines={lines}
        text={comment.text}
        onSave={(text) => {
          setEditing(false)
          onSave(text)
        }}
        onCancel={() => setEditing(false)}
      />
    )
  return (
    <div
      role="group"
      aria-label={`Comment on line ${lines}`}
      className="flex items-start gap-6 border-y border-line bg-note-soft py-4 pr-4 pl-10 font-sans text-12"
    >
      <MessageSquareText size={13} strokeWidth={1.75} aria-hidden className="mt-4 shrink-0 text-note" />
      <Shown text={comment.text} className="min-w-0 grow py-2 whitespace-pre-wrap text-ink [overflow-wrap:anywhere]" />
      <IconButton acts icon={Pencil} label="Edit comment" size="small" onClick={() => setEditing(true)} />
      <IconButton acts icon={X} label="Remove comment" size="small" onClick={onRemove} />
    </div>
  )
}

export function CommentField({
  lines,
  text: before = '',
  onSave,
  onCancel,
}: {
  lines: string
  text?: string
  onSave: (text: string) => void
  onCancel: () => void
}) {
  const [text, setText] = useState(before)
  const save = () => text.trim() !== '' && onSave(text.trim())
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') onCancel()
    else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) save()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div className="border-y border-line bg-side p-8 font-sans">
      <textarea
        ref={focusOnMount}
        aria-label={`Comment on line ${lines}`}
        placeholder="What should the agent know or do here?"
        rows={2}
        maxLength={commentCharsMax}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
        className="block max-h-200 min-h-48 w-full resize-none rounded-6 border border-line-control bg-field px-8 py-4 text-13 text-ink [field-sizing:content] focus-visible:outline-2 focus-visible:-outline-offset-1 focus-visible:outline-focus"
      />
      <div className="mt-6 flex items-center justify-end gap-4">
        <span className="mr-auto text-11 text-faint">It goes with your next message.</span>
        <Button size="small" variant="ghost" onClick={onCancel}>
          Cancel
        </Button>
        <Button size="small" variant="primary" disabled={text.trim() === ''} onClick={save}>
          {before === '' ? 'Add comment' : 'Save comment'}
        </Button>
      </div>
    </div>
  )
}
