/**
 * A session as a file for people or programs (S-87 to S-91): Markdown, JSON, or one HTML page that asks for nothing.
 * Pure: it is written from one consistent reading, entry by entry, and no more than an entry is held. Tool details are in;
 * reasoning and attachments' bytes are not.
 */
import { homedir } from 'node:os'
import { z } from 'zod'
import { type Attachment, type Item, type ItemOf, PlanEntry } from '../../preload/contract/items.ts'
import { sessionFileVersion } from '../../preload/contract/limits.ts'
import type { SessionHeader, Turn } from '../../preload/contract/session.ts'
import { createRedaction } from '../platform/redaction.ts'
import type { Snapshot } from '../storage/storage.ts'

export type ExportFormat = 'md' | 'json' | 'html'
export type ExportOptions = {
  /** JSON only: as stored, without the pattern pass (S-89). */
  exact?: boolean
  /** Written as `~` wherever it stands. */
  home?: string
}

export type Exported = {
  name: string
  mediaType: string
  /** The file, piece by piece. */
  pieces: AsyncGenerator<string>
}

type Source = Pick<Snapshot, 'header' | 'turns' | 'items'>
type Clean = <T>(value: T) => T

export function exportSession(source: Source, format: ExportFormat, options: ExportOptions = {}): Exported {
  const { exact = false, home = homedir() } = options
  const clean: Clean = exact && format === 'json' ? (value) => value : withoutSecrets(home)
  const header = clean(source.header)
  const name = fileName(header)
  switch (format) {
    case 'md':
      return { name: `${name}.md`, mediaType: 'text/markdown', pieces: markdown(header, shown(source, clean)) }
    case 'html':
      return { name: `${name}.html`, mediaType: 'text/html', pieces: html(header, shown(source, clean)) }
    case 'json':
      return {
        name: `${name}${exact ? '.exact' : ''}.json`,
        mediaType: 'application/json',
        pieces: json(header, source, clean),
      }
  }
}

type Shown = AsyncGenerator<{ item: Item; ends: Turn | null }>

/** What is read as the conversation. */
async function* shown(source: Source, clean: Clean): Shown {
  for await (const { item, ends } of source.items()) {
    if (item.visible && item.kind !== 'reasoning') yield { item: clean(item), ends: ends && clean(ends) }
  }
}

function withoutSecrets(home: string): Clean {
  const redaction = createRedaction({ known: [], loose: true })
  // The home folder only as a whole path: "/home/ada" is no part of "/home/adam".
  const homePath = home.length > 1 ? new RegExp(`${escapePattern(home)}(?![\\w.-])`, 'g') : null
  const clean = (value: unknown): unknown => {
    if (typeof value === 'string') return homePath ? value.replace(homePath, '~') : value
    if (Array.isArray(value)) return value.map(clean)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, clean(inner)]))
  }
  return <T>(value: T) => clean(redaction.value(value)) as T
}

/** `{"format": "lathe.session", "version": 1}`: what is known of the session, less what concerns this machine (S-90). */
async function* json(header: SessionHeader, source: Source, clean: Clean): AsyncGenerator<string> {
  const { id, createdAt, updatedAt, workspace, title, titleSource, model, effort, usage, plan, forkOf } = header
  const session = { id, createdAt, updatedAt, workspace, title, titleSource, model, effort, usage, plan, forkOf }
  yield `{\n  "format": "lathe.session",\n  "version": ${sessionFileVersion},\n  "session": ${indented(session, '  ')},\n  "turns": `
  yield* list(source.turns(), clean)
  yield ',\n  "items": '
  yield* list(visible(), (item) => {
    const cleaned = clean(item)
    return cleaned.kind === 'approval' ? { ...cleaned, request: { ...cleaned.request, rules: [] } } : cleaned
  })
  yield '\n}\n'

  async function* visible(): AsyncGenerator<Item> {
    for await (const { item } of source.items()) if (item.visible) yield item
  }
}

/** A list of the outermost object, an element at a time. */
async function* list<T>(elements: AsyncIterable<T>, made: (element: T) => T): AsyncGenerator<string> {
  let isEmpty = true
  for await (const element of elements) {
    yield `${isEmpty ? '[' : ','}\n    ${indented(made(element), '    ')}`
    isEmpty = false
  }
  yield isEmpty ? '[]' : '\n  ]'
}

/** JSON as it stands further in: no string of it holds a line break. */
function indented(value: unknown, margin: string): string {
  return JSON.stringify(value, null, 2).replaceAll('\n', `\n${margin}`)
}

async function* markdown(header: SessionHeader, items: Shown): AsyncGenerator<string> {
  yield `# ${oneLine(header.title)}\n\n`
  yield facts(header)
    .map(([name, value]) => `- ${name}: ${oneLine(value)}`)
    .join('\n')
  for await (const { item, ends } of items) {
    const { heading, text, code, names, mentions } = entryOf(item)
    yield `\n\n### ${oneLine(heading)}${live(item)}`
    if (text) yield `\n\n${text}`
    for (const block of code) yield `\n\n${fenced(block)}`
    if (names.length > 0) yield `\n\n${names.map((name) => `- attached: ${oneLine(name)}`).join('\n')}`
    if (mentions.length > 0) yield `\n\n${mentions.map((name) => `- mentioned: ${oneLine(name)}`).join('\n')}`
    if (ends?.outcome) yield `\n\n*${outcomeLine(ends)}*`
  }
  yield '\n'
}

const htmlPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
const htmlStyle = `
:root { color-scheme: light dark; font: 15px/1.6 system-ui, sans-serif }
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem } h2 { font-size: 1rem; margin: 2rem 0 0.25rem }
pre { overflow-x: auto; padding: 0.75rem; border: 1px solid color-mix(in srgb, currentColor 20%, transparent); border-radius: 6px; white-space: pre-wrap; overflow-wrap: anywhere }
.text { white-space: pre-wrap; overflow-wrap: anywhere } .end, dl { color: color-mix(in srgb, currentColor 65%, transparent) }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem } dd { margin: 0 }
`

/** One file without script or request; whatever the model wrote is text in it (S-88). */
async function* html(header: SessionHeader, items: Shown): AsyncGenerator<string> {
  const title = escapeHtml(header.title)
  const list = facts(header).map(([name, value]) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd>`)
  yield `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="content-security-policy" content="${htmlPolicy}">
<meta name="referrer" content="no-referrer"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${htmlStyle}</style></head>
<body><h1>${title}</h1><dl>${list.join('')}</dl>
`
  let between = ''
  for await (const { item, ends } of items) {
    const { heading, text, code, names, mentions } = entryOf(item)
    const blocks = code.map((block) => `<pre>${escapeHtml(block)}</pre>`).join('')
    const folded = item.kind === 'tool' && blocks ? `<details><summary>Details</summary>${blocks}</details>` : blocks
    const attached = names.map((name) => `<p class="end">attached: ${escapeHtml(name)}</p>`).join('')
    const pointed = mentions.map((name) => `<p class="end">mentioned: ${escapeHtml(name)}</p>`).join('')
    const end = ends?.outcome ? `<p class="end">${escapeHtml(outcomeLine(ends))}</p>` : ''
    yield `${between}<article><h2>${escapeHtml(heading)}${live(item)}</h2>${text ? `<div class="text">${escapeHtml(text)}</div>` : ''}${folded}${attached}${pointed}${end}</article>`
    between = '\n'
  }
  yield '\n</body></html>\n'
}

type Entry = { heading: string; text: string; code: string[]; names: string[]; mentions: string[] }

/** What an item says, the same for every format and for the command line's `sessions show`. */
export function entryOf(item: Item): Entry {
  const entry = (heading: string, more: Partial<Entry> = {}): Entry => ({
    heading,
    text: '',
    code: [],
    names: [],
    mentions: [],
    ...more,
  })
  switch (item.kind) {
    case 'user':
      return entry(saidBy(item), {
        text: item.text,
        names: item.attachments.map(attachmentName),
        mentions: (item.mentions ?? []).map(({ kind, label }) => `${kind} ${label}`),
      })
    case 'text':
      return entry('Lathe', { text: item.text })
    case 'reasoning':
      return entry(item.title ? `Reasoning: ${item.title}` : 'Reasoning', { text: item.text })
    case 'tool':
      return (
        planOf(item) ?? entry(`${item.title || item.name} (${toolStates[item.state]})`, { code: toolDetails(item) })
      )
    case 'approval':
      return entry(`Approval: ${item.request.title} (${item.state.replaceAll('_', ' ')})`, {
        text: item.feedback ?? '',
      })
    case 'question':
      return entry(`Question (${item.state})`, {
        text: [item.text, item.answer && `Answer: ${item.answer}`].filter(Boolean).join('\n\n'),
      })
    case 'subagent':
      return entry(`Subagent: ${item.label} (${subagentPhases[item.phase]})`, {
        text: item.task,
        code: item.result === '' ? [] : [item.result],
      })
    case 'notice':
      return entry('Notice', { text: item.text })
    case 'rewind':
      return entry(`${item.items} entries set aside`)
    case 'compaction':
      return entry(`Context compacted: ${item.tokensBefore} to ${item.tokensAfter} tokens`, {
        text: item.summary,
      })
    case 'fork':
      return entry(`Forked from ${item.from.title}`)
    case 'error':
      return entry(`Error: ${item.title}`, {
        text: [item.message, item.hint].filter(Boolean).join('\n\n'),
        code: item.details ? [item.details] : [],
      })
  }
}

/** Nothing a machine said is told as the person's words (T-20). */
export function saidBy({ source, automation, steer }: ItemOf<'user'>): string {
  if (source === 'automation') return automation ? `Started by ${automation.name}` : 'Started by itself'
  return steer ? 'You, while it ran' : 'You'
}

const toolStates: Readonly<Record<ItemOf<'tool'>['state'], string>> = {
  proposed: 'proposed',
  waiting: 'waiting',
  running: 'running',
  ok: 'done',
  error: 'failed',
  denied: 'not allowed',
  cancelled: 'cancelled',
  unknown: 'may or may not have run',
}

const subagentPhases: Readonly<Record<ItemOf<'subagent'>['phase'], string>> = {
  queued: 'waiting',
  starting: 'starting',
  model: 'working',
  tools: 'working',
  done: 'done',
  failed: 'failed',
  stopped: 'stopped',
}

const PlanArgs = z.object({ entries: z.array(PlanEntry.pick({ text: true, state: true })) })

/** A plan reads as the list it is; null for every other call, and for a plan that was refused. */
function planOf(item: ItemOf<'tool'>): Entry | null {
  if (item.name !== 'update_plan' || item.state !== 'ok') return null
  const { data } = PlanArgs.safeParse(item.args)
  if (!data) return null
  const lines = data.entries.map(({ text, state }) => {
    const said = state === 'active' || state === 'dropped' ? ` (${state})` : ''
    return `- [${state === 'done' ? 'x' : ' '}] ${oneLine(text)}${said}`
  })
  return { heading: item.title, text: lines.join('\n'), code: [], names: [], mentions: [] }
}

function toolDetails(item: ItemOf<'tool'>): string[] {
  const args = typeof item.args === 'string' ? item.args : JSON.stringify(item.args, null, 2)
  const shown = [item.view?.stdout, item.view?.stderr].filter(Boolean).join('\n')
  return [args ?? '', shown || item.summary || item.output].filter((block) => block !== '' && block !== '{}')
}

function attachmentName({ name, bytes }: Attachment): string {
  return `${name} (${bytes} bytes)`
}

function facts(header: SessionHeader): [string, string][] {
  return [
    ['Workspace', header.workspace],
    ['Model', header.model ?? 'none'],
    ['Created', new Date(header.createdAt).toISOString()],
    ['Updated', new Date(header.updatedAt).toISOString()],
  ]
}

/** How a turn ended, in one line, drawn from its row (S-63). */
export function outcomeLine({ outcome, durationMs, model, usage, error }: Turn): string {
  const seconds = durationMs === null ? null : `${(durationMs / 1_000).toFixed(1)} s`
  const tokens = usage.total === null ? null : `${usage.total} tokens`
  const failure = error ? `${error.code}: ${error.message}` : null
  return [outcome, seconds, model, tokens, failure].filter((part) => part !== null).join(', ')
}

function live({ status }: Item): string {
  return status === 'live' ? ' [still running]' : ''
}

/** A fence longer than any run of backticks inside. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${text}\n${fence}`
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}

function escapePattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&')
}

function fileName({ title, id }: SessionHeader): string {
  const words = title
    .normalize('NFKD')
    .replaceAll(/[^A-Za-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 60)
    .toLowerCase()
  return words || `session-${id}`
}
