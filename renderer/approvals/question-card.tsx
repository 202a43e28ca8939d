import { CircleHelp, Lock } from 'lucide-react'
import { useId, useState } from 'react'
import type { ItemOf } from '../../preload/contract/items.ts'
import { attempt } from '../app/attempt.ts'
import { useSessionController } from '../state/session-store.ts'
import { Shown } from '../transcript/shown.tsx'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { classNames } from '../ui/class-names.ts'
import { useTime } from '../ui/clock.ts'
import { durationText } from '../ui/time-text.ts'
import { useInert } from './inert.ts'

type Question = ItemOf<'question'>

/** The agent asks: choices, words, or a secret that goes to nobody but the tool (T-147, T-151). */
export function QuestionCard({ sessionId, question, depth }: { sessionId: string; question: Question; depth: number }) {
  const controller = useSessionController(sessionId)
  const inert = useInert()
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [text, setText] = useState('')
  const [busy, setBusy] = useState(false)
  const textId = useId()
  const secret = question.ask === 'secret'
  const choosing = question.choices.length > 0 && !secret
  const writing = !choosing || question.allowText
  const ready = !inert && !busy && (chosen.size > 0 || text.trim() !== '')

  function send(answer: Parameters<typeof controller.answerQuestion>[1]): void {
    setBusy(true)
    void attempt('The answer was not taken', () => controller.answerQuestion(question.id, answer)).finally(() => {
      setBusy(false)
      if (secret) setText('')
    })
  }
  function answer(): void {
    if (!ready) return
    if (secret) return send({ secret: text })
    send({ ...(chosen.size > 0 ? { choices: [...chosen] } : {}), ...(text.trim() === '' ? {} : { text }) })
  }
  function touch(): void {
    if (question.expiresAt !== null) controller.touchQuestion(question.id)
  }
  function write(next: string): void {
    touch()
    setText(next)
  }
  function choose(id: string): void {
    touch()
    setChosen((now) => {
      if (!question.multiple) return new Set([id])
      const next = new Set(now)
      if (!next.delete(id)) next.add(id)
      return next
    })
  }

  return (
    <div
      role="group"
      aria-label="Question"
      aria-describedby={textId}
      data-pending
      tabIndex={-1}
      className="animate-rise overflow-hidden rounded-8 border border-needs/60 bg-raised shadow-low outline-offset-2"
    >
      <div className="flex min-h-32 items-start gap-8 bg-needs-soft px-12 py-6">
        {secret ? (
          <Lock size={15} strokeWidth={1.75} aria-hidden className="mt-3 shrink-0 text-needs" />
        ) : (
          <CircleHelp size={15} strokeWidth={1.75} aria-hidden className="mt-3 shrink-0 text-needs" />
        )}
        <p
          id={textId}
          className="max-h-240 min-w-0 grow overflow-auto text-13 font-medium break-words whitespace-pre-wrap text-ink"
        >
          <Shown text={question.text} />
        </p>
        {depth > 1 && <Badge tone="needs">1 of {depth}</Badge>}
      </div>

      {choosing && (
        <div
          role={question.multiple ? 'group' : 'radiogroup'}
          aria-labelledby={textId}
          className="mt-10 flex flex-col gap-4 px-12"
        >
          {question.choices.map((choice) => (
            <label
              key={choice.id}
              className={classNames(
                'flex min-h-32 items-start gap-8 rounded-6 border px-8 py-6 text-13 transition-colors',
                chosen.has(choice.id) ? 'border-accent bg-accent-soft/50' : 'border-line-strong hover:bg-hover',
              )}
            >
              <input
                type={question.multiple ? 'checkbox' : 'radio'}
                name={question.id}
                checked={chosen.has(choice.id)}
                onChange={() => choose(choice.id)}
                onKeyDown={(event) => {
                  if (event.key === 'Enter') answer()
                }}
                className="mt-3 size-14 shrink-0 accent-accent"
              />
              <Shown text={choice.label} className="min-w-0 break-words" />
            </label>
          ))}
        </div>
      )}

      {writing && (
        <div className={classNames('px-12', choosing ? 'mt-6' : 'mt-10')}>
          {secret ? (
            <input
              type="password"
              aria-label="Secret answer"
              autoComplete="off"
              spellCheck={false}
              value={text}
              onChange={(event) => write(event.target.value)}
              onKeyDown={(event) => {
                if (event.key === 'Enter' && !event.nativeEvent.isComposing) answer()
              }}
              className="h-32 w-full rounded-6 border border-line-control bg-field px-8 font-mono text-13"
            />
          ) : (
            <textarea
              aria-label="Your answer"
              placeholder={choosing ? 'Or say it in your own words' : 'Your answer'}
              rows={2}
              maxLength={20_000}
              value={text}
              onChange={(event) => write(event.target.value)}
              onKeyDown={(event) => {
                if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
                event.preventDefault()
                answer()
              }}
              className="w-full resize-none rounded-6 border border-line-control bg-field px-8 py-6 text-13"
            />
          )}
          {secret && (
            <p className="mt-4 text-11 text-faint">
              It goes once to what asked for it. It is not shown to the model and not stored.
            </p>
          )}
        </div>
      )}

      <div className="flex items-center gap-8 px-12 py-10">
        <Button variant="primary" disabled={!ready} busy={busy} onClick={answer}>
          Answer
        </Button>
        {question.expiresAt !== null && <Countdown until={question.expiresAt} />}
        <Button className="ml-auto" disabled={inert || busy} onClick={() => send({ declined: true })}>
          Decline
        </Button>
      </div>
    </div>
  )
}

function Countdown({ until }: { until: number }) {
  const text = useTime((now) => (until <= now ? 'Time is up' : `Goes on without you in ${durationText(until - now)}`))
  return <span className="figures text-12 text-muted">{text}</span>
}
