import { useRef } from 'react'
import { focusOnMount } from '../app/focus-on-mount.ts'
import { classNames } from '../ui/class-names.ts'
import { renameSession, titleLimit } from './session-actions.ts'

type TitleFieldProps = {
  sessionId: string
  title: string
  className?: string | undefined
  /** Called once it is over, kept or not. */
  onDone: () => void
}

/** Edits a title in place: Enter and leaving it save, Escape restores, empty gives the automatic title back (S-52). */
export function TitleField({ sessionId, title, className, onDone }: TitleFieldProps) {
  const over = useRef(false)
  const finish = (text: string | null) => {
    if (over.current) return
    over.current = true
    if (text !== null) void renameSession(sessionId, text)
    onDone()
  }
  return (
    <input
      ref={focusOnMount}
      aria-label="Session title"
      defaultValue={title}
      maxLength={titleLimit}
      onFocus={(event) => event.currentTarget.select()}
      onBlur={(event) => finish(event.currentTarget.value)}
      onKeyDown={(event) => {
        event.stopPropagation()
        if (event.nativeEvent.isComposing) return
        if (event.key === 'Enter') finish(event.currentTarget.value)
        else if (event.key === 'Escape') finish(null)
      }}
      onClick={(event) => event.stopPropagation()}
      onDoubleClick={(event) => event.stopPropagation()}
      className={classNames(
        'min-w-0 grow rounded-4 border border-line-control bg-field px-4 text-ink outline-2 -outline-offset-1 outline-focus select-text',
        className,
      )}
    />
  )
}
