/** Steers at the session's mailbox, where commands and the worker's reports meet in whatever order: turns.md 12. */
import { expect, test } from 'vitest'
import { defaultSettings } from '../../preload/contract/settings.ts'
import { newSession } from '../turns/state.ts'
import type { SteerAnswer } from '../turns/steers.ts'
import { SessionActor } from './actor.ts'

/** Numbers from 0 to 1, the same for the same seed. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}

const pause = (ticks: number) =>
  ticks === 0 ? Promise.resolve() : new Promise<void>((resolve) => void setImmediate(resolve))

test('TA-18 T-118 a withdrawal that races a step boundary, in 1,000 orders: withdrawn and never read, or taken and one message', async () => {
  const ends = { withdrawn: 0, taken: 0 }
  for (let seed = 1; seed <= 1_000; seed++) {
    const next = random(seed)
    const session = {
      id: 's',
      journalId: 'j',
      workspace: '/work',
      model: null,
      effort: null,
      approvalMode: 'ask',
    } as const
    const actor = new SessionActor(newSession({ ...session, now: 0 }), {
      storage: { commit: () => pause(Math.floor(next() * 2)), events: async () => ({ events: [], pruned: false }) },
      now: Date.now,
      settings: () => defaultSettings,
      rules: () => [],
      policy: () => ({ approvalMode: 'ask', grants: [] }),
      subagentsElsewhere: () => 0,
      perform: () => {},
      log: () => {},
    })
    const message = { requestId: 'r', fingerprint: '', text: 'do it', attachments: [], model: 'm' }
    const started = await actor.command<{ turnId: string }>({
      type: 'submit',
      message: { ...message, source: 'person', attendance: 'attended' },
      whenBusy: 'refuse',
    })
    await actor.report(started.turnId, { type: 'running' })
    const { steerId } = await actor.command<{ steerId: string }>({
      type: 'steer.add',
      turnId: started.turnId,
      requestId: 's',
      fingerprint: 's',
      text: 'also',
      attachments: [],
    })
    const withdraw = async () => {
      await pause(Math.floor(next() * 2))
      return actor.command<SteerAnswer>({ type: 'steer.withdraw', steerId })
    }
    const boundary = async () => {
      await pause(Math.floor(next() * 2))
      return actor.report(started.turnId, next() < 0.5 ? { type: 'boundary' } : { type: 'mayEnd', ending: 'answer' })
    }
    const isFirst = next() < 0.5
    const both = isFirst ? ([withdraw(), boundary()] as const) : ([boundary(), withdraw()] as const)
    const [withdrawn, read] = (isFirst ? await Promise.all(both) : (await Promise.all(both)).toReversed()) as [
      SteerAnswer,
      { steers: { text: string }[] },
    ]
    const shown = actor.published.items.filter((item) => item.kind === 'user' && item.text === 'also')
    if (withdrawn.done) {
      ends.withdrawn++
      expect([read.steers, shown]).toEqual([[], []])
      expect(withdrawn.steer).toMatchObject({ text: 'also' })
    } else {
      ends.taken++
      expect(withdrawn.why).toBe('taken')
      expect(read.steers.map(({ text }) => text)).toEqual(['also'])
      expect(shown).toHaveLength(1)
    }
  }
  // Both ends were met, and often.
  expect(Math.min(ends.withdrawn, ends.taken)).toBeGreaterThan(200)
})
