/** What a message points at is looked up when it is admitted, kept with it, and given to the model as data: S-113, S-114. */
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Mention } from '../../preload/contract/items.ts'
import { exportedText, readingOf } from './test-exports.ts'
import { resolveMentions, type MentionSources } from './mentions.ts'
import { calls, refusal, says, testScene } from './test-scene.ts'

const scene = testScene()
const at = (text: string, mention: Omit<Mention, 'at'>): Mention => ({ ...mention, at: text.indexOf('@') })
const file = (path: string) => ({ kind: 'file' as const, ref: path, label: path })
const asked = (index: number) => JSON.stringify(scene.server.asked()[index]!.body)

test('S-113 a file by path and size and another session by title, id and its newest words go with the message, and stay with it', async () => {
  const bench = await scene.workbench([says(`${'x'.repeat(5_000)} the newest words`), says('Read.'), says('Again.')])
  await writeFile(join(bench.workspace, 'notes.md'), 'never sent by itself')
  const other = bench.create()
  const beside = await bench.follow(other)
  await beside.settled(await bench.start(other, 'the oldest words'))
  await bench.sessions.command(other.id, { type: 'rename', title: 'The other one' })

  const actor = bench.create()
  const window = await bench.follow(actor)
  const text = 'Compare @notes.md and @"The other one"'
  const mentions: Mention[] = [
    at(text, file('notes.md')),
    { kind: 'session', ref: other.id, label: 'The other one', at: 22 },
  ]
  const turnId = await bench.start(actor, text, { mentions })
  await window.settled(turnId)
  const sent = asked(1)
  expect(sent).toContain('file: notes.md\\\\nsize: 20 bytes'.replaceAll('\\\\', '\\'))
  expect(sent).not.toContain('never sent by itself')
  expect(sent).toContain(`id: ${other.id}`)
  expect(sent).toContain('title: The other one')
  expect(sent).toContain('the newest words')
  expect(sent).not.toContain('the oldest words')
  expect(/x+/.exec(sent.slice(sent.indexOf('newest content')))![0].length).toBeLessThan(4_001)
  expect(sent).toMatch(/<mentioned-session [0-9a-f]{32}>/)

  // What was said then is stored with the item, shown, exported, and said again by a retry, whatever became of it.
  const [item] = window.itemsOf('user')
  expect(item).toMatchObject({
    mentions: [
      { ref: 'notes.md', at: 8 },
      { ref: other.id, at: 22 },
    ],
  })
  expect(await bench.storage.item(actor.id, item!.id)).toMatchObject({ mentions: item!.mentions })
  const { header, items, turns } = window.view
  expect((await exportedText(readingOf({ header, items, turns }), 'md')).text).toContain(
    '- mentioned: file notes.md\n- mentioned: session The other one',
  )
  await rm(join(bench.workspace, 'notes.md'))
  const again = await bench.sessions.turns.retry(actor.id, 'retry-1', turnId, undefined, 'attended')
  if (again.accepted !== 'started') throw new Error(again.accepted)
  await window.settled(again.turnId)
  expect(window.itemsOf('user').at(-1)?.mentions).toEqual(item!.mentions)
})

test('S-113 T-14 a target that is not there refuses the message, names it and leaves nothing; the own session is none', async () => {
  const bench = await scene.workbench()
  const actor = bench.create()
  const text = 'Look at @gone.md'
  await expect(bench.submit(actor, text, { mentions: [at(text, file('gone.md'))] })).rejects.toMatchObject({
    code: 'mention.missing',
    message: 'The file "gone.md" is not there.',
    data: { kind: 'file', ref: 'gone.md' },
  })
  for (const kind of ['session', 'terminal', 'changes'] as const) {
    const mention = at(text, { kind, ref: kind === 'session' ? actor.id : 'nothing', label: 'gone.md' })
    expect(await refusal(bench.submit(actor, text, { mentions: [mention] }))).toBe('mention.missing')
  }
  expect(await bench.storage.loadSession(actor.id)).toBeNull()
  // Before it: files that cannot go. After it: the folder that is gone.
  const bad = { name: 'bad.txt', mediaType: 'text/plain', bytes: 4, hash: '0'.repeat(64) }
  const mentions = [at(text, { kind: 'terminal', ref: 'nothing', label: 'gone.md' })]
  expect(await refusal(bench.submit(actor, text, { mentions, attachments: [bad] }))).toBe('attachment.rejected')
  await rm(bench.workspace, { recursive: true })
  expect(await refusal(bench.submit(actor, text, { mentions }))).toBe('mention.missing')
  expect(await refusal(bench.submit(actor, text))).toBe('workspace.missing')
})

test('S-114 only what lies inside can be mentioned, links followed', async () => {
  const bench = await scene.workbench([says('Read.')])
  await mkdir(join(bench.home, 'elsewhere'))
  await mkdir(join(bench.workspace, 'src'))
  await writeFile(join(bench.workspace, 'src', 'a.ts'), '')
  await symlink(join(bench.workspace, 'src'), join(bench.workspace, 'inward'))
  await symlink('/usr', join(bench.workspace, 'outward'))
  const actor = bench.create()
  const window = await bench.follow(actor)
  for (const path of ['/usr/bin', '../elsewhere', 'outward/bin']) {
    const mentions = [at('@', file(path))]
    await expect(bench.submit(actor, '@', { mentions })).rejects.toMatchObject({
      code: 'mention.missing',
      data: { ref: path },
    })
  }
  const mentions = ['inward/a.ts', 'src/'].map((path) => at('@', file(path)))
  await window.settled(await bench.start(actor, '@', { mentions }))
  expect(asked(0)).toContain('file: src/a.ts')
  expect(asked(0)).toContain('folder: src')
})

test('S-113 steers and queued messages keep what they mention; a queued one is looked up when it starts', async () => {
  const bench = await scene.workbench([calls('work'), says('One.'), says('Two.')])
  const path = join(bench.workspace, 'notes.md')
  await writeFile(path, 'short')
  const actor = bench.create()
  const window = await bench.follow(actor)
  const turnId = await bench.start(actor, 'begin')
  await new Promise<void>((resolve) => (bench.tools.onHeld = () => resolve()))
  const text = 'see @notes.md'
  const mentions = [at(text, file('notes.md'))]
  await bench.submit(actor, text, { mentions, whenBusy: 'steer' })
  await bench.submit(actor, text, { mentions, whenBusy: 'queue' })
  expect(window.view.turn?.steers ?? actor.published.turn?.steers).toMatchObject([{ mentions: [{ ref: 'notes.md' }] }])
  await writeFile(path, 'longer now')
  bench.tools.held[0]!.finish()
  await window.settled(turnId)
  await window.until((view) => view.turns.length === 2 && view.turns[1]!.outcome !== null)
  expect(window.itemsOf('user').map((item) => item.mentions?.length ?? 0)).toEqual([0, 1, 1])
  expect(asked(1)).toContain('size: 5 bytes')
  expect(asked(1)).not.toContain('size: 10 bytes')
  expect(asked(2)).toContain('size: 10 bytes')
})

test('S-113 a terminal by 200 lines or 16 KiB, all mentions of a message by 64 KiB, each told once', async () => {
  const lines: number[] = []
  const sources: MentionSources = {
    path: () => Promise.reject(new Error('none')),
    session: () => Promise.reject(new Error('none')),
    changes: async () => null,
    terminal: async (id, count) => {
      lines.push(count)
      return { title: id, text: `${'ä'.repeat(40_000)}the end` }
    },
  }
  const place = { sessionId: 's', workspace: '/', extraFolders: [] }
  const mentions = Array.from({ length: 8 }, (_, index): Mention => ({
    kind: 'terminal',
    ref: `t${index}`,
    label: 'sh',
    at: index,
  }))
  const resolved = (await resolveMentions([...mentions, mentions[0]!], place, sources))!
  expect(lines[0]).toBe(200)
  const sizes = resolved.map(({ content }) => Buffer.byteLength(content))
  expect(Math.max(...sizes)).toBeLessThanOrEqual(16 * 1024 + 200)
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(64 * 1024 + 8 * 200)
  expect(resolved[0]!.content).toContain('the end')
  expect(resolved[0]!.content).toContain('terminal: t0')
  expect(sizes.at(-1)).toBe(0)
})
