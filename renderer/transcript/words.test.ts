import { describe, expect, test } from 'vitest'
import { announcementsOf } from './announcements.ts'
import { bytesText, costText, tokensText } from './amounts.ts'
import {
  approvalItem,
  errorItem,
  fixturePatch,
  reasoningItem,
  running,
  textItem,
  toolItem,
  turn,
  userItem,
  view,
} from './fixtures.ts'
import { transcriptKey } from './keyboard.ts'
import { isUnfinished, outcomeWords } from './outcome.ts'
import { patchLines } from './patch.ts'
import { buildRows } from './rows.ts'
import { statusText } from './status-text.ts'
import { activityCounts, toolLabel, toolStateWords } from './tools.ts'

describe('announcements', () => {
  const before = view([userItem('a')], [running('turn-1')])
  const runs = { turn: { id: 'turn-1', step: 1, status: null, steers: [], usage: turn('x').usage, rate: null } }

  test('S-148 the beginning of a turn and its outcome, once each', () => {
    const started = { ...before, ...runs }
    expect(announcementsOf(before, started).polite).toEqual(['The agent started working.'])
    expect(announcementsOf(started, started).polite).toEqual([])
    expect(announcementsOf(started, { ...before, turns: [turn('turn-1', { outcome: 'stopped' })] }).polite).toEqual([
      'Turn stopped.',
    ])
  })

  test('S-148 an answer is announced when it is finished, never while it is written, 500 characters of it', () => {
    const live = textItem('x'.repeat(900), { status: 'live' })
    const writing = { ...before, items: [...before.items, live] }
    expect(announcementsOf(before, writing)).toEqual({ polite: [], assertive: [] })
    expect(
      announcementsOf(writing, { ...writing, items: [...before.items, { ...live, text: 'x'.repeat(1_000) }] }).polite,
    ).toEqual([])
    const done = announcementsOf(writing, { ...writing, items: [...before.items, { ...live, status: 'final' }] })
    expect(done.polite).toEqual(['x'.repeat(500)])
  })

  test('S-148 approvals, questions and errors interrupt; older slices say nothing', () => {
    const head = approvalItem({ title: 'rm -rf dist' })
    const error = errorItem()
    const now = { ...before, approvals: { head, depth: 1 }, items: [...before.items, error] }
    expect(announcementsOf(before, now).assertive).toEqual([
      `Error: ${error.title}. ${error.hint}`,
      'Approval needed: rm -rf dist',
    ])
    const older = textItem('from long ago', { pos: -5 })
    expect(announcementsOf(before, { ...before, items: [older, ...before.items] })).toEqual({
      polite: [],
      assertive: [],
    })
  })
})

test.each([
  [{ kind: 'stopping' }, 'Stopping'],
  [{ kind: 'approval', depth: 2 }, 'Waiting for your approval, 2 in all'],
  [
    { kind: 'rate_limited', provider: 'p', providerLabel: 'Lab', until: 31_000, untilKind: 'reset' },
    'Lab is limiting requests, resets in 30s',
  ],
  [
    { kind: 'rate_limited', provider: 'p', providerLabel: 'Lab', until: 500, untilKind: 'retry' },
    'Lab is limiting requests, retrying now',
  ],
  [
    { kind: 'retrying', attempt: 1, of: 3, until: null, code: 'provider.unavailable' },
    'The request failed, waiting (1 of 3)',
  ],
  [{ kind: 'prompt_reading', percent: null }, 'Reading the conversation'],
  [{ kind: 'working' }, 'Working'],
] as const)('T-60 the status %j in words', (status, words) => {
  expect(statusText(status, 1_000).words).toBe(words)
})

test('T-63 a status with a beginning carries it for the clock', () => {
  expect(statusText({ kind: 'tool', itemId: 'i', title: 'Run npm test', since: 7, others: 2 }, 0)).toMatchObject({
    words: 'Running',
    subject: 'npm test and 2 more',
    since: 7,
  })
  expect(statusText({ kind: 'compacting', since: 9 }, 0).since).toBe(9)
})

test.each([
  [{ outcome: 'completed', ending: 'answer' }, 'Completed', false],
  [{ outcome: 'completed', ending: 'max_steps' }, 'Reached the step limit', true],
  [{ outcome: 'stopped', reason: 'yielded' }, 'Paused for your message', true],
  [{ outcome: 'stopped', reason: 'person' }, 'Stopped', true],
  [{ outcome: 'failed' }, 'Failed', true],
  [{ outcome: 'interrupted' }, 'Interrupted', true],
] as const)('S-63 the end %j', (end, words, unfinished) => {
  expect(outcomeWords(end)).toBe(words)
  expect(isUnfinished(end)).toBe(unfinished)
})

describe('tools', () => {
  test('S-147 a card names its tool, what it works on and its state', () => {
    expect(toolLabel(toolItem('read_file', 'Read src/a.ts', { state: 'error', durationMs: null }))).toBe(
      'Tool call, read file, src/a.ts, failed',
    )
    expect(toolLabel(toolItem('mcp__github__list_issues', 'issues'))).toBe(
      'Tool call, list issues (github), issues, done, 1s',
    )
    expect(toolLabel(toolItem('shell', 'ls', { byPerson: true, state: 'running', durationMs: null }))).toBe(
      'Your command, shell, ls, running',
    )
  })

  test('S-150 every state but a plain success is said in words', () => {
    expect(toolStateWords(toolItem('shell', 'x', { view: { exitCode: 0 } }))).toBe('')
    expect(toolStateWords(toolItem('shell', 'x', { view: { exitCode: 2 } }))).toBe('Exit 2')
    expect(
      toolStateWords(toolItem('shell', 'x', { state: 'error', view: { signal: 'SIGKILL', exitCode: null } })),
    ).toBe('Ended by SIGKILL')
    expect(toolStateWords(toolItem('shell', 'x', { state: 'error', code: 'exec.stopped_by_person' }))).toBe(
      'Stopped by you',
    )
    expect(toolStateWords(toolItem('shell', 'x', { state: 'unknown' }))).toBe('May or may not have run')
  })

  test('S-61 a group counts by kind and names what failed', () => {
    const { text, failed } = activityCounts([
      reasoningItem('a'),
      toolItem('shell', 'npm test', { state: 'error' }),
      toolItem('shell', 'ls'),
      toolItem('edit_file', 'a.ts'),
    ])
    expect(text).toBe('2 commands, 1 edit, 1 thought')
    expect(failed).toEqual(['npm test'])
  })
})

describe('keys', () => {
  const rows = buildRows(
    view([userItem('a'), textItem('b'), textItem('c'), userItem('d'), textItem('e')], []),
    [],
    new Map(),
    5,
  )
  const press = (key: string, at: number, ctrl = false) =>
    transcriptKey({ key, ctrl, alt: false, shift: false }, at, rows)

  test.each([
    ['ArrowUp', 2, { to: 1 }],
    ['ArrowUp', 0, { to: 0 }],
    ['ArrowDown', 4, { to: 4 }],
    ['ArrowUp', -1, { to: 4 }],
    ['Home', 3, { to: 0 }],
    ['End', 0, { to: 4 }],
    ['Enter', 1, 'toggle'],
    ['Enter', -1, null],
    ['Escape', 1, 'composer'],
    ['PageUp', 1, 'page up'],
    ['x', 1, null],
  ])('S-149 %s on row %i', (key, at, choice) => {
    expect(press(key, at)).toEqual(choice)
  })

  test('S-149 with Ctrl the arrows go by the person’s messages', () => {
    expect(press('ArrowUp', 4, true)).toEqual({ to: 3 })
    expect(press('ArrowUp', 3, true)).toEqual({ to: 0 })
    expect(press('ArrowDown', 0, true)).toEqual({ to: 3 })
    expect(press('ArrowDown', 3, true)).toEqual({ to: 4 })
    expect(press('o', 2, true)).toBe('toggleTurn')
  })
})

test('a patch has its lines with their numbers, and nothing of its header', () => {
  const lines = patchLines(fixturePatch)
  expect(lines[0]).toMatchObject({ kind: 'hunk' })
  expect(lines.filter((line) => line.kind === 'added')).toHaveLength(6 - 1)
  expect(lines.find((line) => line.kind === 'removed')).toEqual({
    kind: 'removed',
    text: '    for (const part of this.parts) {',
    before: 41,
    after: null,
  })
  expect(patchLines('--- a\n+++ b\n')).toEqual([])
})

test('figures', () => {
  expect([0, 940, 12_400, 99_600, 1_250_000].map(tokensText)).toEqual(['0', '940', '12.4k', '100k', '1.3M'])
  expect([812, 34_200, 999_700, 1_800_000, 999_960_000, 73_552_900_000].map(bytesText)).toEqual([
    '812 B',
    '34 KB',
    '1 MB',
    '1.8 MB',
    '1 GB',
    '73.6 GB',
  ])
  expect([0.0123, 1.239].map(costText)).toEqual(['$0.0123', '$1.24'])
})

test('F-707 a patch that is being written says over how many files it goes', () => {
  const files = [{ path: 'src/a.ts', added: 4 }]
  const words = (tool: string, more: number) => statusText({ kind: 'writing', call: { tool, files, more } }, 0)
  expect(words('apply_patch', 2).words).toBe('Writing a patch of 3 files')
  expect(words('write_file', 0)).toMatchObject({ words: 'Writing a file', subject: 'src/a.ts' })
})
