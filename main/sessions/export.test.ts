import fc from 'fast-check'
import { expect, test } from 'vitest'
import { blankHeader, noUsage } from '../../preload/contract/fold.ts'
import type { Item } from '../../preload/contract/items.ts'
import type { SessionHeader, Turn } from '../../preload/contract/session.ts'
import { entryOf } from './export.ts'
import { exportedText, readingOf } from './test-exports.ts'

const home = '/home/ada'
const key = `sk-${'a1B2c3D4'.repeat(6)}`

const header = {
  ...blankHeader,
  id: 's1',
  workspace: `${home}/site`,
  title: 'Fix the build',
  titleSource: 'manual',
  model: 'lab/scripted',
  lastTurnId: 't1',
  lastOutcome: 'completed',
  itemCount: 3,
} satisfies SessionHeader

const turn = {
  id: 't1',
  userItemId: 'i1',
  requestId: 'r1',
  origin: 'foreground',
  source: 'person',
  model: 'lab/scripted',
  startedAt: 0,
  settledAt: 1_500,
  outcome: 'completed',
  durationMs: 1_500,
  waitedMs: 0,
  steps: 2,
  usage: { ...noUsage, total: 175 },
  rate: null,
} satisfies Turn

const base = {
  turnId: 't1',
  stepId: null,
  createdAt: 0,
  endedAt: 1,
  status: 'final',
  source: 'agent',
  contextual: true,
  visible: true,
} as const

const items: Item[] = [
  {
    ...base,
    id: 'i1',
    pos: 1,
    kind: 'user',
    source: 'person',
    text: `Look at ${home}/site, not /home/adam`,
    attachments: [],
  },
  { ...base, id: 'i2', pos: 2, kind: 'reasoning', text: 'private thought' },
  {
    ...base,
    id: 'i3',
    pos: 3,
    kind: 'tool',
    callId: 'c',
    name: 'shell',
    title: 'shell: deploy',
    args: { command: `curl -H "Authorization: Bearer ${key}" x` },
    state: 'ok',
    startedAt: 0,
    durationMs: 1,
    waitedMs: 0,
    summary: 'ok ``` fence',
    output: '',
    outputStart: 0,
    view: null,
    changeIds: [],
    progress: null,
  },
  {
    ...base,
    id: 'i4',
    pos: 4,
    kind: 'text',
    text: `<img src=x onerror="alert(1)"> https://ada:${key}@git.test/x`,
    final: true,
  },
  { ...base, id: 'i5', pos: 5, kind: 'notice', level: 'info', text: 'not seen', visible: false },
]
const session = readingOf({ header, items, turns: [turn] })

test('SA-21 S-89 no format holds a key, a token in an address or the home folder', async () => {
  for (const format of ['md', 'json', 'html'] as const) {
    const { text } = await exportedText(session, format, { home })
    expect(text).not.toContain(key)
    expect(text).not.toContain(`${home}/`)
    expect(text).toContain('~/site')
    expect(text).toContain('/home/adam')
  }
})

test('SA-21 S-88 the page has no script and allows no request; what a model wrote is inert text', async () => {
  const { text } = await exportedText(session, 'html', { home })
  expect(text).toContain('content-security-policy" content="default-src \'none\'')
  expect(text).toContain('&lt;img src=x onerror=')
  expect(text).not.toMatch(/<(img|script|link|iframe|object)\b/i)
  expect(text).toContain('<details>')
})

test('S-87 Markdown reads as the conversation: heads, fences that hold, the end of the turn; reasoning is left out', async () => {
  const exported = await exportedText(session, 'md', { home })
  expect(exported.name).toBe('fix-the-build.md')
  expect(exported.text).toContain('### You\n\nLook at ~/site')
  expect(exported.text).toContain('### shell: deploy (done)')
  expect(exported.text).toContain('````\nok ``` fence\n````')
  expect(exported.text).toContain('*completed, 1.5 s, lab/scripted, 175 tokens*')
  expect(exported.text).not.toContain('private thought')
  expect(exported.text).not.toContain('not seen')
})

test('S-87 a plan reads as a list', async () => {
  const call = items.find((item) => item.kind === 'tool')!
  const entries = [
    { text: 'Read the\ncode', state: 'done' },
    { text: 'Mend it', state: 'active' },
    { text: 'Run the tests', state: 'pending' },
  ]
  const plan = { ...call, name: 'update_plan', title: 'Plan: 1 of 3 done', args: { entries } }
  const { text } = await exportedText(readingOf({ header, items: [plan], turns: [] }), 'md', { home })
  expect(text).toContain('### Plan: 1 of 3 done\n\n- [x] Read the code\n- [ ] Mend it (active)\n- [ ] Run the tests\n')
  const refused = await exportedText(readingOf({ header, items: [{ ...plan, state: 'error' }], turns: [] }), 'md', {
    home,
  })
  expect(refused.text).toContain('### Plan: 1 of 3 done (failed)')
})

test('S-87 S-90 JSON is the versioned form, without rules or settings of this machine', async () => {
  const exported = JSON.parse((await exportedText(session, 'json', { home })).text)
  expect(exported).toMatchObject({ format: 'lathe.session', version: 1, session: { id: 's1', title: 'Fix the build' } })
  expect(exported.items.map(({ id }: Item) => id)).toEqual(['i1', 'i2', 'i3', 'i4'])
  expect(exported.session).not.toHaveProperty('queue')
})

test('S-89 JSON exactly as stored says so in its name', async () => {
  const exact = await exportedText(session, 'json', { home, exact: true })
  expect(exact.name).toBe('fix-the-build.exact.json')
  expect(exact.text).toContain(`${home}/site`)
})

test('Z-260 no text of any item makes an element of the page', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string(),
      fc.constantFrom('<script>', '"><svg onload=1>', '</pre><b>', '&lt;'),
      async (text, evil) => {
        const item: Item = { ...base, id: 'x', pos: 1, kind: 'text', text: text + evil, final: true }
        const page = (
          await exportedText(
            readingOf({ header: { ...header, title: evil + text }, items: [item], turns: [] }),
            'html',
            {
              home,
            },
          )
        ).text
        const tags = [...page.matchAll(/<\/?([a-z0-9!]+)/gi)].map(([, name]) => name!.toLowerCase())
        expect(new Set(tags)).toEqual(
          new Set([
            '!doctype',
            'html',
            'head',
            'meta',
            'title',
            'style',
            'body',
            'h1',
            'dl',
            'dt',
            'dd',
            'article',
            'h2',
            'div',
          ]),
        )
      },
    ),
    { numRuns: 300 },
  )
})

test('T-20 A-2 S-88 what started a turn by itself is named, never told as the person’s words', async () => {
  const asked = {
    id: 'u',
    turnId: 't',
    stepId: null,
    pos: 1,
    createdAt: 1,
    endedAt: 1,
    status: 'final' as const,
    contextual: true,
    visible: true,
    kind: 'user' as const,
    text: 'Go on: it has ended.',
    attachments: [],
  }
  const automation = { name: 'x1 (npm run build)' }
  expect(entryOf({ ...asked, source: 'automation', automation }).heading).toBe('Started by x1 (npm run build)')
  expect(entryOf({ ...asked, source: 'automation' }).heading).toBe('Started by itself')
  expect(entryOf({ ...asked, source: 'person' }).heading).toBe('You')
})
