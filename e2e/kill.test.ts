/**
 * `kill -9` of the host at random moments of a turn with text, plan, reading, editing, a command and several steps. Twelve
 * kills by default, `LATHE_KILLS=50` for more; `LATHE_KILL_SEED` repeats a run's moments as far as a clock can.
 */
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { SessionEvent, StoredEvent } from '../preload/contract/events.ts'
import type { SessionView } from '../preload/contract/session.ts'
import { HostClient } from './host-client.ts'
import { Lab, readRun, type LatheProcess } from './lab.ts'
import { faults, mending, task } from './mending.ts'

const kills = Number(process.env['LATHE_KILLS'] ?? 12)
const seed = Number(process.env['LATHE_KILL_SEED'] ?? Date.now() % 100_000)
/** A pause between two words: the turn lasts long enough to be hit anywhere. */
const everyMs = 15

/** Numbers from 0 to 1 that a seed repeats. */
function randoms(from: number): () => number {
  let state = from
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}

/** What was printed before the kill: each line is an event that was durable. */
function printed(stdout: string): StoredEvent[] {
  const whole = stdout.slice(0, stdout.lastIndexOf('\n') + 1)
  return readRun(whole.replaceAll(/^\{"type":"error".*\n/gm, '')).events
}

async function serve(lab: Lab): Promise<LatheProcess> {
  const host = lab.start(['serve', '--json'])
  await host.line((line) => line.includes('"url"'))
  return host
}

async function endOf(started: LatheProcess, signal: NodeJS.Signals): Promise<void> {
  started.kill(signal)
  if (started.isRunning) await once(started.child, 'exit')
  await started.ended
}

/** The transcript holds the prompt, and all that the printed events said, as far as they said it. */
function expectKept(view: SessionView, journal: SessionEvent[], before: StoredEvent[]): void {
  expect(view.items[0]).toMatchObject({ kind: 'user', text: task })
  expect(journal.map(({ seq }) => seq)).toEqual(journal.map((_, at) => at + 1))
  const first = before[0]?.seq ?? 1
  expect(journal.slice(first - 1, first - 1 + before.length)).toEqual(before)

  const texts = new Map<string, string>()
  for (const event of before) {
    if (event.type === 'item.put' && 'text' in event.item) texts.set(event.item.id, event.item.text)
    if (event.type === 'item.delta' && event.field === 'text')
      texts.set(event.itemId, (texts.get(event.itemId) ?? '').slice(0, event.offset) + event.add)
    if (event.type === 'item.patch' && ['ok', 'error'].includes(event.set.state ?? ''))
      expect(view.items.find(({ id }) => id === event.itemId)).toMatchObject({ kind: 'tool', state: event.set.state })
  }
  for (const [id, text] of texts) {
    const item = view.items.find((one) => one.id === id)
    expect(item && 'text' in item ? item.text.slice(0, text.length) : null).toBe(text)
  }
  const plan = before.findLast((event) => event.type === 'plan.changed')
  if (plan?.type === 'plan.changed') expect(view.header.plan?.entries).toHaveLength(plan.plan.entries.length)
}

/** How the table of turns.md section 19 would have it, from what the journal held when the host died. */
function expectedOutcome(journal: SessionEvent[]): 'interrupted' | 'completed' {
  const lastStep = journal.findLast((event) => event.type === 'step.started' || event.type === 'step.ended')
  return lastStep?.type === 'step.ended' && lastStep.finish === 'stop' ? 'completed' : 'interrupted'
}

test(
  `T-182 TA-32 SA-11 killed at ${kills} random moments of a turn, every restart has all of it and goes on`,
  async () => {
    await using lab = await Lab.open({ script: mending('ms', everyMs) })
    const random = randoms(seed)
    const ends = { completed: 0, interrupted: 0, settledBefore: 0 }

    const whole = lab.start(['run', '--json', '--approve', 'all', task])
    await whole.line((line) => line.includes('turn.started'))
    const from = performance.now()
    expect((await whole.ended).code).toBe(0)
    const turnMs = performance.now() - from

    let host: LatheProcess | null = null
    for (let kill = 1; kill <= kills; kill++) {
      await lab.git('checkout', '--quiet', '--', '.')
      lab.script(mending('ms', everyMs))
      // Every third time the command line is the host itself; else a host it is attached to is killed.
      if (host && kill % 3 === 0) {
        await endOf(host, 'SIGTERM')
        host = null
      } else if (!host && kill % 3 !== 0) host = await serve(lab)
      const moment = Math.round(random() * turnMs * 1.05)
      const run = lab.start(['run', '--json', '--approve', 'all', task])
      const { sessionId } = JSON.parse(await run.line((line) => line.includes('"session"')))
      await delay(moment)
      await endOf(host ?? run, 'SIGKILL')
      const { stdout } = await run.ended
      const before = printed(stdout)
      const asked = lab.asked().length
      const requests = lab.server.asked().length
      const about = `kill ${kill} of seed ${seed}, ${moment} ms into the turn`

      host = await serve(lab)
      using client = await HostClient.of(lab.home)
      const view = await client.open(sessionId)
      const journal = await client.journal(view)
      expectKept(view, journal, before)
      expect(view.turn, about).toBeNull()
      const { lastOutcome, recovery, currentTurnId } = view.header
      expect(currentTurnId, about).toBeNull()
      const settledBefore = before.at(-1)?.type === 'turn.settled'
      expect(lastOutcome, about).toBe(settledBefore ? 'completed' : expectedOutcome(journal))
      if (lastOutcome === 'interrupted')
        expect(recovery, about).toMatchObject({ status: 'awaiting', canContinue: true })
      else expect(recovery, about).toBeNull()
      if (settledBefore) ends.settledBefore++
      else ends[lastOutcome as 'completed' | 'interrupted']++

      // The file is as it was or as it was to be, and never the latter without a card that tells of it.
      const file = await lab.read('index.js')
      const isMended = file.includes(faults.ms.mended)
      expect(isMended || file.includes(faults.ms.broken), about).toBe(true)
      const edit = view.items.find((item) => item.kind === 'tool' && item.name === 'edit_file')
      if (isMended) expect(edit, about).toMatchObject({ state: expect.stringMatching(/^(ok|unknown)$/) })
      if (edit?.kind === 'tool' && edit.state === 'ok') expect(isMended, about).toBe(true)
      for (const item of view.items) expect(item.status, about).not.toBe('live')
      expect(lab.server.asked(), about).toHaveLength(requests)

      lab.script([{ emit: [{ text: 'Going on.' }] }])
      const next = await lab.lathe(['run', '--json', '--session', sessionId, 'And now?'])
      expect(next.code, `${about}: ${next.stderr}`).toBe(0)
      const after = await client.open(sessionId)
      expect(after.header.lastOutcome, about).toBe('completed')
      expect(after.header.recovery?.status ?? 'resolved', about).toBe('resolved')
      expectAnswered(lab.asked()[asked]!.body.messages)
      expect(lab.asked(), about).toHaveLength(asked + 1)
    }
    if (host) await endOf(host, 'SIGTERM')
    expect(await lab.processes()).toEqual([])
    console.log(`kill -9, seed ${seed}, turn of ${Math.round(turnMs)} ms: ${JSON.stringify(ends)}`)
  },
  60_000 + kills * 20_000,
)

/** No call of the history is left without its result: a model refuses such a request. */
function expectAnswered(messages: { role: string; tool_calls?: { id: string }[]; tool_call_id?: string }[]): void {
  const called = messages.flatMap(({ tool_calls }) => tool_calls?.map(({ id }) => id) ?? [])
  const answered = messages.flatMap(({ tool_call_id }) => tool_call_id ?? [])
  expect(answered).toEqual(called)
}
