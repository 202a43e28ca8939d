import { Bot, CircleAlert, CopyIcon, FileText, Play, Plus, RotateCw, Settings, SlidersHorizontal } from 'lucide-react'
import { useState } from 'react'
import { attempt } from '../../app/attempt.ts'
import { chooseAgent } from '../../composer/choose-agent.ts'
import { loadAgents } from '../../state/agent-store.ts'
import { useSessionController, useView } from '../../state/session-store.ts'
import { openFile, showDialog } from '../../state/window-store.ts'
import { useMayAct } from '../../ui/acting.ts'
import { Button } from '../../ui/button.tsx'
import { useTime } from '../../ui/clock.ts'
import { durationText } from '../../ui/time-text.ts'
import type { RowOf } from '../rows.ts'
import { Shown } from '../shown.tsx'
import { useSessionId } from '../transcript-context.ts'
import { newSessionHere } from '../new-session.ts'

/** A failed turn: what happened, what to do about it as buttons (T-155). Old ones keep the words and lose the buttons. */
export function ErrorRow({ row: { item, turnId } }: { row: RowOf<'error'> }) {
  const sessionId = useSessionId()
  const [details, setDetails] = useState(false)
  const mayAct = useMayAct()
  const current = useView(
    sessionId,
    ({ turns, header }) => header.currentTurnId === null && turns.at(-1)?.id === turnId,
    false,
  )
  return (
    <section aria-label={item.title} className="my-8 rounded-8 border border-failed/30 bg-failed-soft/40 px-12 py-10">
      <h3 className="flex items-center gap-8 text-13 font-medium text-ink">
        <CircleAlert size={15} strokeWidth={1.75} aria-hidden className="shrink-0 text-failed" />
        <Shown text={item.title} />
      </h3>
      {item.message !== '' && (
        <p className="mt-4 ml-24 text-13 break-words text-muted">
          <Shown text={item.message} />
        </p>
      )}
      {item.hint !== '' && <p className="mt-4 ml-24 text-13 text-ink">{item.hint}</p>}
      <div className="mt-8 ml-24 flex flex-wrap items-center gap-8">
        {current &&
          mayAct &&
          item.actions.map((action) => <Action key={action} action={action} row={{ item, turnId }} />)}
        <code className="text-11 text-faint">{item.code}</code>
        {item.details && (
          <Button size="small" variant="ghost" aria-expanded={details} onClick={() => setDetails(!details)}>
            {details ? 'Hide details' : 'Details'}
          </Button>
        )}
      </div>
      {details && item.details && (
        <pre className="mt-8 ml-24 max-h-200 overflow-auto rounded-6 border border-line bg-sunken px-8 py-6 font-mono text-11 whitespace-pre-wrap text-muted">
          {item.details}
        </pre>
      )}
    </section>
  )
}

type Action = RowOf<'error'>['item']['actions'][number]

function Action({ action, row: { item, turnId } }: { action: Action; row: Pick<RowOf<'error'>, 'item' | 'turnId'> }) {
  const sessionId = useSessionId()
  const controller = useSessionController(sessionId)
  const icon = { size: 13, strokeWidth: 1.75, 'aria-hidden': true } as const
  if (action === 'retry' && turnId)
    return (
      <Button size="small" onClick={() => void attempt('Could not try again', () => controller.retry(turnId))}>
        <RotateCw {...icon} />
        Retry
      </Button>
    )
  if (action === 'continue' && turnId)
    return (
      <Button size="small" onClick={() => void attempt('Could not continue', () => controller.continueTurn(turnId))}>
        <Play {...icon} />
        Continue
      </Button>
    )
  if (action === 'settings' || action === 'open_config')
    return (
      <Button size="small" onClick={() => showDialog({ kind: 'settings', page: 'models' })}>
        <Settings {...icon} />
        Settings
      </Button>
    )
  if (action === 'choose_model')
    return (
      <Button size="small" onClick={() => showDialog({ kind: 'models' })}>
        <SlidersHorizontal {...icon} />
        Choose model
      </Button>
    )
  if (action === 'choose_agent')
    return (
      <Button size="small" onClick={() => void chooseAgent(sessionId)}>
        <Bot {...icon} />
        Choose agent
      </Button>
    )
  if (action === 'open_agent' && item.agent) return <OpenAgent sessionId={sessionId} name={item.agent} />
  if (action === 'new_session')
    return (
      <Button size="small" onClick={() => void newSessionHere(sessionId)}>
        <Plus {...icon} />
        New session
      </Button>
    )
  if (action === 'report')
    return (
      <Button
        size="small"
        variant="ghost"
        onClick={() =>
          void navigator.clipboard.writeText(
            [item.title, item.code, item.message, item.details].filter(Boolean).join('\n'),
          )
        }
      >
        <CopyIcon {...icon} />
        Copy report
      </Button>
    )
  if (action === 'wait' && item.retryAt !== null) return <RetryAt at={item.retryAt} />
  return null
}

/** A file of the folder opens beside; of the person's own the page of agents says where it is. */
function OpenAgent({ sessionId, name }: { sessionId: string; name: string }) {
  const folder = useView(sessionId, ({ header }) => header.workspace, '')
  const open = async () => {
    const agent = (await loadAgents(folder)).find((one) => one.name === name)
    if (agent?.place) openFile(folder, agent.place)
    else showDialog({ kind: 'settings', page: 'agents' })
  }
  return (
    <Button size="small" onClick={() => void open()}>
      <FileText size={13} strokeWidth={1.75} aria-hidden />
      Open the file
    </Button>
  )
}

function RetryAt({ at }: { at: number }) {
  const text = useTime((now) => (at <= now ? 'Ready to try again' : `Can be tried again in ${durationText(at - now)}`))
  return <span className="figures text-12 text-muted">{text}</span>
}
