import {
  Bot,
  ChevronDown,
  FileDiff,
  FolderOpen,
  Globe,
  MessageSquareText,
  OctagonX,
  ShieldQuestion,
  Terminal,
} from 'lucide-react'
import { useId, useLayoutEffect, useRef, useState } from 'react'
import type { ApprovalDecision, ItemOf } from '../../preload/contract/items.ts'
import { denialCharsMax } from '../../preload/contract/limits.ts'
import { attempt } from '../app/attempt.ts'
import { shownKeys } from '../app/keys.ts'
import { useSessionController, useView } from '../state/session-store.ts'
import { patchLines } from '../transcript/patch.ts'
import { Shown } from '../transcript/shown.tsx'
import { SmallDiff } from '../transcript/small-diff.tsx'
import { titleParts } from '../transcript/tools.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { DropdownMenu, MenuItem, MenuRadio } from '../ui/menu.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { Tooltip } from '../ui/tooltip.tsx'
import { useInert } from './inert.ts'
import { ruleText } from './rule-text.ts'

type Approval = ItemOf<'approval'>
type Scope = 'workspace' | 'always'

const asks: Record<Approval['request']['detailKind'], { icon: typeof Terminal; title: string }> = {
  command: { icon: Terminal, title: 'Run this command?' },
  diff: { icon: FileDiff, title: 'Make this change?' },
  path: { icon: FolderOpen, title: 'Allow access to this path?' },
  url: { icon: Globe, title: 'Open this address?' },
  text: { icon: ShieldQuestion, title: 'Allow this?' },
}
const scopeWords: Record<Scope, string> = { workspace: 'in this workspace', always: 'everywhere' }

/** What exactly would be done, where, why, and what each wider answer would remember (Z-87, Z-201). */
export function ApprovalCard({ sessionId, approval, depth }: { sessionId: string; approval: Approval; depth: number }) {
  const controller = useSessionController(sessionId)
  const { request } = approval
  const workspace = useView(sessionId, ({ header }) => header.workspace, '')
  const inert = useInert()
  const [read, setRead] = useState(false)
  const [busy, setBusy] = useState<ApprovalDecision | null>(null)
  const [scope, setScope] = useState<Scope>('workspace')
  const [feedback, setFeedback] = useState<string | null>(null)
  const reasonId = useId()
  const { icon: Icon, title } = asks[request.detailKind]

  const off = inert || busy !== null
  const mayAllow = !off && read
  const mayStore = mayAllow && request.notStorable === undefined && request.rules.length > 0

  function answer(decision: ApprovalDecision): void {
    if (off) return
    setBusy(decision)
    const more = {
      ...(decision === 'always' ? { scope } : {}),
      ...(feedback?.trim() && decision.startsWith('deny') ? { feedback: feedback.trim() } : {}),
    }
    void attempt('The answer was not taken', () => controller.answerApproval(approval, decision, more)).finally(() =>
      setBusy(null),
    )
  }

  return (
    <div
      role="group"
      aria-label="Approval"
      aria-describedby={reasonId}
      data-pending
      tabIndex={-1}
      className="animate-rise overflow-hidden rounded-8 border border-needs/60 bg-raised shadow-low outline-offset-2"
    >
      <header className="flex min-h-32 flex-wrap items-center gap-x-8 bg-needs-soft px-12 py-4">
        <Icon size={15} strokeWidth={1.75} aria-hidden className="text-needs" />
        <h3 className="text-13 font-medium text-ink">
          {request.detailKind === 'text' ? <Shown text={request.title} /> : title}
        </h3>
        {request.detailKind === 'diff' && (
          <Shown text={request.title} className="min-w-0 truncate font-mono text-12 text-muted" />
        )}
        {request.origin && (
          <span className="flex items-center gap-4 text-12 text-muted">
            <Bot size={13} strokeWidth={1.75} aria-hidden /> <Shown text={request.origin} /> asks
          </span>
        )}
        {depth > 1 && (
          <Badge tone="needs" className="ml-auto">
            1 of {depth}
          </Badge>
        )}
      </header>

      <Detail request={request} onRead={() => setRead(true)} read={read} />

      <div className="flex flex-col gap-2 px-12 pt-8 text-12 text-muted">
        {request.folder && (
          <p>
            In{' '}
            {request.folder === '.' ? (
              'the folder of the workspace'
            ) : (
              <Shown text={request.folder} className="font-mono text-ink" />
            )}
          </p>
        )}
        <p id={reasonId}>
          <Shown text={request.reason} />
        </p>
        {request.notStorable ? (
          <p className="text-faint">
            <Shown text={request.notStorable} />
          </p>
        ) : (
          request.rules.length > 0 && (
            <p className="text-faint">
              A wider answer would remember{' '}
              {request.rules.map((rule, index) => (
                <span key={index}>
                  {index > 0 && ' and '}
                  <code className="rounded-4 bg-pressed px-4 text-ink">
                    <Shown text={ruleText(rule, workspace)} />
                  </code>
                </span>
              ))}
            </p>
          )
        )}
        {!read && <p className="text-needs">Read to the end to be able to allow it.</p>}
      </div>

      {feedback !== null && (
        <div className="px-12 pt-8">
          <textarea
            aria-label="What to tell the agent"
            placeholder="Tell the agent what to do instead"
            autoFocus
            rows={2}
            maxLength={denialCharsMax}
            value={feedback}
            onChange={(event) => setFeedback(event.target.value)}
            onKeyDown={(event) => {
              if (event.nativeEvent.isComposing) return
              if (event.key === 'Escape') setFeedback(null)
              else if (event.key === 'Enter' && !event.shiftKey) answer('deny')
              else return
              event.preventDefault()
              event.stopPropagation()
            }}
            className="w-full resize-none rounded-6 border border-line-control bg-field px-8 py-6 text-13 focus-visible:-outline-offset-1"
          />
        </div>
      )}

      <div className="flex flex-wrap items-center gap-8 px-12 py-10">
        <Tooltip label="Allow once" keys={shownKeys('Alt+Y')} side="top">
          <Button
            variant="primary"
            disabled={!mayAllow}
            busy={busy === 'once'}
            onClick={() => answer('once')}
            aria-keyshortcuts="Alt+Y"
          >
            Allow once
          </Button>
        </Tooltip>
        <Button disabled={!mayStore} busy={busy === 'session'} onClick={() => answer('session')}>
          Allow for this session
        </Button>
        <span className="inline-flex items-center">
          <Button
            disabled={!mayStore}
            busy={busy === 'always'}
            onClick={() => answer('always')}
            className="rounded-r-none!"
          >
            Always allow
          </Button>
          <DropdownMenu
            align="end"
            trigger={
              <Button
                disabled={!mayStore}
                className="-ml-px rounded-l-none! px-6! text-12 font-normal! text-muted"
                aria-label={`Remember it ${scopeWords[scope]}`}
              >
                {scopeWords[scope]}
                <ChevronDown size={13} strokeWidth={1.75} aria-hidden />
              </Button>
            }
          >
            <MenuRadio
              value={scope}
              onChange={setScope}
              choices={[
                { value: 'workspace', label: 'In this workspace' },
                { value: 'always', label: 'Everywhere' },
              ]}
            />
          </DropdownMenu>
        </span>
        <span className="ml-auto inline-flex items-center">
          <Tooltip label="Deny" keys={shownKeys('Alt+N')} side="top">
            <Button
              disabled={off}
              busy={busy === 'deny'}
              onClick={() => answer('deny')}
              aria-keyshortcuts="Alt+N"
              className="rounded-r-none!"
            >
              Deny
            </Button>
          </Tooltip>
          <DropdownMenu
            align="end"
            trigger={
              <IconButton
                icon={ChevronDown}
                label="Other ways to refuse"
                disabled={off}
                className="-ml-px rounded-l-none! border border-line-strong"
              />
            }
          >
            <MenuItem icon={MessageSquareText} onSelect={() => setFeedback(feedback ?? '')}>
              Deny and say why
            </MenuItem>
            <MenuItem icon={OctagonX} danger onSelect={() => answer('deny_stop')}>
              Deny and stop
            </MenuItem>
          </DropdownMenu>
        </span>
      </div>
    </div>
  )
}

/** The whole of it, never shortened. What does not fit scrolls, and counts as read at its end. */
function Detail({ request, onRead, read }: { request: Approval['request']; onRead: () => void; read: boolean }) {
  const area = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const element = area.current
    if (!element || read) return
    const look = () => element.scrollHeight - element.scrollTop - element.clientHeight <= 4 && onRead()
    look()
    const observer = new ResizeObserver(look)
    observer.observe(element)
    element.addEventListener('scroll', look, { passive: true })
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', look)
    }
  })
  const diff = request.detailKind === 'diff' && patchLines(request.detail).length > 0
  return (
    <div
      ref={area}
      tabIndex={0}
      role="region"
      aria-label={request.detailKind === 'command' ? 'Command' : 'Details'}
      className="ring-inside max-h-[min(25rem,40vh)] overflow-auto border-b border-line bg-sunken"
    >
      {diff ? (
        <SmallDiff patch={request.detail} label={request.title} path={titleParts(request.title).subject} whole />
      ) : (
        <pre className="px-12 py-8 font-mono text-[0.8125rem] leading-20 whitespace-pre-wrap text-ink [overflow-wrap:anywhere]">
          {request.detailKind === 'command' && <span className="text-faint select-none">$ </span>}
          <Shown text={request.detail} />
        </pre>
      )}
    </div>
  )
}
