import { expect, test } from 'vitest'
import { errorCodes } from './errors.ts'
import { PassingEvent, StoredEvent, WorkbenchEvent } from './events.ts'
import { foldEvent } from './fold.ts'
import { Item } from './items.ts'

const typesOf = (union: { options: readonly { shape: { type: { value: string } } }[] }) =>
  union.options.map((option) => option.shape.type.value)

/** The table of turns.md 5, those of the second wave left out. */
const stored = `turn.started turn.status turn.settled step.started step.ended plan.changed steers.changed usage.changed
  item.put item.delta item.patch approval.queue question.queue queue.changed compaction.started compaction.ended
  changes.changed exec.changed notices.changed session.changed session.recovery session.rewound title.status`
const passing = 'draft.changed session.storageFailed stream.resync'
const workbench = `entry.put entry.removed preferences.changed settings.changed workspace.changed files.changed
  terminal.changed mcp.changed models.changed rules.changed memory.changed automation.changed firing.changed
  notification.put notification.removed host.changed update.changed browsers.changed`

test('TA-38 T-48 every event is in the catalogue, its name two lower camel words joined by a dot', () => {
  const known = new Set([stored, passing, workbench].flatMap((names) => names.split(/\s+/)))
  const carried = [...typesOf(StoredEvent), ...typesOf(PassingEvent), ...typesOf(WorkbenchEvent)]
  expect(new Set(carried).size).toBe(carried.length)
  for (const type of carried) {
    expect(type).toMatch(/^[a-z]+([A-Z][a-z]+)*\.[a-z]+([A-Z][a-z]+)*$/)
    expect(known).toContain(type)
  }
})

test('TA-38 a code is an area and a reason, and an item carries no other than those of the closed list', () => {
  for (const code of errorCodes) expect(code).toMatch(/^[a-z][a-z_]*\.[a-z][a-z_]*$/)
  expect(new Set(errorCodes).size).toBe(errorCodes.length)
  const card = {
    id: 't',
    turnId: null,
    stepId: null,
    pos: 1,
    createdAt: 1,
    endedAt: null,
    status: 'live',
    source: 'agent',
    contextual: true,
    visible: true,
    kind: 'tool',
    callId: 'c',
    name: 'shell',
    title: '',
    args: {},
    state: 'error',
    startedAt: null,
    durationMs: null,
    waitedMs: 0,
    summary: '',
    output: '',
    outputStart: 0,
    view: null,
    changeIds: [],
    progress: null,
  }
  expect(Item.parse({ ...card, code: 'file.not_found' })).toMatchObject({ code: 'file.not_found' })
  expect(Item.parse({ ...card, code: 'invented' })).toMatchObject({ code: undefined })
  expect(() => Item.parse({ ...card, kind: 'error', code: 'invented' })).toThrow()
})

test('T-48 a reader takes no harm from a type it does not know', () => {
  const view = { header: { lastSeq: 4, rev: 1 }, items: [] } as never
  expect(StoredEvent.safeParse({ type: 'dream.changed', seq: 5, at: 1 }).success).toBe(false)
  expect(foldEvent(view, { type: 'dream.changed', seq: 5, at: 1 } as never)).toEqual({
    header: { lastSeq: 5, rev: 1 },
    items: [],
  })
})

test('T-52 a patch says what it names and nothing else: no schema puts defaults into it', () => {
  const event = { type: 'session.changed', seq: 3, at: 1, patch: { title: 'T', titleSource: 'provisional' } }
  expect(StoredEvent.parse(event)).toEqual(event)
})
