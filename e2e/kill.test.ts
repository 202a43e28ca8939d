/**
 * `kill -9` of the host at random moments of a turn with text, plan, reading, editing, a command and several steps. Eight
 * kills by default, `LATHE_KILLS=50` for more; `LATHE_KILL_SEED` repeats a run's moments as far as a clock can.
 */
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import type { SessionEvent, StoredEvent } from '../preload/contract/events.ts'
import type { SessionView } from '../preload/contract/session.ts'
import { HostClient } from './host-client.ts'
import { Lab, readRun, type LatheProcess } from './lab.ts'
import { faults, mending, planned, task } from './mending.ts'
import { randoms } from './randoms.ts'

const kills = Number(process.env['LATHE_KILLS'] ?? 8)
const seed = Number(process.env['LATHE_KILL_SEED'] ?? Date.now() % 100_000)
/** A pause between two words: the turn lasts long enough to be hit anywhere. */
const everyMs = 15
const limitMs = 60_000 + kills * 20_000

/** What was printed before the kill: each line is an event that was durable. */
function printed(stdout: string): StoredEvent[] {
  const whole = stdout.slice(0, stdout.lastIndexOf('\n') + 1)
  return readRun(whole.replaceAll(/^\{"type":"error".*\n/gm, '')).events
}

async function serve(lab: Lab): Promise<LatheProcess> {
  // It may live through two kills and what is looked at between them, however slow the machine.
  const host = lab.start(['serve', '--json'], { limitMs })
  await host.line((line) => line.includes('"url"'))
  return host
}

async function endOf(started: LatheProcess, signal: NodeJS.Signals): Promise<void> {
  started.kill(signal)
  if (started.isRunning) await once(started.child, 'exit')
  await started.ended
}

/** Sentences about what does not hold; empty where all is well. */
type Doubts = string[]

function doubt(holds: boolean, sentence: string): Doubts {
  return holds ? [] : [sentence]
}

/** The transcript holds the prompt, and all that the printed events said, as far as they said it. */
function whatIsLost(view: SessionView, journal: SessionEvent[], before: StoredEvent[]): Doubts {
  const texts = new Map<string, string>()
  const tools = new Map<string, string>()
  for (const event of before) {
    if (event.type === 'item.put' && 'text' in event.item) texts.set(event.item.id, event.item.text)
    if (event.type === 'item.put' && event.item.kind === 'tool') tools.set(event.item.id, event.item.state)
    if (event.type === 'item.delta' && event.field === 'text')
      texts.set(event.itemId, (texts.get(event.itemId) ?? '').slice(0, event.offset) + event.add)
    if (event.type === 'item.patch' && event.set.state !== undefined) tools.set(event.itemId, event.set.state)
  }
  const item = (id: string) => view.items.find((one) => one.id === id)
  const ended = [...tools].filter(([, state]) => state === 'ok' || state === 'error')
  const [prompt] = view.items
  const first = (before[0]?.seq ?? 1) - 1
  const stored = journal.slice(first, first + before.length)
  const plan = before.findLast((event) => event.type === 'plan.changed')
  return [
    ...doubt(prompt?.kind === 'user' && prompt.text === task, 'The prompt is not there.'),
    ...doubt(
      journal.every(({ seq }, at) => seq === at + 1),
      'The journal has a gap or a repeat.',
    ),
    ...doubt(isDeepStrictEqual(stored, before), 'The journal is not what was printed.'),
    ...ended.flatMap(([id, state]) => {
      const found = item(id)
      return doubt(found?.kind === 'tool' && found.state === state, `A tool that was ${state} is not.`)
    }),
    ...[...texts].flatMap(([id, text]) => {
      const found = item(id)
      return doubt(found !== undefined && 'text' in found && found.text.startsWith(text), `Text is lost of: ${text}`)
    }),
    ...doubt(plan?.type !== 'plan.changed' || view.header.plan?.entries.length === planned.length, 'The plan is lost.'),
  ]
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

    const whole = await lab.lathe(['run', '--json', '--approve', 'all', task])
    const lines = whole.stdout.split('\n').length - 1

    let host: LatheProcess | null = null
    for (let kill = 1; kill <= kills; kill++) {
      await lab.git('checkout', '--quiet', '--', '.')
      lab.script(mending('ms', everyMs))
      // Every third time the command line is the host itself; else a host it is attached to is killed.
      if (host && kill % 3 === 0) {
        await endOf(host, 'SIGTERM')
        host = null
      } else if (!host && kill % 3 !== 0) host = await serve(lab)
      // A moment within the turn, however fast the machine: so many lines, and a little later.
      const heard = 1 + Math.floor(random() * lines)
      const later = Math.round(random() * 10)
      const run = lab.start(['run', '--json', '--approve', 'all', task])
      const { sessionId } = JSON.parse(await run.line((line) => line.includes('"session"')))
      await run.line(() => run.lines.length >= heard).catch(() => {})
      await delay(later)
      await endOf(host ?? run, 'SIGKILL')
      const { stdout } = await run.ended
      const before = printed(stdout)
      const asked = lab.asked().length
      const requests = lab.server.asked().length

      host = await serve(lab)
      using client = await HostClient.of(lab.home)
      const view = await client.open(sessionId)
      const journal = await client.journal(view)
      const settledBefore = before.at(-1)?.type === 'turn.settled'
      const outcome = settledBefore ? 'completed' : expectedOutcome(journal)
      if (settledBefore) ends.settledBefore++
      else ends[outcome]++
      const { lastOutcome, recovery, currentTurnId } = view.header
      // The file is as it was or as it was to be, and never the latter without a card that tells of it.
      const file = await lab.read('index.js')
      const isMended = file.includes(faults.ms.mended)
      const edit = view.items.find((one) => one.kind === 'tool' && one.name === 'edit_file')
      const edited = edit?.kind === 'tool' ? edit.state : 'none'
      const requestsAfterStart = lab.server.asked().length - requests

      lab.script([{ emit: [{ text: 'Going on.' }] }])
      const next = await lab.lathe(['run', '--json', '--session', sessionId, 'And now?'])
      const after = await client.open(sessionId)
      const doubts = [
        ...whatIsLost(view, journal, before),
        ...doubt(view.turn === null && currentTurnId === null, 'A turn is still shown as running.'),
        ...doubt(lastOutcome === outcome, `The turn is shown as ${lastOutcome}, not ${outcome}.`),
        ...doubt(
          outcome === 'interrupted' ? recovery?.status === 'awaiting' && recovery.canContinue : recovery === null,
          'What to do is not asked, or asked in vain.',
        ),
        ...doubt(
          view.items.every(({ status }) => status !== 'live'),
          'An item is still live.',
        ),
        ...doubt(isMended || file.includes(faults.ms.broken), 'The file is torn.'),
        ...doubt(
          !isMended || edited === 'ok' || edited === 'unknown',
          `The file is mended, and its edit is ${edited}.`,
        ),
        ...doubt(isMended || edited !== 'ok', 'The edit is shown as done, and the file is as it was.'),
        ...doubt(requestsAfterStart === 0, `The restart asked the model ${requestsAfterStart} times.`),
        ...doubt(next.code === 0, `The next message ended with ${next.code}: ${next.stderr}`),
        ...doubt(after.header.lastOutcome === 'completed', 'The next turn is not shown as completed.'),
        ...doubt((after.header.recovery?.status ?? 'resolved') === 'resolved', 'The recovery is not resolved.'),
        ...doubt(lab.asked().length === asked + 1, 'The next message was not exactly one request.'),
        ...doubt(everyCallIsAnswered(lab.asked()[asked]?.body.messages ?? []), 'A call is sent without its result.'),
      ]
      expect({ kill, seed, heard, later, doubts }).toEqual({ kill, seed, heard, later, doubts: [] })
    }
    if (host) await endOf(host, 'SIGTERM')
    await expect.poll(() => lab.processes(), { timeout: 10_000 }).toEqual([])
    console.log(`kill -9, seed ${seed}, turn of ${lines} lines: ${JSON.stringify(ends)}`)
  },
  limitMs,
)

/** A model refuses a history in which a call has no result. */
function everyCallIsAnswered(
  messages: { role: string; tool_calls?: { id: string }[]; tool_call_id?: string }[],
): boolean {
  const called = messages.flatMap(({ tool_calls }) => tool_calls?.map(({ id }) => id) ?? [])
  const answered = messages.flatMap(({ tool_call_id }) => tool_call_id ?? [])
  return isDeepStrictEqual(answered, called)
}
