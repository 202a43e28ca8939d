/** Sessions as a host would answer them, for tests and for looking at every kind of row. */
import { blankHeader, noUsage } from '../../preload/contract/fold.ts'
import type { Item, ItemOf } from '../../preload/contract/items.ts'
import type { ChangedFile, SessionHeader, SessionView, Turn } from '../../preload/contract/session.ts'

const fixtureStart = Date.UTC(2026, 8, 1, 9, 30)

let made = 0
const nextId = (kind: string) => `${kind}-${++made}`

function base(turnId: string | null) {
  const id = nextId('item')
  return {
    id,
    turnId,
    stepId: null,
    pos: made,
    createdAt: fixtureStart + made * 1_000,
    endedAt: fixtureStart + made * 1_000 + 4_000,
    status: 'final' as const,
    source: 'agent' as const,
    contextual: true,
    visible: true,
  }
}

export function userItem(text: string, more: Partial<ItemOf<'user'>> = {}): ItemOf<'user'> {
  return { ...base(more.turnId ?? 'turn-1'), source: 'person', kind: 'user', text, attachments: [], ...more }
}

export function textItem(text: string, more: Partial<ItemOf<'text'>> = {}): ItemOf<'text'> {
  return { ...base(more.turnId ?? 'turn-1'), kind: 'text', text, final: true, ...more }
}

export function reasoningItem(text: string, more: Partial<ItemOf<'reasoning'>> = {}): ItemOf<'reasoning'> {
  return { ...base(more.turnId ?? 'turn-1'), kind: 'reasoning', text, ...more }
}

export function toolItem(name: string, title: string, more: Partial<ItemOf<'tool'>> = {}): ItemOf<'tool'> {
  const own = base(more.turnId ?? 'turn-1')
  return {
    ...own,
    kind: 'tool',
    callId: own.id,
    name,
    title,
    args: {},
    state: 'ok',
    startedAt: own.createdAt,
    durationMs: 1_200,
    waitedMs: 0,
    summary: '',
    output: '',
    outputStart: 0,
    view: null,
    changeIds: [],
    progress: null,
    ...more,
  }
}

export function approvalItem(
  request: Partial<ItemOf<'approval'>['request']>,
  more: Partial<ItemOf<'approval'>> = {},
): ItemOf<'approval'> {
  return {
    ...base(more.turnId ?? 'turn-1'),
    kind: 'approval',
    toolItemId: 'item-0',
    state: 'open',
    request: {
      tool: 'shell',
      title: 'npm run release',
      detail: 'npm run release -- --dry-run',
      detailKind: 'command',
      folder: '/home/ada/lathe',
      reason: 'It may change files and reach the network.',
      rules: [{ tool: 'shell', command: ['npm', 'run', 'release', '**'] }],
      argsHash: 'hash',
      ...request,
    },
    ...more,
  }
}

export function questionItem(text: string, more: Partial<ItemOf<'question'>> = {}): ItemOf<'question'> {
  return {
    ...base(more.turnId ?? 'turn-1'),
    kind: 'question',
    toolItemId: 'item-0',
    state: 'open',
    ask: 'choice',
    text,
    choices: [],
    multiple: false,
    allowText: true,
    expiresAt: null,
    ...more,
  }
}

function noticeItem(text: string, more: Partial<ItemOf<'notice'>> = {}): ItemOf<'notice'> {
  return { ...base(more.turnId ?? 'turn-1'), kind: 'notice', level: 'info', text, contextual: false, ...more }
}

function rewindItem(more: Partial<ItemOf<'rewind'>> = {}): ItemOf<'rewind'> {
  return {
    ...base('turn-1'),
    turnId: null,
    kind: 'rewind',
    items: 12,
    turns: 2,
    withFiles: false,
    contextual: false,
    ...more,
  }
}

function forkItem(more: Partial<ItemOf<'fork'>> = {}): ItemOf<'fork'> {
  const from = { sessionId: 'session-0', itemId: 'item-0', title: 'Resumable uploads' }
  return { ...base('turn-1'), turnId: null, kind: 'fork', from, contextual: false, ...more }
}

function subagentItem(more: Partial<ItemOf<'subagent'>> = {}): ItemOf<'subagent'> {
  return {
    ...base('turn-4'),
    kind: 'subagent',
    toolItemId: 'call-of-subagent',
    sessionId: 'subagent-1',
    label: 'release notes',
    task: 'Read the last ten releases and list what broke.',
    model: 'lab/scripted',
    background: false,
    phase: 'tools',
    startedAt: Date.now() - 12_000,
    endedAt: null,
    status: 'live',
    steps: 3,
    usage: { ...noUsage, input: 12_300, output: 420 },
    actions: ['Read CHANGELOG.md', 'Search “breaking”', 'Run git log --oneline'],
    result: '',
    ...more,
  }
}

function compactionItem(more: Partial<ItemOf<'compaction'>> = {}): ItemOf<'compaction'> {
  return {
    ...base('turn-1'),
    turnId: null,
    kind: 'compaction',
    coversThrough: 'item-0',
    summary: '## State now\nChunks are stored and checked.',
    reason: 'before_turn',
    tokensBefore: 151_200,
    tokensAfter: 62_400,
    model: 'lab/scripted',
    ...more,
  }
}

export function errorItem(more: Partial<ItemOf<'error'>> = {}): ItemOf<'error'> {
  return {
    ...base(more.turnId ?? 'turn-1'),
    kind: 'error',
    code: 'provider.rate_limited',
    title: 'The provider limits requests',
    message: 'Too many requests in the last minute.',
    hint: 'Wait a little, or choose another model.',
    actions: ['retry', 'choose_model', 'wait'],
    details: 'HTTP 429 {"error":{"type":"rate_limit_exceeded"}}',
    retryAt: null,
    contextual: false,
    ...more,
  }
}

export function turn(id: string, more: Partial<Turn> = {}): Turn {
  return {
    id,
    userItemId: 'item-0',
    requestId: `request-${id}`,
    origin: 'foreground',
    source: 'person',
    model: 'lab/scripted',
    startedAt: fixtureStart,
    settledAt: fixtureStart + 72_000,
    outcome: 'completed',
    ending: 'answer',
    durationMs: 72_000,
    waitedMs: 0,
    steps: 4,
    usage: { ...noUsage, input: 18_240, output: 2_113, total: 20_353, cost: 0.0412 },
    rate: 54.3,
    ...more,
  }
}

export function running(id: string, more: Partial<Turn> = {}): Turn {
  const { ending: _, ...row } = turn(id)
  return { ...row, settledAt: null, outcome: null, durationMs: null, startedAt: Date.now() - 42_000, ...more }
}

export function change(id: string, turnId: string, path: string, added: number, removed: number): ChangedFile {
  return { id, turnId, path, kind: 'edited', before: 'a', after: 'b', added, removed, by: 'tool' }
}

export function header(more: Partial<SessionHeader> = {}): SessionHeader {
  return {
    ...blankHeader,
    id: 'session-1',
    createdAt: fixtureStart,
    updatedAt: fixtureStart,
    workspace: '/home/ada/lathe',
    title: 'Make uploads resumable',
    titleSource: 'generated',
    model: 'lab/scripted',
    lastSeq: 100,
    readSeq: 100,
    notableSeq: 100,
    context: { used: 41_800, window: 166_976, compactAt: 150_278, estimated: false, model: null },
    ...more,
  }
}

export function view(items: Item[], turns: Turn[], more: Partial<SessionView> = {}): SessionView {
  return {
    journalId: 'journal-1',
    header: header({ itemCount: items.length, ...more.header }),
    items,
    itemsBefore: 0,
    itemsAfter: 0,
    turns,
    turn: null,
    approvals: { head: null, depth: 0 },
    questions: { head: null, depth: 0 },
    changes: [],
    execSessions: [],
    ...more,
  }
}

const answer = `The upload now **resumes where it stopped**. What changed:

1. \`src/upload/session.ts:42\` keeps the offset the server acknowledged.
2. A part that fails is tried again, at most three times:

\`\`\`ts
export async function sendPart(part: Part, signal: AbortSignal): Promise<Offset> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await put(part, { signal, from: part.offset })
    } catch (error) {
      if (attempt === 3 || signal.aborted) throw error
      await pause(250 * 2 ** attempt) // back off
    }
  }
}
\`\`\`

| case | before | after |
|---|---:|---:|
| 40 MB, one drop | 80 MB sent | 41 MB sent |
| 2 GB, three drops | never done | 2.02 GB sent |

- [x] unit tests for the offsets
- [ ] a test against a real proxy

> The server must answer \`Upload-Offset\`. Older servers fall back to one request.

See [the protocol](https://tus.io/protocols/resumable-upload), [session.ts](src/upload/session.ts#L42), and do not trust [example.com](https://evil.test/login) or <b>raw html</b> or [this](javascript:alert(1)).

![diagram](https://img.example.com/flow.png)
`

export const fixturePatch = `diff --git a/src/upload/session.ts b/src/upload/session.ts
--- a/src/upload/session.ts
+++ b/src/upload/session.ts
@@ -38,9 +38,13 @@ export class UploadSession {
   private readonly parts: Part[]
 
   async send(signal: AbortSignal) {
-    for (const part of this.parts) {
-      await put(part, { signal })
+    for (const part of this.parts.slice(this.acknowledged)) {
+      const offset = await sendPart(part, signal)
+      this.acknowledged = offset
+      this.events.emit('progress', offset / this.total)
     }
+    await this.finish()
   }
 
   private get total() {
`

/** A session with one of everything, settled and quiet. */
export function settledView(): SessionView {
  made = 0
  const items: Item[] = [
    userItem('Uploads start over when the connection drops. Make them resumable, and keep the API as it is.', {
      attachments: [
        { name: 'trace.log', mediaType: 'text/plain', bytes: 48_211, hash: 'a'.repeat(64) },
        { name: 'proxy.conf', mediaType: 'application/octet-stream', bytes: 812, hash: 'b'.repeat(64) },
      ],
    }),
    reasoningItem('**Finding the upload code**\n\nThe session keeps parts but no offsets.', {
      title: 'Finding the upload code',
    }),
    toolItem('grep', 'Search put( in src', {
      args: { pattern: 'put\\(', path: 'src' },
      summary: 'src/upload/session.ts:42: await put(part)',
    }),
    toolItem('read_file', 'Read src/upload/session.ts', { args: { path: 'src/upload/session.ts' }, durationMs: 12 }),
    textItem('The parts are sent in order and nothing remembers the last acknowledged offset. I will add that first.', {
      final: false,
    }),
    toolItem('edit_file', 'Edit src/upload/session.ts', {
      args: { path: 'src/upload/session.ts' },
      changeIds: ['change-1'],
      durationMs: 31,
    }),
    toolItem('shell', 'Run npm test -- upload', {
      args: { command: 'npm test -- upload' },
      state: 'error',
      durationMs: 8_400,
      view: {
        stdout:
          '\u001b[31mFAIL\u001b[0m src/upload/session.test.ts\n  resumes after a drop\n    expected 41 to be 40\n',
        exitCode: 1,
      },
    }),
    approvalItem(
      { title: 'rm -rf coverage', detail: 'rm -rf coverage' },
      { state: 'denied', feedback: 'Leave coverage alone.' },
    ),
    toolItem('shell', 'Run rm -rf coverage', { state: 'denied', durationMs: null }),
    noticeItem('The model changed from lab/large to lab/scripted: lab/large is not configured any more.', {
      level: 'warning',
    }),
    questionItem('Which servers must still work?', { state: 'answered', answer: 'All since 2.4' }),
    textItem(answer),
    userItem('Now run the whole suite.', { turnId: 'turn-2' }),
    ...Array.from({ length: 9 }, (_, index) =>
      toolItem(
        index % 3 === 0 ? 'shell' : index % 3 === 1 ? 'read_file' : 'grep',
        index % 3 === 0
          ? `Run npm test -- part-${index}`
          : index % 3 === 1
            ? `Read src/file-${index}.ts`
            : `Search file-${index}`,
        {
          turnId: 'turn-2',
          ...(index === 4 ? { state: 'error' as const } : {}),
        },
      ),
    ),
    textItem('Everything passes except the proxy test, which needs a network.', { turnId: 'turn-2' }),
    forkItem(),
    compactionItem(),
    rewindItem(),
    userItem('Try that one again with a larger window', { turnId: 'turn-3' }),
    errorItem({ turnId: 'turn-3' }),
  ]
  return view(
    items,
    [turn('turn-1'), turn('turn-2', { durationMs: 214_000 }), turn('turn-3', { outcome: 'failed', durationMs: 3_000 })],
    {
      changes: [
        change('change-1', 'turn-1', 'src/upload/session.ts', 6, 2),
        change('change-2', 'turn-1', 'src/upload/part.ts', 40, 11),
      ],
    },
  )
}

/** The same with a turn in full flight: a live command, steers, a queue, an open approval. */
export function runningView(): SessionView {
  const settled = settledView()
  const live = (more: object) => ({ turnId: 'turn-4', status: 'live' as const, endedAt: null, ...more })
  const approval = approvalItem(
    {
      origin: 'subagent “release notes”',
      title: 'curl https://registry.example.com',
      detail: 'curl -fsSL https://registry.exa\u202emple.com/latest | tee latest.json && \\\n  jq .version latest.json',
    },
    live({}),
  )
  const items: Item[] = [
    ...settled.items,
    userItem('Start the proxy and watch the upload.', { turnId: 'turn-4' }),
    ...Array.from({ length: 8 }, (_, index) =>
      toolItem('read_file', `Read src/proxy/part-${index}.ts`, { turnId: 'turn-4', durationMs: 8 }),
    ),
    reasoningItem(
      'The proxy listens on 8080. The upload must go through it, so the base address is set for the test only, and the watcher prints each offset as it is acknowledged by the server',
      live({}),
    ),
    toolItem('shell', 'Run node scripts/proxy.mjs --watch', {
      ...live({}),
      state: 'running',
      startedAt: Date.now() - 12_000,
      durationMs: null,
      args: { command: 'node scripts/proxy.mjs --watch' },
      output:
        Array.from({ length: 30 }, (_, index) => `[proxy] PUT /files/7 offset ${index * 1_048_576} ok`).join('\n') +
        '\n',
    }),
    subagentItem({ turnId: 'turn-4' }),
    approval,
    textItem('While the proxy runs I am looking at how **offsets** are acknow', { ...live({}), final: false }),
  ]
  const steer = {
    id: 'steer-1',
    text: 'Use port 8081, 8080 is taken here',
    attachments: [],
    createdAt: Date.now(),
    state: 'pending' as const,
    actions: ['edit' as const, 'withdraw' as const, 'sendNow' as const],
  }
  const followUp = (id: string, text: string) => ({ id, text, attachments: [], createdAt: Date.now(), revision: 1 })
  return {
    ...settled,
    items,
    turns: [...settled.turns, running('turn-4')],
    turn: {
      id: 'turn-4',
      step: 2,
      status: {
        kind: 'tool',
        itemId: 'x',
        title: 'Run node scripts/proxy.mjs --watch',
        since: Date.now() - 12_000,
        others: 1,
      },
      steers: [steer],
      usage: { ...noUsage, output: 1_204 },
      rate: 61.2,
    },
    approvals: { head: approval, depth: 2 },
    header: {
      ...settled.header,
      currentTurnId: 'turn-4',
      queue: {
        followUps: [
          followUp('f1', 'Then update the changelog'),
          followUp('f2', 'And open a pull request against main, with the numbers from the table above in its text'),
        ],
        paused: null,
      },
    },
  }
}

/** Replies that have hung such windows before (K-17). */
export const heavyReplies: Record<string, string> = {
  'one line of 5,000 characters': 'word '.repeat(1_000),
  'no spaces at all': 'x'.repeat(5_000),
  'code of 2,000 lines': `\`\`\`ts\n${Array.from({ length: 2_000 }, (_, index) => `export const value${index} = compute(${index}, 'text ${index}') // line ${index}`).join('\n')}\n\`\`\`\n`,
  'lists in lists': Array.from({ length: 200 }, (_, depth) => `${'  '.repeat(depth)}- level ${depth}`).join('\n'),
  'quotes in quotes': Array.from({ length: 200 }, (_, depth) => `${'>'.repeat(depth + 1)} level ${depth}`).join('\n'),
  'a row of 10,000 columns': `|${' a |'.repeat(10_000)}\n|${'---|'.repeat(10_000)}\n|${' b |'.repeat(10_000)}\n`,
  emphasis: '*'.repeat(5_000),
  brackets: '['.repeat(5_000),
}

/** A turn that was interrupted while a tool ran, with what waits behind it. */
export function recoveryView(): SessionView {
  const settled = settledView()
  return {
    ...settled,
    header: {
      ...settled.header,
      queue: {
        followUps: [
          { id: 'f1', text: 'Then update the changelog', attachments: [], createdAt: fixtureStart, revision: 1 },
        ],
        paused: 'recovery',
      },
      recovery: {
        recoveryId: 'recovery-1',
        turnId: 'turn-3',
        status: 'awaiting',
        reason: 'tool_state_unknown',
        canContinue: true,
        attempts: 0,
        tool: 'npm publish',
      },
    },
  }
}
