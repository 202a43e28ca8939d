/**
 * Whatever comes in whatever order, with kills and failing disks between: the rules that everything rests on hold. 500 runs;
 * `npm run test:long` gives it a night's.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LatheError } from '../../preload/contract/errors.ts'
import { StoredEvent as StoredEventSchema } from '../../preload/contract/events.ts'
import { foldEvent, noUsage } from '../../preload/contract/fold.ts'
import type { ItemOf } from '../../preload/contract/items.ts'
import type { FollowUp, SessionView, Steer } from '../../preload/contract/session.ts'
import { defaultSettings } from '../../preload/contract/settings.ts'
import type { Report } from '../agent/reports.ts'
import { discardCompaction } from './compaction.ts'
import { Decision } from './decision.ts'
import { type Command, type Input, isKept } from './inputs.ts'
import { recover } from './recovery.ts'
import type { SessionState } from './state.ts'
import { isPersonal, nextStart } from './automatic.ts'
import { endLostSubagents, runsNow } from './subagents.ts'
import { askOf, Driver, followUp, type Reply } from './test-driver.ts'

type Act = (world: World) => void

const subagentsMax = 2

/** A session in a world of kills and failing disks, which knows where each message of the person must be (T-3). */
class World extends Driver {
  /** Messages that were accepted and not given back. */
  kept = new Set<string>()
  readonly turns: string[] = []
  /** What came since a test last emptied it. */
  batch: Input[] = []
  private spoken = 0
  private spawned = 0

  constructor() {
    super('ask', { ...defaultSettings, 'subagents.max': subagentsMax })
  }

  spawn(background: boolean): void {
    const itemId = `card-${++this.spawned}_`
    const turnId = this.state.turn?.id ?? 'none'
    const card = { itemId, turnId, toolItemId: `call-${itemId}`, task: 'look', label: itemId, background, model: 'm' }
    this.command({ type: 'subagent.spawn', ...card })
  }

  override input(input: Input): Reply {
    this.batch.push(input)
    const before = this.state
    const reply = super.input(input)
    if (input.kind === 'command') this.follow(input.command, reply)
    checkAutomatic(before, this.state, input, reply)
    return reply
  }

  say(whenBusy: 'refuse' | 'queue' | 'steer'): void {
    this.submit(`message ${++this.spoken}`, { whenBusy })
  }

  /** Something that starts turns by itself, delivered once or again. */
  deliver(whenBusy: 'refuse' | 'queue' | 'steer', source: 'schedule' | 'goal', completionKeys: string[]): void {
    this.submit(`automatic ${++this.spoken}`, { whenBusy, source, completionKeys })
  }

  /** A process ends by itself and would start a turn. */
  processEnds(): void {
    const session = { owner: 'agent' as const, preview: 'p', folder: '.', startedAt: 1, tty: false, itemId: 't' }
    const { id } = this.command({ type: 'exec.started', session: { ...session, wakes: true } })
    const end = { at: 2, reason: 'exited' as const, exitCode: 0, signal: null }
    this.command({ type: 'exec.ended', id, end, notice: { text: `${id} ended`, prompt: `${id} ended` } })
  }

  /** What its end asks for is asked for, now or when it was looked at. */
  wake(): void {
    const next = nextStart(this.state, Number.MAX_SAFE_INTEGER)
    if (next?.start === 'automatic') this.submit(next.request.text, next.request)
  }

  private follow(command: Command, reply: any): void {
    const gone = (one: Steer | FollowUp) => one.text.split('\n\n').forEach((text) => this.kept.delete(text))
    if (command.type === 'submit') {
      if (isPersonal(command.message.source)) this.kept.add(command.message.text)
    } else if (command.type === 'stop') reply.withdrawn?.forEach(gone)
    else if (command.type === 'steer.withdraw' && reply.steer) gone(reply.steer)
    else if (command.type === 'followUp.remove') gone(reply)
    else if (command.type === 'followUp.clear') reply.forEach(gone)
  }
}

/** These acts cannot be saved: they are undone whole, and what nobody would send again is decided anew (S-16, T-41). */
function failToSave(world: World, acts: readonly Act[]): void {
  const before = { state: world.state, journal: world.journal.length, kept: new Set(world.kept) }
  world.batch = []
  for (const act of acts) attempt(act, world)
  world.state = before.state
  world.journal.length = before.journal
  world.kept = before.kept
  for (const input of world.batch.filter(isKept)) attempt(() => world.input(input), world)
}

/** The host is killed and started again: what was journaled is all there is (T-182). */
function kill(world: World): void {
  if (world.journal.length === 0) return
  const view = world.journal.reduce(foldEvent, world.empty)
  expect(view).toEqual(world.state.view)
  world.state = { ...world.state, turn: null, bindings: new Map(), subagentAsks: new Map() }
  if (view.header.compaction) {
    const discarding = new Decision(world.state, world.environment)
    discardCompaction(discarding)
    world.take(discarding)
  }
  const open = view.turns.find((turn) => turn.outcome === null)
  if (!open) return endLost(world)
  const decision = new Decision(world.state, world.environment)
  recover(
    decision,
    world.journal.slice(world.journal.findIndex((event) => event.type === 'turn.started' && event.turnId === open.id)),
  )
  endLostSubagents(decision)
  world.take(decision)
  expect(world.effects.some((effect) => effect.do === 'start')).toBe(false)
  expect(view.turns.find((turn) => turn.id === open.id)?.outcome).toBeNull()
  expect(world.state.view.turns.find((turn) => turn.id === open.id)?.outcome).not.toBeNull()
}

/** Nothing ran, but subagents may have (C-106). */
function endLost(world: World): void {
  const decision = new Decision(world.state, world.environment)
  endLostSubagents(decision)
  world.take(decision)
}

/** Refusals are typed and leave everything as it was (T-14, T-35). */
function attempt(act: Act, world: World): void {
  const before = world.state
  try {
    act(world)
  } catch (error) {
    if (!(error instanceof LatheError)) throw error
    expect(world.state).toBe(before)
  }
}

const report =
  (make: (world: World) => Report): Act =>
  (world) =>
    world.report(make(world))
const command =
  (make: (world: World) => Command): Act =>
  (world) =>
    world.command(make(world))
const figures = { turn: noUsage, context: { used: null, window: null, compactAt: null, estimated: false, model: null } }
const firstSteer = (world: World) => world.state.view.turn?.steers[0]?.id ?? 'none'
const queued = (world: World, at: number) => world.state.view.header.queue.followUps.at(at)
const toolOf = (world: World, n: number) => `tool-${world.state.turn?.id}-${n}`

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom('refuse' as const, 'queue' as const, 'steer' as const).map(
      (whenBusy): Act =>
        (world) =>
          world.say(whenBusy),
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.constantFrom('refuse' as const, 'queue' as const, 'steer' as const),
        fc.constantFrom('schedule' as const, 'goal' as const),
        fc.subarray(['a', 'b', 'c']),
      )
      .map(
        ([whenBusy, source, keys]): Act =>
          (world) =>
            world.deliver(whenBusy, source, keys),
      ),
  },
  fc.constant<Act>((world) => world.processEnds()),
  { weight: 2, arbitrary: fc.constant<Act>((world) => world.wake()) },
  fc.constant(
    command(({ state }) => ({ type: 'approval.expired', approvalId: state.view.approvals.head?.id ?? 'none' })),
  ),
  fc
    .constantFrom('preparing', 'running', 'boundary', 'unwound', 'drainExpired', 'streamClosed')
    .map((type) => report(() => ({ type }) as Report)),
  fc.nat(12).map((keep) => report(() => ({ type: 'discarded', keep }))),
  {
    weight: 2,
    arbitrary: fc
      .constantFrom('text' as const, 'reasoning' as const)
      .map((channel) => report(() => ({ type: 'stream', channel, add: 'word\n' }))),
  },
  fc.constant(
    report((world) => ({ type: 'stepStarted', stepId: `step-${world.journal.length}`, step: 1, model: 'm' })),
  ),
  fc.constantFrom('stop' as const, 'tools' as const, 'aborted' as const).map((finish) =>
    report((world) => ({
      type: 'stepEnded',
      stepId: world.state.turn?.stepId ?? 'none',
      finish,
      usage: null,
      ...figures,
      firstTokenMs: null,
      streamedMs: 0,
      servedBy: null,
    })),
  ),
  fc.constant(report(() => ({ type: 'mayEnd', ending: 'answer' }))),
  fc.constant(report(() => ({ type: 'failed', error: { code: 'provider.unavailable', message: 'down' } }))),
  fc.nat(3).map(
    (n): Act =>
      (world) =>
        world.propose(toolOf(world, n), `cmd ${n}`),
  ),
  fc.nat(3).map((n) =>
    report((world) => ({
      type: 'toolEnded',
      itemId: toolOf(world, n),
      end: { state: 'ok', summary: '', view: null, durationMs: 1 },
      changes: [],
    })),
  ),
  fc.nat(3).map((n) =>
    report((world) => ({
      type: 'asked',
      ticket: `q-${world.journal.length}`,
      itemId: toolOf(world, n),
      question: { ask: 'text', text: '?', choices: [], multiple: false, allowText: true },
    })),
  ),
  // A worker of an earlier turn that has not noticed yet.
  fc
    .constantFrom<Report>(
      { type: 'stream', channel: 'text', add: 'late' },
      { type: 'mayEnd', ending: 'answer' },
      { type: 'unwound' },
    )
    .map(
      (late): Act =>
        (world) =>
          world.report(late, world.turns[0] ?? 'none'),
    ),
  fc.constantFrom('once' as const, 'session' as const, 'deny' as const, 'deny_stop' as const).map((decision) =>
    command(({ state }) => {
      const { head } = state.view.approvals
      return {
        type: 'approval.answer',
        approvalId: head?.id ?? 'none',
        argsHash: head?.request.argsHash ?? '',
        decision,
        scope: 'workspace',
      }
    }),
  ),
  fc.constant(
    command(({ state }) => ({
      type: 'question.answer',
      questionId: state.view.questions.head?.id ?? 'none',
      choices: [],
      text: 'yes',
      secret: null,
      declined: false,
    })),
  ),
  fc.constant(
    command(({ state }) => ({ type: 'question.expired', questionId: state.view.questions.head?.id ?? 'none' })),
  ),
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.boolean(),
        fc.constantFrom(
          'person' as const,
          'person' as const,
          'timeout' as const,
          'session_deleted' as const,
          'shutdown' as const,
        ),
      )
      .map(([current, reason]) =>
        command((world) => ({
          type: 'stop',
          turnId: (current ? world.state.turn?.id : world.turns[0]) ?? 'none',
          reason,
        })),
      ),
  },
  fc
    .constantFrom('queue.resume', 'followUp.clear', 'queue.pause', 'hold.release', 'restore', 'delete')
    .map((type) => command(() => ({ type }) as Command)),
  fc
    .constantFrom('withdraw', 'sendNow')
    .map((kind) => command((world) => ({ type: `steer.${kind}`, steerId: firstSteer(world) }) as Command)),
  fc
    .constantFrom('remove', 'steerNow')
    .map((kind) => command((world) => ({ type: `followUp.${kind}`, id: queued(world, -1)?.id ?? 'none' }) as Command)),
  fc.constant(
    command((world) => ({
      type: 'followUp.move',
      id: queued(world, -1)?.id ?? 'none',
      before: queued(world, 0)?.id ?? null,
    })),
  ),
  fc.constant(
    command((world) => ({
      type: 'queue.refused',
      id: queued(world, 0)?.id ?? 'none',
      error: { code: 'workspace.missing', message: 'gone' },
    })),
  ),
  fc
    .constantFrom('read-only' as const, 'ask' as const, 'edits' as const, 'all' as const)
    .map((approvalMode) => command(() => ({ type: 'settings', approvalMode }))),
  {
    weight: 2,
    arbitrary: fc.boolean().map((byPerson): Act => (world) => {
      const next = queued(world, 0)
      if (next)
        world.command({
          type: 'followUp.start',
          id: next.id,
          byPerson,
          message: { ...followUp(next.id), text: next.text },
        })
    }),
  },
  fc.constantFrom('continue', 'dismiss').map((kind): Act => (world) => {
    const { recovery } = world.state.view.header
    const message = {
      ...followUp(`${kind}-${world.journal.length}`),
      text: 'Continue',
      continues: recovery?.turnId ?? 'none',
    }
    world.command({ type: `recovery.${kind}`, recoveryId: recovery?.recoveryId ?? 'none', message } as Command)
  }),
)

/** A summary of older turns begins, ends, is cancelled, is waited for. */
const compaction = fc.oneof(
  fc.nat(5).map((n) =>
    command(({ state, journal }) => {
      const { items, turns } = state.view
      const openings = items.filter((item) => turns.some((row) => row.userItemId === item.id))
      const newest = items.findLast((item) => item.kind === 'compaction')?.pos ?? 0
      const places = openings.flatMap(({ pos }) =>
        pos - 1 > newest && items.some((item) => item.pos < pos) ? pos - 1 : [],
      )
      const place = places.at(n) ?? null
      const through = items.findLast((item) => item.pos < (place ?? Number.MAX_SAFE_INTEGER))?.pos ?? 0
      const reason = n % 2 === 0 ? ('after_settle' as const) : ('manual' as const)
      return { type: 'compaction.start', jobId: `job-${journal.length}`, startedAt: 1, reason, through, place }
    }),
  ),
  fc.tuple(fc.boolean(), fc.boolean()).map(([current, written]) =>
    command(({ state }) => ({
      type: 'compaction.end',
      jobId: (current ? state.view.header.compaction?.jobId : undefined) ?? 'none',
      mark: written
        ? {
            coversThrough: state.view.items[0]?.id ?? 'none',
            summary: 's',
            tokensBefore: 2,
            tokensAfter: 1,
            model: null,
          }
        : null,
      error: null,
      context: null,
      usage: null,
    })),
  ),
  fc.constant(
    command(({ state }) => ({ type: 'compaction.cancel', jobId: state.view.header.compaction?.jobId ?? 'none' })),
  ),
  fc.constantFrom(7, 9, null).map((since) => report(() => ({ type: 'compacting', since }))),
)

const cards = ({ state }: World) =>
  state.view.items.filter((item): item is ItemOf<'subagent'> => item.kind === 'subagent')
const asks = ({ state }: World) =>
  state.view.items.filter(
    (item): item is ItemOf<'approval'> | ItemOf<'question'> =>
      (item.kind === 'approval' || item.kind === 'question') && item.askedIn !== undefined,
  )
const nth = <T>(all: readonly T[], n: number) => all.at(-1 - (n % Math.max(1, all.length)))
const progress = { steps: 1, usage: { ...noUsage, input: 3 }, actions: ['Read a'] }

/** Subagents are asked for, get on, ask and end, again and late ones too. */
const subagent: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.boolean().map(
      (background): Act =>
        (world) =>
          world.spawn(background),
    ),
  },
  fc.tuple(fc.nat(5), fc.constantFrom('starting' as const, 'model' as const, 'tools' as const)).map(([n, phase]) =>
    command((world) => ({
      type: 'subagent.changed',
      itemId: nth(cards(world), n)?.id ?? 'none',
      progress: { ...progress, phase },
    })),
  ),
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.nat(5), fc.constantFrom('done' as const, 'failed' as const, 'stopped' as const), fc.nat(9))
      .map(([n, phase, needed]) =>
        command((world) => ({
          type: 'subagent.ended',
          itemId: nth(cards(world), n)?.id ?? 'none',
          end: {
            ...progress,
            phase,
            told: 'so',
            ...(needed === 0 ? { needed: { code: 'person.needed' as const, message: 'nobody' } } : {}),
          },
        })),
      ),
  },
  fc.tuple(fc.nat(5), fc.constantFrom('approval' as const, 'question' as const)).map(([n, kind]) =>
    command((world) => ({
      type: 'subagent.asks',
      itemId: nth(cards(world), n)?.id ?? 'none',
      ask: askOf(kind, `ask-${world.journal.length}`),
    })),
  ),
  fc.nat(5).map((n): Act => (world) => {
    const ask = nth(asks(world), n)
    const end = { status: 'final', endedAt: 1, state: ask?.kind === 'question' ? 'answered' : 'allowed' }
    if (ask) world.command({ type: 'subagent.asks', itemId: ask.toolItemId, ask: { ...ask, ...end } as never })
  }),
  fc.tuple(fc.nat(5), fc.boolean()).map(([n, all]) =>
    command((world) => ({
      type: 'subagent.stop',
      itemId: all ? null : (nth(cards(world), n)?.id ?? 'none'),
      reason: 'person',
    })),
  ),
  fc.constant(command(() => ({ type: 'subagent.next' }))),
  fc.constant(command((world) => ({ type: 'subagent.waited', turnId: world.state.turn?.id ?? 'none' }))),
  fc.constant(report(() => ({ type: 'mayEnd', ending: 'answer' }))),
)

const event = fc.oneof(
  { weight: 5, arbitrary: subagent },
  { weight: 2, arbitrary: compaction },
  { weight: 12, arbitrary: act },
  { weight: 1, arbitrary: fc.constant<Act>((world) => kill(world)) },
  {
    weight: 2,
    arbitrary: fc.array(fc.oneof({ weight: 4, arbitrary: act }, subagent), { minLength: 1, maxLength: 4 }).map(
      (acts): Act =>
        (world) =>
          failToSave(world, acts),
    ),
  },
)

test(
  'C-58 C-64 C-96 C-100 C-102 C-106 T-1 T-2 T-3 T-9 T-10 T-20 T-26 T-27 T-29 T-30 T-31 T-35 T-41 T-52 T-53 T-54 T-61 T-182 T-201 S-16 X-608 any order of commands, reports, kills and failing disks keeps the invariants',
  () => {
    fc.assert(
      fc.property(fc.array(event, { minLength: 1, maxLength: 60, size: 'max' }), (events) => {
        const world = new World()
        const firstTimes = new Map<string, number>()
        for (const each of events) {
          const length = world.journal.length
          attempt(each, world)
          for (const { type, ...more } of world.journal.slice(length)) {
            if (type === 'turn.started' && 'turnId' in more) world.turns.push(more.turnId!)
            if (type === 'item.put' && 'item' in more) {
              expect(more.item.createdAt).toBe(firstTimes.get(more.item.id) ?? more.item.createdAt)
              firstTimes.set(more.item.id, more.item.createdAt)
            }
          }
          const { view, turn } = world.state
          expect(view.turns.filter((one) => one.outcome === null).length).toBe(turn ? 1 : 0)
          expect(view.turn?.id).toBe(turn?.id)
          expect(view.header.currentTurnId).toBe(turn?.id ?? null)
          expect(view.header.itemCount).toBe(view.items.filter((item) => item.visible).length)
          expect(new Set(firstTimes.keys())).toEqual(new Set(view.items.map((item) => item.id)))
          checkWords(world)
        }
        checkJournal(world)
      }),
      { numRuns: Number(process.env['LATHE_RUNS'] ?? 500) },
    )
  },
  Number(process.env['LATHE_RUNS'] ?? 500) * 100,
)

/** Whatever starts by itself: never while held, never twice, never before a person (T-26 to T-31). */
function checkAutomatic(before: SessionState, after: SessionState, input: Input, reply: any): void {
  const byPerson = new Set(['submit', 'followUp.start', 'recovery.continue', 'hold.release'])
  if (before.view.header.automaticHeld && !after.view.header.automaticHeld)
    expect(input.kind === 'command' && byPerson.has(input.command.type)).toBe(true)
  if (input.kind !== 'command' || input.command.type !== 'submit') return
  const { source, completionKeys = [] } = input.command.message
  const started = after.turn !== null && after.turn.id !== before.turn?.id
  if (isPersonal(source)) {
    const yields = before.turn?.background && input.command.whenBusy !== 'steer' && reply.accepted === 'queued'
    if (yields) expect(after.turn?.stop ?? 'settled').not.toBeNull()
    return
  }
  const known = new Map(before.hidden.completionKeys.map((one) => [one.key, one.turnId]))
  const delivered = completionKeys.length > 0 && completionKeys.every((key) => known.has(key))
  expect(started).toBe(!delivered)
  if (started) expect(before.view.header.automaticHeld).toBeNull()
  expect(reply.turnId).toBe(delivered ? known.get(completionKeys[0]!) : after.turn!.id)
  const bound = new Map(after.hidden.completionKeys.map((one) => [one.key, one.turnId]))
  for (const key of completionKeys) expect(bound.get(key)).toBe(delivered ? known.get(key) : reply.turnId)
}

/** Each message that was accepted is in exactly one place, or was given back (T-3). */
function checkWords({ state, kept }: World): void {
  const { header, turn, items } = state.view
  const places = [...items.filter((item) => item.kind === 'user'), ...(turn?.steers ?? []), ...header.queue.followUps]
  const words = places
    .flatMap((place) => ('text' in place ? place.text.split('\n\n') : []))
    .filter((text) => text.startsWith('message'))
  expect(words.toSorted()).toEqual([...kept].toSorted())
  // What a machine said never waits as if a person had said it.
  const waiting = [...(turn?.steers ?? []), ...header.queue.followUps]
  expect(waiting.filter(({ text }) => /^(automatic|Go on)/.test(text))).toEqual([])
}

const afterStop = new Set([
  'item.put',
  'item.patch',
  'steers.changed',
  'turn.status',
  'usage.changed',
  'step.ended',
  'turn.settled',
])

/** Events that say the whole of what they name: one that changes nothing is not made (T-52, T-61). */
const wholeValues = new Set([
  'turn.status',
  'steers.changed',
  'usage.changed',
  'plan.changed',
  'approval.queue',
  'question.queue',
  'queue.changed',
  'notices.changed',
  'exec.changed',
  'changes.changed',
  'session.recovery',
  'session.changed',
])

function valuesOf({ header, ...view }: SessionView): string {
  return JSON.stringify([
    { ...header, lastSeq: 0, rev: 0 },
    { ...view, items: [] },
  ])
}

function checkJournal({ journal, state, empty }: World): void {
  if (journal.length === 0) return
  // Folding the journal gives the live state; every event fits its schema; seq rises by one.
  expect(journal.reduce(foldEvent, empty)).toEqual(state.view)
  journal.forEach((each, at) => expect(each.seq).toBe(at + 1))
  for (const each of journal) expect(StoredEventSchema.safeParse(each).error).toBeUndefined()
  const settled = new Set<string>()
  let stopping: string | null = null
  let view = empty
  for (const each of journal) {
    if (each.type === 'turn.settled') expect(view.turn?.status).toBeNull()
    const next = foldEvent(view, each)
    if (wholeValues.has(each.type)) expect(valuesOf(next)).not.toBe(valuesOf(view))
    view = next
    const turnId = 'turnId' in each ? each.turnId : undefined
    if (turnId !== undefined) expect(settled.has(turnId)).toBe(false)
    if (turnId !== undefined && turnId === stopping) expect(afterStop).toContain(each.type)
    if (each.type === 'turn.status' && each.status?.kind === 'stopping') stopping = each.turnId
    if (each.type === 'turn.settled') settled.add(each.turnId)
  }
  // One summary at a time; whatever is written is written with its end.
  let job: string | null = null
  for (const [at, each] of journal.entries()) {
    if (each.type === 'compaction.started') {
      expect(job).toBeNull()
      job = each.jobId
    } else if (each.type === 'compaction.ended') {
      expect(each.jobId).toBe(job)
      job = null
    } else if (each.type === 'item.put' && each.item.kind === 'compaction')
      expect(journal[at + 1]).toMatchObject({ type: 'compaction.ended', markItemId: each.item.id })
  }
  expect(state.view.header.compaction?.jobId ?? null).toBe(job)
  // Each end of a process starts at most one turn, and is told at most once.
  const woken = state.view.turns.flatMap((row) => row.automation?.name.match(/x\d+/g) ?? [])
  expect(new Set(woken).size).toBe(woken.length)
  const told = state.view.items.flatMap((item) => (item.kind === 'notice' && item.contextual ? [item.prompt] : []))
  expect(new Set(told).size).toBe(told.length)
  checkSubagents(state, journal)
  // Items are only ever added, each place taken once; an ended turn leaves nothing open but subagents in the background.
  const places = state.view.items.map((item) => item.pos)
  expect(new Set(places).size).toBe(places.length)
  for (const item of state.view.items)
    if (item.turnId !== null && settled.has(item.turnId) && !(item.kind === 'subagent' && item.background))
      expect(item.endedAt).not.toBeNull()
  const started = journal.filter((each) => each.type === 'turn.started').length
  expect(settled.size).toBe(state.turn ? started - 1 : started)
}

/** No more run than may, each ends once, nothing of it outlives a Stop, and each result in the background is told once (C-96 to C-106). */
function checkSubagents({ view, turn, hidden, subagentAsks }: SessionState, journal: World['journal']): void {
  const all = view.items.filter((item): item is ItemOf<'subagent'> => item.kind === 'subagent')
  expect(all.filter((card) => card.endedAt === null && runsNow(card)).length).toBeLessThanOrEqual(subagentsMax)
  const ended = new Set<string>()
  const wakes = new Set<string>()
  for (const { automation } of view.turns)
    for (const id of automation?.name.match(/card-\d+_/g) ?? []) {
      expect(wakes.has(id)).toBe(false)
      wakes.add(id)
    }
  for (const each of journal) {
    const id = each.type === 'item.put' ? each.item.id : each.type === 'item.patch' ? each.itemId : ''
    expect(ended.has(id)).toBe(false)
    if (each.type === 'item.put' && each.item.kind === 'subagent' && each.item.endedAt !== null) ended.add(id)
  }
  const stopped = new Set(
    view.turns.flatMap(({ id, outcome }) => (outcome === 'stopped' || outcome === 'interrupted' ? [id] : [])),
  )
  for (const card of all) {
    if (stopped.has(card.turnId ?? '')) expect(card.endedAt).not.toBeNull()
    const waiting = hidden.notices.filter((one) => one.id === card.id && one.itemId === null).length
    const told = view.items.filter(
      (item) => item.kind === 'notice' && item.contextual && item.prompt?.includes(card.id),
    )
    expect(waiting + told.length).toBe(card.background && card.endedAt !== null ? 1 : 0)
  }
  // What they ask stands open as long as they may act, is counted, and keeps the clock of the turn.
  const open = view.items.filter(
    (item) =>
      (item.kind === 'approval' || item.kind === 'question') && item.askedIn !== undefined && item.endedAt === null,
  )
  expect(new Set(open.map(({ id }) => id))).toEqual(new Set(subagentAsks.keys()))
  for (const ask of open) expect(all.find(({ id }) => 'toolItemId' in ask && id === ask.toolItemId)?.endedAt).toBeNull()
  if (turn && turn.approvals.size + turn.questions.size + subagentAsks.size === 0) expect(turn.personSince).toBeNull()
}
