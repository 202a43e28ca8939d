import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newId } from '../../preload/contract/ids.ts'
import type { SubmitReply } from '../../preload/contract/session-routes.ts'
import { Forks } from './forks.ts'
import { asks, calls, hangs, refusal, says, testScene } from './test-scene.ts'
import type { TestWorkbench } from './test-workbench.ts'
import { agentSettings } from './turn-choice.ts'

const scene = testScene()

/** Puts an agent of the folder there; `front` goes after its description. */
async function agent({ workspace }: TestWorkbench, name: string, text: string, front = ''): Promise<void> {
  await mkdir(join(workspace, '.lathe/agents'), { recursive: true })
  await writeFile(join(workspace, '.lathe/agents', `${name}.md`), `---\ndescription: ${name}\n${front}---\n${text}\n`)
}

const choose = (bench: TestWorkbench, sessionId: string, name: string | null) =>
  bench.sessions.command(sessionId, { type: 'settings', agent: name })
const systemOf = (body: Record<string, unknown>) => JSON.stringify((body['messages'] as unknown[])[0])
const toolsOf = (body: Record<string, unknown>) =>
  ((body['tools'] ?? []) as { function: { name: string } }[]).map((tool) => tool.function.name)

test('T-18 T-162 an agent is fixed as its turn is admitted: what is chosen or written later is for the next one', async () => {
  const bench = await scene.workbench([calls('tool'), says('Done.'), says('Next.'), says('Last.')])
  await agent(bench, 'first', 'FIRST WAY')
  await agent(bench, 'second', 'SECOND WAY')
  const actor = bench.create()
  const window = await bench.follow(actor)
  await choose(bench, actor.id, 'first')
  const turnId = await bench.start(actor, 'do it')
  const call = await bench.tools.running('tool')
  await agent(bench, 'first', 'CHANGED WAY')
  await choose(bench, actor.id, 'second')
  call.finish()
  expect(await window.settled(turnId)).toMatchObject({ turn: { agent: 'first' } })
  const next = await window.settled(await bench.start(actor, 'next'))
  expect(next.turn.agent).toBe('second')
  await choose(bench, actor.id, null)
  const last = await window.settled(await bench.start(actor, 'last'))
  expect(last.turn.agent).toBeUndefined()
  const said = scene.server.asked().map(({ body }) => /(FIRST|CHANGED|SECOND) WAY/.exec(systemOf(body))?.[1])
  expect(said).toEqual(['FIRST', 'FIRST', 'SECOND', undefined])
  expect(window.of('turn.started').map((event) => event.agent)).toEqual(['first', 'second', undefined])
})

test('T-160 an agent that cannot be read fails the turn by its name, asks no model, and offers its file', async () => {
  const bench = await scene.workbench([says('Now it goes.')])
  await agent(bench, 'review', 'Look.')
  const actor = bench.create()
  const window = await bench.follow(actor)
  await choose(bench, actor.id, 'review')
  await agent(bench, 'review', 'Look.', 'mode: root\n')
  const broken = await window.settled(await bench.start(actor, 'first'))
  expect(broken).toMatchObject({ outcome: 'failed', error: { code: 'config.invalid' }, turn: { agent: 'review' } })
  expect(broken.error?.message).toContain('"review"')
  await rm(join(bench.workspace, '.lathe/agents/review.md'))
  await window.settled(await bench.start(actor, 'second'))
  expect(window.itemsOf('error')).toMatchObject([
    { code: 'config.invalid', agent: 'review', actions: ['open_agent', 'choose_agent', 'retry'] },
    { code: 'config.invalid', agent: 'review', actions: ['choose_agent', 'retry'] },
  ])
  expect(scene.server.asked()).toEqual([])
  await agent(bench, 'review', 'Look.')
  const mended = await bench.sessions.turns.retry(actor.id, newId(), broken.turnId, undefined, 'attended')
  expect(await window.settled((mended as { turnId: string }).turnId)).toMatchObject({ outcome: 'completed' })
})

test('T-12 T-13 an agent asked for with a message is for that message alone, also where it waits in the queue', async () => {
  const bench = await scene.workbench([hangs('Busy'), says('Queued.'), says('Plain.')])
  await agent(bench, 'review', 'REVIEW')
  await agent(bench, 'write', 'WRITE')
  const actor = bench.create()
  const window = await bench.follow(actor)
  await choose(bench, actor.id, 'write')
  const first = await bench.start(actor, 'first', { agent: null })
  await window.until((view) => view.items.at(-1)?.kind === 'text')
  const request = { requestId: newId(), agent: 'review', whenBusy: 'queue' as const }
  expect(await bench.submit(actor, 'later', request)).toMatchObject({ accepted: 'queued' })
  expect(await refusal(bench.submit(actor, 'later', { ...request, agent: 'write' }))).toBe('request.conflict')
  await bench.sessions.command(actor.id, { type: 'stop', turnId: first, reason: 'person' })
  await window.settled(first)
  await bench.sessions.command(actor.id, { type: 'queue.resume' })
  await window.until((view) => view.turns.length === 2 && view.turns[1]!.outcome)
  await window.settled(await bench.start(actor, 'plain'))
  expect(window.view.turns.map((turn) => turn.agent)).toEqual([undefined, 'review', 'write'])
  expect(window.view.header.agent).toBe('write')
})

test('T-7 turns of one folder with different agents see nothing of one another', async () => {
  const bench = await scene.workbench()
  await agent(bench, 'reader', 'READER', 'tools: [hold]\nmode: read-only\n')
  await agent(bench, 'writer', 'WRITER', 'tools: [hold, shell]\n')
  scene.server.script([
    { ...calls('read'), when: { lastUserContains: 'read it' } },
    { ...calls('write'), when: { lastUserContains: 'write it' } },
    says('Done.'),
    says('Done.'),
  ])
  const turns = await Promise.all(
    ['reader', 'writer'].map(async (name) => {
      const actor = bench.create()
      const window = await bench.follow(actor)
      await choose(bench, actor.id, name)
      return { window, turnId: await bench.start(actor, `${name === 'reader' ? 'read' : 'write'} it`) }
    }),
  )
  const held = await Promise.all(['read', 'write'].map((name) => bench.tools.running(name)))
  for (const call of held) call.finish()
  for (const { window, turnId } of turns) expect(await window.settled(turnId)).toMatchObject({ outcome: 'completed' })
  const asked = scene.server.asked().map(({ body }) => [/READER|WRITER/g.exec(systemOf(body))?.[0], toolsOf(body)])
  expect(asked.toSorted()).toEqual([
    ['READER', ['hold']],
    ['READER', ['hold']],
    ['WRITER', ['hold', 'shell']],
    ['WRITER', ['hold', 'shell']],
  ])
})

test('C-21 an agent narrows the mode of its turns and never widens it, whatever the session is switched to', async () => {
  const bench = await scene.workbench([asks('one'), asks('two'), says('Done.'), asks('three'), says('Done.')])
  await agent(bench, 'careful', 'Look only.', 'mode: read-only\n')
  await agent(bench, 'bold', 'Do all.', 'mode: all\n')
  const actor = bench.create()
  const window = await bench.follow(actor)
  await bench.sessions.command(actor.id, { type: 'settings', agent: 'careful', approvalMode: 'all' })
  await window.settled(await bench.start(actor, 'try'))
  expect(window.itemsOf('tool').map(({ state, code }) => [state, code])).toEqual([
    ['denied', 'policy.denied'],
    ['denied', 'policy.denied'],
  ])
  await bench.sessions.command(actor.id, { type: 'settings', agent: 'bold', approvalMode: 'ask' })
  const turnId = await bench.start(actor, 'try again')
  await window.until((view) => view.approvals.depth === 1)
  await bench.sessions.command(actor.id, { type: 'stop', turnId, reason: 'person' })
  await window.settled(turnId)
  expect(bench.tools.held).toEqual([])
})

test('C-21 T-179 T-181 an agent named for one message narrows what repeats its turn and what goes on with it', async () => {
  const bench = await scene.workbench([asks('one'), says('1'), asks('two'), says('2'), asks('three'), says('3')])
  await agent(bench, 'careful', 'Look only.', 'mode: read-only\n')
  const actor = bench.create()
  const window = await bench.follow(actor)
  await bench.sessions.command(actor.id, { type: 'settings', approvalMode: 'all' })
  const first = await bench.start(actor, 'look', { agent: 'careful' })
  await window.settled(first)
  const { turns } = bench.sessions
  const again = async (reply: Promise<SubmitReply>) => {
    const came = await reply
    if (came.accepted !== 'started') throw new Error(came.accepted)
    return (await window.settled(came.turnId)).turn
  }
  const retried = await again(turns.retry(actor.id, newId(), first, undefined, 'attended'))
  const went = await again(turns.continue(actor.id, newId(), retried.id, 'attended'))
  expect([retried.agent, went.agent]).toEqual(['careful', 'careful'])
  expect(window.itemsOf('tool').map(({ code }) => code)).toEqual(Array.from({ length: 3 }, () => 'policy.denied'))
  expect(bench.tools.held).toEqual([])
})

test('S-8 an agent is checked before it is set, stored as it is called, touches this session alone and goes with a fork', async () => {
  const bench = await scene.workbench([says('One.'), says('Two.'), says('Three.')], {
    lab: { models: ['scripted', 'other', 'third'] },
  })
  await agent(bench, 'Review', 'Look.', 'model: lab/other\n')
  await agent(bench, 'broken', 'Look.', 'mode: root\n')
  await agent(bench, 'unknown', 'Look.', 'model: lab/nope\n')
  const actor = bench.create()
  const other = bench.create()
  const ports = { agents: bench.agents, chooseModel: (name: string | null) => chosen(name) }
  const chosen = (name: string | null) => {
    if (name === 'lab/nope') throw new Error('There is no such model.')
    return name ?? 'lab/scripted'
  }
  const set = (name: string) => agentSettings(ports, name, bench.workspace)
  expect(await refusal(set('nobody'))).toBe('request.invalid')
  await expect(set('nobody')).rejects.toMatchObject({ hint: 'There are built-in, Review, broken, unknown.' })
  expect(await refusal(set('broken'))).toBe('config.invalid')
  expect(await refusal(set('unknown'))).toBe('config.invalid')
  const window = await bench.follow(actor)
  await bench.sessions.command(actor.id, { type: 'settings', model: 'lab/third' })
  await bench.sessions.command(actor.id, { type: 'settings', ...(await set('review')) })
  expect(actor.peek().view.header).toMatchObject({ agent: 'Review', model: null })
  expect(other.peek().view.header.agent).toBe(null)
  await window.settled(await bench.start(actor, 'one'))
  // What the person chooses after the agent goes before what the agent names.
  await bench.sessions.command(actor.id, { type: 'settings', model: 'lab/third' })
  await window.settled(await bench.start(actor, 'two'))
  expect(scene.server.asked().map(({ body }) => body['model'])).toEqual(['other', 'third'])
  const forks = new Forks({
    ...bench,
    entryChanged: () => {},
    environment: () => ({ now: Date.now(), newId, settings: bench.settings, rules: [] }),
  })
  expect(await forks.fork(actor.id, {})).toMatchObject({ agent: 'Review', model: 'lab/third' })
})

test('an agent outlives a restart, and costs nothing where none is chosen', async () => {
  const first = await scene.workbench([says('One.')])
  await agent(first, 'review', 'Look.')
  let read = 0
  const real = first.agents.read.bind(first.agents)
  first.agents.read = (...args) => (read++, real(...args))
  const actor = first.create()
  const window = await first.follow(actor)
  await window.settled(await first.start(actor, 'one'))
  expect(read).toBe(0)
  await choose(first, actor.id, 'review')
  const second = await scene.restarted(first)
  expect((await second.sessions.open(actor.id)).header.agent).toBe('review')
})
