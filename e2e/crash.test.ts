/**
 * One session of 30 turns with tools, steers, a queue, approvals, stops and errors (`crash-script.ts`); its host is ended
 * by SIGKILL at random points and started again, and the person goes on as a window would: what was not answered is asked
 * again under the same id, an interrupted turn is continued. In the end the transcript is the expected one, but for what a
 * kill may lose:
 *
 * 1. The end of a text the model was still saying: what no event had brought to a window. It is said anew.
 * 2. The outcome of a call that was running. The card says "may or may not have run", nothing repeats it by itself; the
 *    step it belongs to is taken anew.
 * 3. An approval card nobody had answered. The call did not run; it is asked for anew.
 * 4. The turn's own end: it is `interrupted`, unless its answer was whole (T-185) or its Stop was accepted.
 * 5. A request that was not answered yet: it took place once or not at all, and repeating it makes it once.
 *
 * Nothing of it was accepted: the test holds every reply and every event a client received against the last transcript and
 * journal. Messages stand there exactly once, decisions as they were made, stopped turns as stopped, every event byte for
 * byte.
 *
 * Four kills by default, `LATHE_CRASHES=200` for the real thing; `LATHE_KILL_SEED` repeats a run's points as far as a clock can.
 */
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import { LatheError } from '../preload/contract/errors.ts'
import type { StoredEvent } from '../preload/contract/events.ts'
import { foldEvent } from '../preload/contract/fold.ts'
import { newId } from '../preload/contract/ids.ts'
import type { Item } from '../preload/contract/items.ts'
import type { SubmitReply } from '../preload/contract/session-routes.ts'
import type { SessionView, Turn } from '../preload/contract/session.ts'
import {
  answerOf,
  answerText,
  expectedTranscript,
  isBeginning,
  isAside,
  expectedAside,
  kindOf,
  refusal,
  refusedStep,
  said,
  taskCount,
  type Seen,
} from './crash-script.ts'
import { HostClient } from './host-client.ts'
import { Lab, type LatheProcess } from './lab.ts'
import { randoms } from './randoms.ts'

const kills = Number(process.env['LATHE_CRASHES'] ?? 4)
const seed = Number(process.env['LATHE_KILL_SEED'] ?? Date.now() % 100_000)
/** About how many events the session has when nobody kills it; the kills are spread over them. */
const eventsExpected = 1_200
/** A continued turn has this many before it says anything new; sooner on average, and nothing would ever get done. */
const eventsAtLeast = 14
/** A host that lives longer hangs. */
const hostMs = 30 * 60_000

type Ask = { what: string; text?: string; reply: unknown }

/** A person before a window: holds what it was told, and tells it to every new host. */
class Person {
  readonly lab: Lab
  /** Every answer a host gave to a request, and every event that was received: what must never be lost. */
  readonly answered: Ask[] = []
  readonly received: StoredEvent[] = []
  killed = 0
  killedStarting = 0
  /** How much of the script is done, from 0 to 1. */
  progress = 0
  readonly #random: () => number
  sessionId = ''
  view: SessionView | null = null
  #host: LatheProcess | null = null
  #client: HostClient | null = null
  #starting: Promise<void> | null = null
  #untilKill = Infinity
  #wake: (() => void)[] = []
  #fault: unknown = null

  constructor(lab: Lab, random: () => number) {
    this.lab = lab
    this.#random = random
  }

  /** A host serves and the session is followed, until the next kill. */
  async up(): Promise<HostClient> {
    if (this.#client && this.#lives) return this.#client
    this.#starting ??= this.#start().finally(() => (this.#starting = null))
    await this.#starting
    return this.up()
  }

  async #start(): Promise<void> {
    this.#client?.[Symbol.dispose]()
    this.#client = null
    if (this.#host) await this.#host.ended
    const host = this.lab.start(['serve', '--json'], { limitMs: hostMs })
    this.#host = host
    this.#untilKill = Infinity
    // Some are killed while they recover what the one before left open.
    const early = this.killed > 0 && this.killed < kills && this.#random() < 0.1
    if (early) void delay(Math.round(this.#random() * 700)).then(() => this.kill('starting'))
    try {
      await host.line((line) => line.includes('"url"'))
      this.#client = await HostClient.of(this.lab.home)
      if (this.sessionId === '') return
      await this.follow(this.sessionId)
      if (!early) this.expose()
    } catch (error) {
      if (this.#lives) throw error
    }
  }

  /** From now on the host is killed at some event: so soon that the kills are used up with the last task. */
  expose(): void {
    const left = kills - this.killed
    const pace = (1 - this.progress) / (left / kills)
    const mean = Math.max(eventsAtLeast, (eventsExpected / kills) * Math.min(4, pace))
    this.#untilKill = left > 0 ? 1 + Math.floor(this.#random() * 2 * mean) : Infinity
  }

  /** Opens the session and reads on from the last event received, as a window that reconnects. */
  async follow(sessionId: string): Promise<void> {
    this.sessionId = sessionId
    const client = this.#client!
    const opened = await client.open(sessionId)
    if (!this.view) this.view = opened
    const { journalId } = this.view
    if (opened.journalId !== journalId) throw new Error('The journal is another one.')
    void this.#read(client, journalId)
    while (this.view.header.lastSeq < opened.header.lastSeq && this.#lives) await this.changed()
  }

  async #read(client: HostClient, journalId: string): Promise<void> {
    try {
      for await (const event of client.events(this.sessionId, this.view!.header.lastSeq, journalId)) {
        if (event.seq === null) {
          if (event.type === 'stream.resync')
            throw new Error(`What was received is not in the journal: ${event.reason}`)
          continue
        }
        this.received.push(event)
        this.view = foldEvent(this.view!, event)
        if (--this.#untilKill === 0) void delay(Math.round(this.#random() * 8)).then(() => this.kill('running'))
        this.#changed()
      }
    } catch (error) {
      if (!(error instanceof LatheError) || error.code !== 'host.unreachable') this.#fault = error
    }
    this.#changed()
  }

  get #lives(): boolean {
    return Boolean(this.#host?.isRunning && !this.#host.child.killed)
  }

  kill(when: 'starting' | 'running' | 'idle'): void {
    if (!this.#host || !this.#lives || this.killed >= kills) return
    this.#host.kill('SIGKILL')
    this.killed++
    if (when === 'starting') this.killedStarting++
    void this.#host.ended.then(() => this.#changed())
  }

  #changed(): void {
    for (const wake of this.#wake.splice(0)) wake()
  }

  /** The next event, or the end of the host. */
  async changed(): Promise<void> {
    if (this.#lives && !this.#fault) await new Promise<void>((resolve) => this.#wake.push(resolve))
    if (this.#fault) throw this.#fault
  }

  /** Over all the hosts it takes. */
  async until(test: (view: SessionView) => boolean): Promise<void> {
    for (await this.up(); !test(this.view!); await this.up()) await this.changed()
  }

  /** Asks until a host answers, under one id; a refusal is an answer too. */
  async ask<R>(
    what: string,
    call: (client: HostClient, requestId: string) => Promise<R>,
    text?: string,
  ): Promise<R | LatheError> {
    const requestId = newId()
    for (;;) {
      const client = await this.up()
      try {
        const reply = await call(client, requestId)
        this.answered.push({ what, ...(text === undefined ? {} : { text }), reply })
        return reply
      } catch (error) {
        if (!(error instanceof LatheError)) throw error
        if (error.code !== 'host.unreachable' && this.#lives) return error
        if (this.#lives) this.#host?.kill('SIGKILL')
        await this.#host?.ended
      }
    }
  }

  async send(text: string, whenBusy: 'refuse' | 'queue' | 'steer' = 'refuse'): Promise<void> {
    const { sessionId } = this
    const reply = await this.ask(
      'submit',
      ({ handlers, who }, requestId) =>
        handlers.session.submit({ requestId, sessionId, text, attachments: [], whenBusy }, who),
      text,
    )
    // What waited in the queue may have begun just now: then it is that turn's, and this is not sent.
    if (reply instanceof LatheError && reply.code !== 'turn.busy') throw reply
  }

  async quit(): Promise<void> {
    const host = this.#host
    this.#client?.[Symbol.dispose]()
    if (!host) return
    host.kill('SIGTERM')
    if (host.isRunning) await once(host.child, 'exit')
    await host.ended
  }
}

test(
  `T-3 T-15 T-17 T-49 T-182 T-192 S-15 S-18 killed at ${kills} random points of a session of 30 turns, nothing that was accepted is lost`,
  async () => {
    await using lab = await Lab.open()
    const failing = new Set(
      Array.from({ length: taskCount }, (_, task) => task).filter((task) => kindOf(task) === 'fail'),
    )
    lab.server.script((request) => answerOf(request, failing))
    const person = new Person(lab, randoms(seed))
    const client = await person.up()
    await client.trust(lab.workspace)
    const { sessionId } = await client.handlers.sessions.create(
      { requestId: newId(), workspace: lab.workspace, approvalMode: 'ask' },
      client.who,
    )
    // An unsent session is its window's alone: the first message is what makes it durable.
    await client.handlers.session.submit({ requestId: newId(), sessionId, text: 'Hello', attachments: [] }, client.who)
    await person.follow(sessionId)
    while (person.view?.turns.at(-1)?.outcome !== 'completed') await person.changed()
    person.expose()

    for (let task = 0; task < taskCount; task++) {
      person.progress = task / taskCount
      await work(person, task, failing)
    }
    const idle = kills - person.killed
    while (person.killed < kills) {
      await person.up()
      person.kill('idle')
    }
    const all = await person.ask('read', (host) => readAll(host, sessionId))
    if (all instanceof LatheError) throw all
    const [items, turns, journal, view] = all
    await person.quit()

    const doubts = [
      ...whatIsLost(person, items, turns, journal),
      ...whatDiffers(items, turns),
      ...doubt(view.turn === null && view.header.currentTurnId === null, 'A turn is still shown as running.'),
      ...doubt(view.header.queue.followUps.length === 0, 'A message still waits.'),
      ...doubt(person.killed === kills, `Only ${person.killed} kills took place.`),
    ]
    const lost = {
      'texts cut short': items.filter((item) => item.kind === 'text' && item.status === 'partial').length,
      'calls of unknown outcome': items.filter((item) => item.kind === 'tool' && item.state === 'unknown').length,
      'calls that never began': items.filter((item) => item.kind === 'tool' && item.state === 'cancelled').length,
      'cards asked anew': items.filter((item) => item.kind === 'approval' && item.state === 'interrupted').length,
      'turns interrupted': turns.filter((turn) => turn.outcome === 'interrupted').length,
    }
    console.log(
      `${person.killed} kills (${person.killedStarting} while starting, ${idle} idle), seed ${seed}: ${turns.length} turns, ${journal.length} events, ${person.answered.length} answers held to; a kill took ${JSON.stringify(lost)}`,
    )
    expect({ seed, doubts }).toEqual({ seed, doubts: [] })
    await expect.poll(() => lab.processes(), { timeout: 10_000 }).toEqual([])
  },
  120_000 + kills * 30_000,
)

/** One task from its message to where nothing more is to be done, over all the hosts that takes. */
async function work(person: Person, task: number, failing: Set<number>): Promise<void> {
  const kind = kindOf(task)
  const { sessionId } = person
  let extra = kind === 'queue' || kind === 'steer' ? 'to be sent' : 'none'
  let stopped = kind !== 'stop'
  let wentOn = 0
  await person.send(said.task(task))
  for (;;) {
    await person.up()
    const { header, turn, approvals, items, turns } = person.view!
    const isStreaming = items.some((item) => item.kind === 'text' && item.endedAt === null)
    if (approvals.head) {
      const { id, request } = approvals.head
      const refused = kind === 'approvals' && request.detail.includes(`/${task}-${refusedStep}`)
      await person.ask(
        refused ? 'deny' : 'allow',
        ({ handlers, who }, requestId) =>
          handlers.approvals.answer(
            {
              requestId,
              sessionId,
              approvalId: id,
              argsHash: request.argsHash,
              decision: refused ? 'deny' : 'once',
              ...(refused ? { feedback: refusal(task, refusedStep) } : {}),
            },
            who,
          ),
        id,
      )
      await person.until(({ approvals: now }) => now.head?.id !== id)
    } else if (turn && extra === 'to be sent' && isStreaming) {
      extra = 'sent'
      if (kind === 'steer') await person.send(said.also(task), 'steer')
      else for (const which of ['a', 'b'] as const) await person.send(said.later(task, which), 'queue')
    } else if (turn && !stopped && isStreaming) {
      stopped = true
      await person.send(said.also(task), 'steer')
      const turnId = turn.id
      await person.ask(
        'stop',
        ({ handlers, who }, requestId) => handlers.session.stop({ requestId, sessionId, turnId }, who),
        turnId,
      )
    } else if (turn) await person.changed()
    else if (header.recovery?.status === 'awaiting') {
      const { recoveryId, canContinue } = header.recovery
      if (kind === 'stop' && stopped)
        await person.ask('dismiss', ({ handlers, who }, requestId) =>
          handlers.recovery.dismiss({ requestId, sessionId, recoveryId }, who),
        )
      else if (canContinue)
        await person.ask('continue', ({ handlers, who }, requestId) =>
          handlers.recovery.continue({ requestId, sessionId, recoveryId }, who),
        )
      else await person.send(said.goOn(task, ++wentOn))
      await person.until(
        ({ header: { recovery } }) => recovery?.recoveryId !== recoveryId || recovery.status !== 'awaiting',
      )
    } else if (turns.at(-1)?.outcome === 'failed') {
      const turnId = turns.at(-1)!.id
      failing.delete(task)
      await person.ask('retry', ({ handlers, who }, requestId) =>
        handlers.session.retry({ requestId, sessionId, turnId }, who),
      )
      await person.until((view) => view.turns.at(-1)?.id !== turnId)
    } else if (header.queue.followUps.length > 0) {
      const { followUps, paused } = header.queue
      // What waits starts by itself, but not after a restart (T-183).
      const isStuck = paused === null && (await Promise.race([person.changed(), delay(500, true)])) === true
      if (paused !== null)
        await person.ask('resume', ({ handlers, who }, requestId) =>
          handlers.followUps.resume({ requestId, sessionId }, who),
        )
      else if (isStuck)
        await person.ask('start', ({ handlers, who }, requestId) =>
          handlers.followUps.startNow({ requestId, sessionId, id: followUps[0]!.id }, who),
        )
      if (paused !== null || isStuck) await Promise.race([person.changed(), delay(500)])
    } else if (kind === 'stop' && stopped) return takeBack(person, task)
    else if (items.some((item) => item.kind === 'text' && item.text === answerText(task))) return
    else if (items.some((item) => item.kind === 'user' && item.text === said.task(task))) {
      // A message meant for the queue met no turn any more and became one, in place of what was to be continued.
      const before = turns.length
      await person.send(said.goOn(task, ++wentOn))
      await person.until((view) => view.turns.length > before)
    } else await person.changed()
  }
}

/** What a Stop gave back stands in the draft; the person throws it away. */
async function takeBack(person: Person, task: number): Promise<void> {
  const { sessionId } = person
  const text = said.also(task)
  const draft = await person.ask('draft', ({ handlers, who }) => handlers.session.draft({ sessionId }, who))
  if (draft instanceof LatheError) throw draft
  const places = [
    ...person.view!.items.filter((item) => item.kind === 'user' && item.text === text),
    ...(draft.text.includes(text) ? [draft] : []),
  ]
  person.answered.push({ what: 'given back', text, reply: places.length })
  await person.ask('clear', ({ handlers, who }) =>
    handlers.session.setDraft({ sessionId, text: '', attachments: [], source: 'test' }, who),
  )
}

async function readAll(client: HostClient, sessionId: string): Promise<[Item[], Turn[], StoredEvent[], SessionView]> {
  const view = await client.open(sessionId)
  const journal = (await client.journal(view)) as StoredEvent[]
  const items: Item[] = []
  const turns = new Map<string, Turn>()
  for (let after: string | undefined; ;) {
    const place = after === undefined ? { around: firstItem(journal) } : { after }
    const slice = await client.handlers.session.items({ sessionId, ...place, limit: 400 }, client.who)
    items.push(...slice.items)
    for (const turn of slice.turns) turns.set(turn.id, turn)
    after = slice.items.at(-1)?.id
    if (slice.after === 0 || after === undefined) break
  }
  return [items, [...turns.values()].toSorted((a, b) => a.startedAt - b.startedAt), journal, view]
}

function firstItem(journal: StoredEvent[]): string {
  const put = journal.find((event) => event.type === 'item.put')
  if (put?.type !== 'item.put') throw new Error('The journal has no item.')
  return put.item.id
}

/** Sentences about what does not hold; empty where all is well. */
type Doubts = string[]

function doubt(holds: boolean, sentence: string): Doubts {
  return holds ? [] : [sentence]
}

/** Everything a client was told, against what is there in the end. */
function whatIsLost(person: Person, items: Item[], turns: Turn[], journal: StoredEvent[]): Doubts {
  const bySeq = new Map(journal.map((event) => [event.seq, event]))
  const turn = (id: string) => turns.find((one) => one.id === id)
  // A retry says it again by itself; Continue says nothing of the person's.
  const words = items.filter(
    (item) =>
      item.kind === 'user' && item.source === 'person' && item.text !== 'Continue' && !turn(item.turnId!)?.retryOf,
  )
  const times = (text: string) => words.filter((item) => item.kind === 'user' && item.text === text).length
  return [
    ...doubt(
      journal.every(({ seq }, at) => seq === at + 1),
      'The journal has a gap or a repeat.',
    ),
    ...person.received
      .filter((event) => !isDeepStrictEqual(bySeq.get(event.seq), event))
      .map((event) => `Event ${event.seq} is not what a window was shown: ${JSON.stringify(event).slice(0, 200)}`),
    ...person.answered.flatMap(({ what, text = '', reply }): Doubts => {
      switch (what) {
        case 'submit': {
          const { accepted } = reply as SubmitReply
          // A steer that a Stop gave back is accounted for there.
          const isBack = person.answered.some((one) => one.what === 'given back' && one.text === text)
          if (isBack) return []
          return doubt(times(text) === 1, `"${text}" was ${accepted} and stands there ${times(text)} times.`)
        }
        case 'given back':
          return doubt(reply === 1, `"${text}" was in ${String(reply)} places after the Stop.`)
        case 'allow':
        case 'deny': {
          const state = items.find((item) => item.id === text)
          const wanted = what === 'allow' ? 'allowed' : 'denied'
          return doubt(state?.kind === 'approval' && state.state === wanted, `An approval was ${wanted}, and is not.`)
        }
        case 'stop': {
          const { stopped } = reply as { stopped: boolean }
          return doubt(
            !stopped || turn(text)?.outcome === 'stopped',
            `A turn was stopped and is ${turn(text)?.outcome}.`,
          )
        }
        case 'continue':
        case 'retry':
          return doubt((reply as SubmitReply).accepted === 'started', `A ${what} was not started.`)
        default:
          return []
      }
    }),
    ...words.flatMap((item) =>
      item.kind === 'user' ? doubt(times(item.text) === 1, `"${item.text}" stands there twice.`) : [],
    ),
    ...doubt(
      turns.every((one) => one.outcome !== null),
      'A turn has no end.',
    ),
    ...doubt(
      items.every((item) => item.status !== 'live'),
      'An item is still live.',
    ),
  ]
}

/** The transcript less what a kill may lose, against the script's. */
function whatDiffers(items: Item[], turns: Turn[]): Doubts {
  const turnOf = (item: Item) => turns.find((turn) => turn.id === item.turnId)
  const isTriedAgain = (item: Item) => turns.some((turn) => turn.retryOf !== undefined && turn.retryOf === item.turnId)
  const isWhole = (item: Item) => item.kind === 'tool' && (item.state === 'ok' || item.state === 'denied')
  // A step is taken anew where none of its calls ended, and an answer is given anew where its turn was interrupted.
  const isTakenAnew = (item: Item) => {
    const calls = items.filter((one) => one.kind === 'tool' && one.stepId === item.stepId)
    return calls.length > 0 ? !calls.some(isWhole) : turnOf(item)?.outcome === 'interrupted'
  }
  const seen = items.flatMap((item): Seen[] => {
    if (isTriedAgain(item)) return []
    if (item.kind === 'tool')
      return isWhole(item) ? [{ kind: 'tool', what: (item.args as { command: string }).command }] : []
    if (item.kind !== 'text' || item.status === 'partial' || isTakenAnew(item) || isAside(item.text)) return []
    return item.text === 'What is the task?' ? [] : [{ kind: 'text', what: item.text }]
  })
  const expected = expectedTranscript()
  const asides = items.flatMap((item) =>
    item.kind === 'text' && item.status === 'final' && isAside(item.text) && !isTakenAnew(item) ? [item.text] : [],
  )
  const at = expected.findIndex((one, index) => !isDeepStrictEqual(one, seen[index]))
  return [
    ...expectedAside().flatMap(({ asked, answer }) => {
      const turn = items.find((item) => item.kind === 'user' && item.text === asked)
      // Another message came before its turn was continued, and stands in its place (T-195).
      const isSuperseded = turn !== undefined && turnOf(turn)?.outcome === 'interrupted'
      const times = asides.filter((one) => one === answer).length
      return doubt(times === 1 || (times === 0 && isSuperseded), `Said ${times} times: ${answer}`)
    }),
    ...items.flatMap((item) =>
      item.kind === 'text' && item.status === 'partial'
        ? doubt(isBeginning(item.text), `No beginning of anything that was said: ${item.text}`)
        : [],
    ),
    ...doubt(
      at < 0 && seen.length === expected.length,
      `The transcript differs at ${at}: ${JSON.stringify(seen.slice(Math.max(0, at - 1), at + 3))} instead of ${JSON.stringify(expected.slice(Math.max(0, at - 1), at + 3))}; ${seen.length} of ${expected.length}.`,
    ),
  ]
}
