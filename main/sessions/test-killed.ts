/**
 * A host that is killed at a chosen moment, for tests of recovery: `node test-killed.ts HOME BASE_URL MOMENT`. It starts one
 * turn with one follow-up behind it and, in the step in which MOMENT becomes durable, ends itself by SIGKILL.
 */
import type { SessionView } from '../../preload/contract/session.ts'
import { openTestWorkbench } from './test-workbench.ts'

export type Moment = 'admission' | 'text' | 'proposed' | 'started' | 'approval' | 'stepEnded' | 'settled' | 'steered'

const [home, baseUrl, moment] = process.argv.slice(2) as [string, string, Moment]
const bench = await openTestWorkbench({ home, baseUrl })
const actor = bench.create()

const ofTool = (view: SessionView, state: string) =>
  view.items.some((item) => item.kind === 'tool' && item.state === state)
const reached: Record<Moment, (view: SessionView) => boolean> = {
  admission: (view) => view.header.currentTurnId !== null && view.header.queue.followUps.length > 0,
  text: (view) => view.items.some((item) => item.kind === 'text' && item.text.includes('half')),
  proposed: (view) => ofTool(view, 'proposed'),
  started: (view) => ofTool(view, 'running'),
  approval: (view) => view.approvals.depth > 0,
  stepEnded: (view) =>
    actor.recentAfter(view.header.lastSeq - 3)?.some((event) => event.type === 'step.ended') ?? false,
  settled: (view) => view.turns.some((turn) => turn.outcome !== null),
  steered: (view) => (view.turn?.steers.length ?? 0) > 0,
}
actor.listen(() => {
  if (reached[moment](actor.published)) process.kill(process.pid, 'SIGKILL')
})
await bench.start(actor, 'do it')
await bench.submit(actor, 'later', { whenBusy: 'queue' })
if (moment === 'steered') await bench.submit(actor, 'also this', { whenBusy: 'steer' })
