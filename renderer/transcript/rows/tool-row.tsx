import { ChevronDown, Square } from 'lucide-react'
import { useMemo, useState } from 'react'
import type { ItemOf } from '../../../preload/contract/items.ts'
import { attempt } from '../../app/attempt.ts'
import { languageOf } from '../../files/language.ts'
import { useSessionController, useView } from '../../state/session-store.ts'
import { openFile } from '../../state/window-store.ts'
import { Button } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { Duration } from '../../ui/duration.tsx'
import { Spinner } from '../../ui/spinner.tsx'
import { durationText } from '../../ui/time-text.ts'
import { AttachmentChips } from '../attachment-chips.tsx'
import { ChangedFileDiff } from '../changed-file-diff.tsx'
import { ColouredLine, useColours } from '../coloured-text.tsx'
import { CopyButton } from '../copy-button.tsx'
import { Counts } from '../counts.tsx'
import { fileLines, withoutNumbers } from '../file-lines.ts'
import type { RowOf } from '../rows.ts'
import { plainOutput, tailOf } from '../shown-text.ts'
import { Shown } from '../shown.tsx'
import {
  argument,
  argumentsText,
  mcpIcon,
  otherIcon,
  titleParts,
  toolEnded,
  toolIcons,
  toolKind,
  toolOutput,
  toolStateWords,
  toolWords,
} from '../tools.ts'
import { useSessionId } from '../transcript-context.ts'
import { Disclosure } from './disclosure.tsx'
import { planEntries, PlanList } from './plan-list.tsx'

const liveTailLines = 8
const outputLinesFirst = 60

type ToolItem = ItemOf<'tool'>

/** One call: what it does, that it runs, how long it took, what came out, what changed (T-73). */
export function ToolRow({
  row: { item },
  open,
  onToggle,
}: {
  row: RowOf<'tool'>
  open: boolean
  onToggle: () => void
}) {
  const running = item.state === 'running'
  return (
    <div>
      <Disclosure
        open={open}
        onToggle={() => onToggle()}
        icon={<ToolMark item={item} />}
        end={running && toolKind(item.name) === 'command' ? <StopCommand itemId={item.id} /> : null}
      >
        <Title item={item} />
        <span className="ml-auto flex shrink-0 items-center gap-8 text-11 text-faint">
          <ChangeCounts item={item} />
          <State item={item} />
          {running && item.startedAt !== null && <Duration from={item.startedAt} />}
          {!running && item.durationMs !== null && item.durationMs >= 1_000 && (
            <span className="figures">{durationText(item.durationMs)}</span>
          )}
        </span>
      </Disclosure>
      {running && item.progress && <Progress progress={item.progress} />}
      {open ? <Body item={item} /> : running && item.output !== '' && <LiveTail output={item.output} />}
    </div>
  )
}

function ToolMark({ item }: { item: ToolItem }) {
  if (item.state === 'running') return <Spinner size={14} className="text-running" />
  const Icon = toolIcons[item.name] ?? (item.name.startsWith('mcp__') ? mcpIcon : otherIcon)
  return (
    <Icon
      size={14}
      strokeWidth={1.75}
      aria-hidden
      className={
        item.state === 'error' || item.state === 'unknown'
          ? 'text-failed'
          : item.state === 'waiting'
            ? 'text-needs'
            : ''
      }
    />
  )
}

function Title({ item }: { item: ToolItem }) {
  const { verb, subject } = titleParts(item.title || toolWords(item.name))
  const command = toolKind(item.name) === 'command' ? subject || verb : null
  const plan = toolKind(item.name) === 'plan' ? planEntries(item.args) : null
  if (plan) return <PlanTitle entries={plan} />
  return (
    <span className="flex min-w-0 items-baseline gap-6">
      {command !== null ? (
        <Shown text={command} className="min-w-0 truncate font-mono text-12 text-ink" />
      ) : (
        <>
          <Shown text={verb} className={subject ? 'shrink-0' : 'min-w-0 truncate'} />
          {subject && <Shown text={subject} className="min-w-0 truncate font-mono text-12 text-muted" />}
        </>
      )}
      {item.byPerson && <span className="shrink-0 text-11 text-faint">yours</span>}
    </span>
  )
}

/** Which entry it makes the current one, and how far the plan is. */
function PlanTitle({ entries }: { entries: NonNullable<ReturnType<typeof planEntries>> }) {
  const counted = entries.filter(({ state }) => state !== 'dropped')
  const done = counted.filter(({ state }) => state === 'done').length
  const active = entries.find(({ state }) => state === 'active')
  return (
    <span className="flex min-w-0 items-baseline gap-6">
      <span className="shrink-0">Plan</span>
      <span className="figures shrink-0 text-12 text-faint">
        {done} of {counted.length}
      </span>
      {active && <Shown text={active.text} className="min-w-0 truncate" />}
    </span>
  )
}

function State({ item }: { item: ToolItem }) {
  const words = item.state === 'running' ? '' : toolStateWords(item)
  if (!words) return null
  const tone =
    item.state === 'error' || item.state === 'unknown'
      ? 'text-failed'
      : item.state === 'waiting' || item.state === 'denied'
        ? 'text-needs'
        : item.view?.exitCode
          ? 'text-failed'
          : 'text-muted'
  return <span className={tone}>{words}</span>
}

function ChangeCounts({ item }: { item: ToolItem }) {
  const sessionId = useSessionId()
  const counts = useView(
    sessionId,
    ({ changes }) => {
      if (item.changeIds.length === 0) return ''
      const own = changes.filter((file) => item.changeIds.includes(file.id))
      return own.length === 0
        ? ''
        : `${own.reduce((sum, file) => sum + (file.added ?? 0), 0)} ${own.reduce((sum, file) => sum + (file.removed ?? 0), 0)}`
    },
    '',
  )
  if (counts === '') return null
  const [added = 0, removed = 0] = counts.split(' ').map(Number)
  return <Counts added={added} removed={removed} />
}

function StopCommand({ itemId }: { itemId: string }) {
  const controller = useSessionController(useSessionId())
  const [busy, setBusy] = useState(false)
  return (
    <Button
      acts
      size="small"
      variant="ghost"
      busy={busy}
      aria-label="Stop this command"
      onClick={() => {
        setBusy(true)
        void attempt('Could not stop the command', () => controller.stopCommand(itemId)).finally(() => setBusy(false))
      }}
    >
      <Square size={11} strokeWidth={2} fill="currentColor" aria-hidden /> Stop
    </Button>
  )
}

function Progress({ progress: { message, done, total } }: { progress: NonNullable<ToolItem['progress']> }) {
  return (
    <p className="figures ml-24 truncate text-12 text-faint">
      {message}
      {done !== undefined && total !== undefined && ` (${done} of ${total})`}
    </p>
  )
}

const panel = 'my-4 ml-8 overflow-hidden rounded-8 border border-line bg-sunken'
const outputText = 'font-mono text-[0.75rem] leading-18 whitespace-pre-wrap text-code-ink [overflow-wrap:anywhere]'

function LiveTail({ output }: { output: string }) {
  const { text, before } = tailOf(plainOutput(output), liveTailLines)
  if (text.trim() === '') return null
  return (
    <div className={panel}>
      <pre className={classNames(outputText, 'px-12 py-6')} aria-label="Output so far">
        {before > 0 && <span className="text-faint">{`… ${before.toLocaleString('en')} lines before\n`}</span>}
        {text}
      </pre>
    </div>
  )
}

function pathOf({ view, args }: ToolItem): string | null {
  return view?.path ?? argument(args, 'path')
}

function Body({ item }: { item: ToolItem }) {
  const kind = toolKind(item.name)
  const path = pathOf(item)
  if (kind === 'edit' && item.changeIds.length > 0) {
    return (
      <div className={classNames(panel, 'divide-y divide-line')}>
        {item.changeIds.map((id) => (
          <ChangedFileDiff key={id} changeId={id} />
        ))}
      </div>
    )
  }
  const plan = kind === 'plan' ? planEntries(item.args) : null
  if (plan) return <PlanList entries={plan} />
  return (
    <div className={panel}>
      {kind === 'command' ? (
        <Command item={item} />
      ) : kind === 'read' && path ? (
        <OpenPath path={path} line={item.view?.line} />
      ) : (
        <Arguments args={item.args} />
      )}
      {item.view?.image && (
        <div className="border-b border-line p-8">
          <AttachmentChips attachments={[{ name: path ?? 'Picture', bytes: 0, ...item.view.image }]} />
        </div>
      )}
      <Output item={item} />
    </div>
  )
}

function Command({ item }: { item: ToolItem }) {
  const command = argument(item.args, 'command') ?? argument(item.args, 'input') ?? item.title
  const folder = argument(item.args, 'workdir') ?? argument(item.args, 'folder') ?? argument(item.args, 'cwd')
  return (
    <div className="group/command relative border-b border-line px-12 py-8">
      <pre className={classNames(outputText, 'pr-24 text-ink')}>
        <span className="text-faint select-none">$ </span>
        <Shown text={command} />
      </pre>
      {folder && (
        <p className="mt-2 text-11 text-faint">
          in <Shown text={folder} className="font-mono" />
        </p>
      )}
      <CopyButton
        text={command.replace(/\n+$/, '')}
        label="Copy command"
        className="absolute top-4 right-4 opacity-0 group-hover/command:opacity-100 focus-visible:opacity-100"
      />
    </div>
  )
}

function OpenPath({ path, line }: { path: string; line: number | undefined }) {
  const workspace = useView(useSessionId(), ({ header }) => header.workspace, '')
  return (
    <button
      type="button"
      onClick={() => openFile(workspace, path, line === undefined ? {} : { line })}
      className="ring-inside flex w-full border-b border-line px-12 py-6 text-left font-mono text-12 text-accent-ink hover:underline"
    >
      <Shown text={line === undefined ? path : `${path}:${line}`} />
    </button>
  )
}

function Arguments({ args }: { args: unknown }) {
  const text = argumentsText(args)
  if (text === '') return null
  return (
    <pre
      tabIndex={0}
      aria-label="Arguments"
      className={classNames(
        outputText,
        'ring-inside max-h-200 overflow-auto border-b border-line px-12 py-8 text-muted',
      )}
    >
      <Shown text={text} />
    </pre>
  )
}

/** The lines of a file beside their numbers, which are not selected with them. */
function ReadText({ text, path }: { text: string; path: string }) {
  const lines = useMemo(() => fileLines(text), [text])
  const code = useMemo(() => (lines ?? []).map((line) => (line.number === null ? '' : line.text)).join('\n'), [lines])
  const colours = useColours(code, languageOf(path))
  if (!lines) return text
  const digits = Math.max(...lines.map(({ number }) => number?.length ?? 0))
  return lines.map((line, at) => (
    <span key={at} className="flex">
      <span
        aria-hidden
        className="figures mr-12 shrink-0 text-right text-faint select-none"
        style={{ width: `${digits}ch` }}
      >
        {line.number}
      </span>
      <span className={classNames('min-w-0', line.number === null && 'text-faint')}>
        {colours?.[at] && line.number !== null ? <ColouredLine tokens={colours[at]} /> : line.text}
        {'\n'}
      </span>
    </span>
  ))
}

/** What came out, its end first in sight for a running call and its start for one that is done. */
function Output({ item }: { item: ToolItem }) {
  const [all, setAll] = useState(false)
  const [asked, setAsked] = useState(false)
  const controller = useSessionController(useSessionId())
  const kind = toolKind(item.name)
  const text = plainOutput(toolOutput(item)).replace(/\n+$/, '')
  const words = toolStateWords(item)
  const lines = text.split('\n')
  const cut = !all && lines.length > outputLinesFirst
  const visible = !cut
    ? text
    : item.state === 'running'
      ? lines.slice(-outputLinesFirst).join('\n')
      : lines.slice(0, outputLinesFirst).join('\n')
  const clipped = item.omitted !== undefined || item.argsRef !== undefined || (item.view?.truncated === true && !asked)
  return (
    <>
      {text === '' ? (
        <p className="px-12 py-8 text-12 text-faint">{toolEnded(item) ? 'No output' : 'No output yet'}</p>
      ) : (
        <div className="group/output relative">
          <pre
            tabIndex={0}
            aria-label="Output"
            className={classNames(outputText, 'ring-inside max-h-400 overflow-auto px-12 py-8')}
          >
            {kind === 'read' ? <ReadText text={visible} path={pathOf(item) ?? ''} /> : visible}
          </pre>
          <CopyButton
            text={kind === 'read' ? withoutNumbers(text) : text}
            label="Copy output"
            className="absolute top-4 right-4 bg-sunken opacity-0 group-hover/output:opacity-100 focus-visible:opacity-100"
          />
        </div>
      )}
      {(cut || clipped || (words && toolEnded(item))) && (
        <footer className="flex items-center gap-8 border-t border-line px-12 py-4 text-11 text-faint">
          {words && toolEnded(item) && <span>{words}</span>}
          {cut && (
            <Button size="small" variant="ghost" className="-ml-8" onClick={() => setAll(true)}>
              <ChevronDown size={13} strokeWidth={1.75} aria-hidden />
              {(lines.length - outputLinesFirst).toLocaleString('en')} more lines
            </Button>
          )}
          {clipped && !cut && (
            <Button
              size="small"
              variant="ghost"
              className="-ml-8"
              onClick={() =>
                void attempt('Could not load the output', () => controller.loadItem(item.id)).then((found) =>
                  setAsked(found !== undefined),
                )
              }
            >
              Load the whole output
            </Button>
          )}
        </footer>
      )}
    </>
  )
}
