import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { newId } from '../../preload/contract/ids.ts'
import { LatheError } from '../../preload/contract/errors.ts'
import { Forks } from './forks.ts'
import { SideCommands } from './side-commands.ts'
import { hangs, says, testScene } from './test-scene.ts'
import type { TestWorkbench } from './test-workbench.ts'

const scene = testScene()
const models = ['lab/scripted', 'lab/large', 'other/large']

function sideOf(bench: TestWorkbench): SideCommands {
  const info = (name: string) => ({ name, efforts: name === 'lab/scripted' ? ['low', 'high'] : null })
  return new SideCommands({
    ...bench,
    forks: new Forks({
      ...bench,
      entryChanged: () => {},
      environment: () => ({ now: Date.now(), newId, settings: bench.settings, rules: [] }),
    }),
    providers: async () => [{ id: 'lab', models: models.map(info) }] as never,
    chooseModel: (name) => {
      if (name !== null && !models.includes(name)) throw new LatheError('model.unknown', 'There is no such model.')
      return name ?? 'lab/scripted'
    },
    context: async () => ({
      model: 'lab/scripted',
      window: 1_000,
      used: 120,
      estimated: true,
      compactAt: null,
      mark: null,
      sent: 2,
      pruned: 0,
      sections: [{ name: 'Tools', tokens: 7 }],
    }),
    version: '1.2.3',
    uptime: () => 125_000,
  })
}

async function asked(bench: TestWorkbench) {
  const actor = bench.create()
  const window = await bench.follow(actor)
  await window.settled(await bench.start(actor, 'first question'))
  const side = sideOf(bench)
  return {
    actor,
    window,
    side,
    run: (name: string, argument = '') => side.run(actor.id, name, argument).then(({ text }) => text),
  }
}

describe('commands that answer', () => {
  test('T-24 S-108 SA-28 command and answer stand in the transcript and no model is sent them', async () => {
    const bench = await scene.workbench([says('first answer'), says('second answer')])
    const { actor, window, run } = await asked(bench)
    const before = window.view.header
    const status = await run('status')
    expect(status).toContain('Lathe: 1.2.3')
    expect(status).toContain('Running for: 2 min')
    expect(status).toContain('Model: lab/scripted')
    expect(status).toContain('Context: about 120 of 1000 tokens')
    const [command, answer] = (await window.until(({ items }) => items.length === 4)).items.slice(-2)
    expect(command).toMatchObject({ kind: 'user', text: '/status', source: 'command', contextual: false, turnId: null })
    expect(answer).toMatchObject({ kind: 'notice', text: status, source: 'command', contextual: false })
    expect(window.view.header).toMatchObject({
      updatedAt: before.updatedAt,
      currentTurnId: null,
      lastTurnId: before.lastTurnId,
    })

    await window.settled(await bench.start(actor, 'second question'))
    expect(JSON.stringify(scene.server.asked().at(-1)!.body)).not.toContain('status')
    expect(await bench.storage.prompts(actor.id, bench.workspace)).not.toContainEqual({ text: '/status' })
  })

  test('S-108 SA-28 a bad argument answers with what is valid and changes nothing', async () => {
    const bench = await scene.workbench([says('first answer')])
    const { window, run } = await asked(bench)
    const { model, effort, approvalMode, title } = window.view.header
    expect(await run('history', '0')).toMatch(/^Usage/)
    expect(await run('history', '201')).toMatch(/^Usage/)
    expect(await run('model', 'nope')).toContain('lab/scripted, lab/large')
    expect(await run('model', 'large')).toContain('There is no model')
    expect(await run('effort', 'nope')).toContain('low, high')
    expect(await run('mode', 'nope')).toContain('read-only, ask, edits, all')
    expect(await run('agent', 'nope')).toBe('There is no agent "nope" here. There are built-in.')
    expect(await run('rename')).toContain('Usage')
    expect(window.view.header).toMatchObject({ model, effort, approvalMode, title })
  })

  test('S-8 S-107 what is set counts from the next turn and shows in every window', async () => {
    const bench = await scene.workbench([says('first answer')])
    const { window, run } = await asked(bench)
    expect(await run('model', 'scripted')).toContain('lab/scripted')
    await run('effort', 'HIGH')
    await run('mode', 'edits')
    await mkdir(join(bench.workspace, '.lathe/agents'), { recursive: true })
    await writeFile(join(bench.workspace, '.lathe/agents/review.md'), '---\ndescription: Looks\n---\nLook.')
    expect(await run('agent')).toBe('Agent: built-in. There are built-in, review.')
    expect(await run('agent', 'REVIEW')).toBe('Agent: review, from the next turn on.')
    await run('rename', 'A better name')
    await run('pin')
    const view = await window.until(({ header }) => header.pinnedAt !== null)
    expect(view.header).toMatchObject({
      model: 'lab/scripted',
      effort: 'high',
      agent: 'review',
      approvalMode: 'edits',
      title: 'A better name',
      titleSource: 'manual',
    })
  })

  test('S-108 history is what was said, without commands and their answers', async () => {
    const bench = await scene.workbench([says('first answer'), says('second answer')])
    const { actor, window, run } = await asked(bench)
    await run('status')
    await window.settled(await bench.start(actor, 'second question'))
    expect(await run('history', '1')).toBe('You: second question\n\nLathe: second answer')
    expect(await run('history')).toBe(
      'You: first question\n\nLathe: first answer\n\nYou: second question\n\nLathe: second answer',
    )
  })

  test('S-108 /stop when idle says so and sets the hold; while a turn runs it ends it', async () => {
    const bench = await scene.workbench([says('first answer'), hangs('half')])
    const { actor, window, run } = await asked(bench)
    expect(await run('stop')).toBe('Nothing is running.')
    expect((await window.until(({ header }) => header.automaticHeld !== null)).header.automaticHeld).toMatchObject({
      by: 'stop',
    })
    const turnId = await bench.start(actor, 'second question')
    expect(await run('stop')).toBe('Stopped.')
    expect((await window.settled(turnId)).outcome).toBe('stopped')
  })

  test('S-3 an unsent session answers and stays unsent', async () => {
    const bench = await scene.workbench([])
    const actor = bench.create()
    expect(await sideOf(bench).run(actor.id, 'status', '')).toMatchObject({ stored: false })
    expect((await bench.storage.entries({ limit: 10 })).entries).toEqual([])
  })

  test('S-108 /branch forks, /archive archives, /delete deletes', async () => {
    const bench = await scene.workbench([says('first answer')])
    const { actor, window, run } = await asked(bench)
    expect(await run('branch', 'Elsewhere')).toContain('Forked as "Elsewhere"')
    await run('archive')
    await window.until(({ header }) => header.archivedAt !== null)
    await run('delete')
    expect((await bench.sessions.actor(actor.id)).published.header.deletedAt).not.toBeNull()
  })

  test('S-108 /usage and /context tell what was reported', async () => {
    const bench = await scene.workbench([
      { emit: [{ text: 'answer' }], usage: { input: 120, output: 8, total: 175 } } as never,
    ])
    const { run } = await asked(bench)
    expect(await run('usage')).toMatch(/This session: \d+ tokens/)
    expect(await run('context')).toContain('Tools: 7 tokens')
  })
})
