/** Search in all sessions: words in, places out; a hit opens its session at its item (S-96 to S-99). */
import { Command as List } from 'cmdk'
import { CircleAlert, Search } from 'lucide-react'
import { useMemo, useState } from 'react'
import { flushSync } from 'react-dom'
import type { SearchHit } from '../../preload/contract/session-list-routes.ts'
import { client } from '../state/link.ts'
import { useAnswer } from '../state/use-answer.ts'
import { showDialog, showSession } from '../state/window-store.ts'
import { counted } from '../transcript/amounts.ts'
import { shownText } from '../transcript/shown-text.ts'
import { Dialog } from '../ui/dialog.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { Spinner } from '../ui/spinner.tsx'
import { Marked } from './marked.tsx'
import { foundWords, readSnippet } from './snippet.ts'

const pauseMs = 120
const hitsMax = 100
const shownOfSession = 3

const noHits: SearchHit[] = []

const kinds: Record<string, string> = {
  user: 'You',
  text: 'Answer',
  reasoning: 'Reasoning',
  tool: 'Tool',
  title: 'Title',
  notice: 'Notice',
  error: 'Error',
}

export function SearchDialog() {
  const [text, setText] = useState('')
  const query = text.trim().slice(0, 500)
  const { answer, error, busy } = useAnswer(
    query === '' ? null : query,
    (signal) => client().sessions.search({ query, limit: hitsMax }, { signal }),
    { pauseMs, keepsLast: true },
  )
  const hits = answer?.hits ?? noHits
  const [whole, setWhole] = useState<ReadonlySet<string>>(new Set())
  const groups = useMemo(() => {
    const bySession = new Map<string, SearchHit[]>()
    for (const hit of hits) bySession.set(hit.sessionId, [...(bySession.get(hit.sessionId) ?? []), hit])
    return [...bySession]
  }, [hits])

  const open = (hit: SearchHit) => {
    flushSync(() => showDialog(null))
    const target = hit.itemId === null ? undefined : { itemId: hit.itemId, words: foundWords(hit) }
    setTimeout(() => showSession(hit.sessionId, target), 0)
  }

  return (
    <Dialog open onOpenChange={() => showDialog(null)} title="Search in all sessions" bare width={720}>
      <List label="Search in all sessions" shouldFilter={false} loop className="flex min-h-0 grow flex-col">
        <div className="flex h-44 shrink-0 items-center gap-8 border-b border-line px-16">
          {busy ? (
            <Spinner size={15} className="text-muted" />
          ) : (
            <Search size={15} strokeWidth={1.75} aria-hidden className="text-faint" />
          )}
          <List.Input
            value={text}
            onValueChange={setText}
            placeholder="Search in all sessions"
            className="h-full min-w-0 grow bg-transparent text-14 outline-none placeholder:text-faint"
          />
        </div>
        {query === '' && <Hints />}
        <List.List className="min-h-0 grow overflow-y-auto overscroll-contain p-6 empty:hidden [scrollbar-width:thin]">
          {error ? (
            <p role="alert" className="flex items-start gap-8 p-12 text-13 text-muted">
              <CircleAlert size={15} strokeWidth={1.75} aria-hidden className="mt-2 shrink-0 text-failed" />
              {error.message} {error.hint}
            </p>
          ) : (
            query !== '' &&
            !busy &&
            hits.length === 0 && (
              <p className="p-24 text-center text-13 text-muted">
                Nothing was found. All words must occur in one message.
              </p>
            )
          )}
          {groups.map(([sessionId, all]) => {
            const shown = whole.has(sessionId) ? all : all.slice(0, shownOfSession)
            return (
              <List.Group
                key={sessionId}
                heading={shownText(all[0]?.sessionTitle ?? '') || 'Untitled'}
                className="[&_[cmdk-group-heading]]:truncate [&_[cmdk-group-heading]]:px-10 [&_[cmdk-group-heading]]:pt-10 [&_[cmdk-group-heading]]:pb-4 [&_[cmdk-group-heading]]:text-12 [&_[cmdk-group-heading]]:font-medium [&_[cmdk-group-heading]]:text-ink"
              >
                {shown.map((hit, index) => (
                  <Hit
                    key={`${hit.itemId} ${index}`}
                    id={`${sessionId} ${hit.itemId} ${index}`}
                    hit={hit}
                    onOpen={() => open(hit)}
                  />
                ))}
                {all.length > shown.length && (
                  <List.Item
                    value={`more ${sessionId}`}
                    onSelect={() => setWhole(new Set(whole).add(sessionId))}
                    className="flex h-26 cursor-default items-center rounded-6 px-10 text-12 text-accent-ink data-[selected=true]:bg-selected"
                  >
                    All {all.length} in this session
                  </List.Item>
                )}
              </List.Group>
            )
          })}
        </List.List>
        {answer?.partial && (
          <p className="border-t border-line px-16 py-6 text-11 text-muted">
            The index is still catching up; later results may be missing.
          </p>
        )}
        <p role="status" className="sr-only">
          {query !== '' && !busy && answer ? counted(hits.length, 'result') : ''}
        </p>
      </List>
    </Dialog>
  )
}

function Hit({ id, hit, onOpen }: { id: string; hit: SearchHit; onOpen: () => void }) {
  const { text, ranges } = readSnippet(hit)
  const safe = shownText(text)
  return (
    <List.Item
      value={id}
      onSelect={onOpen}
      className="flex cursor-default gap-10 rounded-6 px-10 py-6 text-13 data-[selected=true]:bg-selected"
    >
      <span className="w-64 shrink-0 pt-1 text-11 text-faint">{kinds[hit.kind] ?? hit.kind}</span>
      <bdi className="line-clamp-2 min-w-0 grow break-words text-muted">
        <Marked text={safe} ranges={safe === text ? ranges : []} />
      </bdi>
      <RelativeTime at={hit.at} className="shrink-0 pt-1 text-11 text-faint" />
    </List.Item>
  )
}

const examples = [
  ['"exact words"', 'a phrase'],
  ['-word', 'without it'],
  ['workspace:name', 'in one folder'],
  ['kind:user', 'only what you wrote'],
  ['after:2026-01-31', 'since a day; before: until one'],
  ['is:failed', 'or is:pinned, is:archived, is:running'],
  ['has:changes', 'or has:attachment, has:error'],
] as const

function Hints() {
  return (
    <dl aria-label="What can be typed" className="grid grid-cols-[auto_1fr] gap-x-16 gap-y-6 p-12 text-12">
      {examples.map(([example, meaning]) => (
        <div key={example} className="contents">
          <dt>
            <code className="rounded-4 bg-pressed px-4 text-ink">{example}</code>
          </dt>
          <dd className="text-muted">{meaning}</dd>
        </div>
      ))}
    </dl>
  )
}
