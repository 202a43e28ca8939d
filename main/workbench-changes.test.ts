import { chmod, mkdir, readFile, readlink, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Step } from '../e2e/model-server/server.ts'
import type { LatheError } from '../preload/contract/errors.ts'
import { newId } from '../preload/contract/ids.ts'
import type { SessionView } from '../preload/contract/session.ts'
import { call, says, who, Whole } from './test-whole.ts'
import type { Workbench } from './workbench.ts'

const lines = Array.from({ length: 60 }, (_, at) => `line ${at + 1}\n`).join('')
const changed = lines
  .replace('line 5\n', 'five\n')
  .replace('line 30\n', 'thirty\n')
  .replace('line 55\n', 'fifty-five\n')
let whole: Whole
let bench: Workbench
let workspace: string
let sessionId: string

// One for the file: processes ended by a workbench that goes are ended for the whole host.
beforeAll(async () => {
  whole = await Whole.open()
  bench = whole.bench
})

beforeEach(async () => {
  workspace = await whole.workspace()
  await writeFile(join(workspace, 'a.txt'), lines)
  sessionId = bench.sessions.create({ workspace, approvalMode: 'all' }).id
})

afterAll(() => whole.close())

const view = (): Promise<SessionView> => bench.sessions.open(sessionId)
const act = () => ({ requestId: newId(), sessionId })
const read = (path: string): Promise<string> => readFile(join(workspace, path), 'utf8')

const turn = (...script: Step[]): Promise<string> => whole.turn(sessionId, {}, ...script)

/** A turn that changes three places of `a.txt`, as the model would. */
const threeHunks = () =>
  turn(
    { emit: [call('read_file', { path: 'a.txt' })] },
    { emit: [call('write_file', { path: 'a.txt', content: changed })] },
    says('Done.'),
  )

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'none',
    (error: LatheError) => error.code,
  )
}

const lastRequest = () => whole.lastRequest()

describe('review', () => {
  test('FA-31 F-908 F-909 a rejected hunk alone goes back, and the next request tells the agent', async () => {
    await threeHunks()
    const [change] = (await view()).changes
    const { hunks } = await bench.handlers.changes.diff({ sessionId, changeId: change!.id }, who)
    expect(hunks.map(({ before, after, state }) => [before, after, state])).toEqual([
      [2, 2, 'open'],
      [27, 27, 'open'],
      [52, 52, 'open'],
    ])
    await bench.handlers.changes.reject({ ...act(), changeId: change!.id, hunkId: hunks[1]!.id }, who)
    expect(await read('a.txt')).toBe(changed.replace('thirty', 'line 30'))
    const after = await bench.handlers.changes.diff({ sessionId, changeId: change!.id }, who)
    expect([after.hunks.length, after.changedSince]).toEqual([2, false])
    expect((await view()).changes).toMatchObject([{ id: change!.id, by: 'tool', before: change!.before }])

    await turn(says('I see.'))
    expect(lastRequest()).toContain('The person rejected your change of a.txt, lines 27-33: the old text is back.')
    await turn(says('Still.'))
    expect(lastRequest().split('The person rejected').length).toBe(2)
  })

  test('F-908 FA-31 lines changed by hand since are a conflict, and the file is untouched', async () => {
    await threeHunks()
    const [change] = (await view()).changes
    const { hunks } = await bench.handlers.changes.diff({ sessionId, changeId: change!.id }, who)
    const byHand = changed.replace('thirty', 'by hand')
    await writeFile(join(workspace, 'a.txt'), byHand)
    expect(
      await codeOf(bench.handlers.changes.reject({ ...act(), changeId: change!.id, hunkId: hunks[1]!.id }, who)),
    ).toBe('changes.hunk_conflict')
    expect(await read('a.txt')).toBe(byHand)
    const compared = await bench.handlers.changes.compare({ sessionId, changeId: change!.id }, who)
    expect([compared.patch?.includes('+by hand'), compared.added, compared.removed]).toEqual([true, 1, 1])
    expect((await bench.handlers.changes.diff({ sessionId, changeId: change!.id }, who)).changedSince).toBe(true)
  })

  test('F-907 what is kept is stored, a whole file too, and new content is open again', async () => {
    await threeHunks()
    const [change] = (await view()).changes
    const changeId = change!.id
    const states = async () =>
      (await bench.handlers.changes.diff({ sessionId, changeId }, who)).hunks.map(({ state }) => state)
    const { hunks } = await bench.handlers.changes.diff({ sessionId, changeId }, who)
    await bench.handlers.changes.review({ ...act(), changeId, hunkId: hunks[0]!.id, keep: true }, who)
    expect(await states()).toEqual(['accepted', 'open', 'open'])
    await bench.handlers.changes.review({ ...act(), changeId, hunkId: null, keep: true }, who)
    expect(await states()).toEqual(['accepted', 'accepted', 'accepted'])
    expect((await bench.storage.loadSession(sessionId))?.changes[0]?.reviewed).toBe(change!.after)
    await bench.handlers.changes.reject({ ...act(), changeId, hunkId: hunks[2]!.id }, who)
    expect(await states()).toEqual(['open', 'open'])
    expect(await read('a.txt')).toBe(changed.replace('fifty-five', 'line 55'))
  })

  test('F-908 F-901 a created file that is rejected is gone, and so is its change', async () => {
    await turn({ emit: [call('write_file', { path: 'new/b.txt', content: 'b\n' })] }, says('Done.'))
    const [change] = (await view()).changes
    await bench.handlers.changes.reject({ ...act(), changeId: change!.id, hunkId: null }, who)
    expect((await view()).changes).toEqual([])
    await expect(stat(join(workspace, 'new'))).rejects.toThrow('ENOENT')
  })
})

describe('undo', () => {
  test('F-1008 F-1009 F-1010 K-12 a turn is undone by a plan that was shown, and redone exactly', async () => {
    await writeFile(join(workspace, 'gone.sh'), '#!/bin/sh\n')
    await chmod(join(workspace, 'gone.sh'), 0o755)
    await writeFile(join(workspace, 'untracked.txt'), 'mine')
    const patch = `*** Begin Patch\n*** Update File: a.txt\n-line 5\n+five\n*** Add File: deep/er/b.txt\n+b\n*** Delete File: gone.sh\n*** End Patch`
    const turnId = await turn(
      { emit: [call('read_file', { path: 'a.txt' }), call('read_file', { path: 'gone.sh' })] },
      { emit: [call('apply_patch', { patch })] },
      says('Done.'),
    )
    expect(await read('deep/er/b.txt')).toBe('b\n')
    const asked = { sessionId, turnId, andLater: false }
    const plan = await bench.handlers.undo.preview({ ...asked, redo: false }, who)
    expect(plan.files).toEqual([
      { path: 'a.txt', act: 'restore', state: 'ready' },
      { path: 'deep/er/b.txt', act: 'delete', state: 'ready' },
      { path: 'gone.sh', act: 'create', state: 'ready' },
    ])
    expect(await read('a.txt')).toContain('five')
    await bench.handlers.undo.apply({ ...act(), ...asked, redo: false, force: [] }, who)
    expect([await read('a.txt'), await read('gone.sh'), await read('untracked.txt')]).toEqual([
      lines,
      '#!/bin/sh\n',
      'mine',
    ])
    expect((await stat(join(workspace, 'gone.sh'))).mode & 0o777).toBe(0o755)
    await expect(stat(join(workspace, 'deep'))).rejects.toThrow('ENOENT')
    expect((await view()).changes.every(({ undone }) => undone)).toBe(true)

    await bench.handlers.undo.apply({ ...act(), ...asked, redo: true, force: [] }, who)
    expect([await read('a.txt'), await read('deep/er/b.txt')]).toEqual([lines.replace('line 5\n', 'five\n'), 'b\n'])
    await expect(stat(join(workspace, 'gone.sh'))).rejects.toThrow('ENOENT')
    expect((await view()).changes.some(({ undone }) => undone)).toBe(false)
    await turn(says('I see.'))
    expect(lastRequest()).toContain('The person undid your changes of a.txt, deep/er/b.txt, gone.sh.')
  })

  test('FA-34 FA-41 a file edited by hand is a conflict and keeps its bytes, unless it was chosen', async () => {
    const first = await threeHunks()
    await turn(
      {
        emit: [
          call('edit_file', { path: 'a.txt', old_text: '4\nfive\n', new_text: '4\nFIVE\n' }),
          call('write_file', { path: 'b.txt', content: 'b\n' }),
        ],
      },
      says('Done.'),
    )
    expect((await view()).changes.map(({ path }) => path)).toEqual(['a.txt', 'a.txt', 'b.txt'])
    const byHand = `${await read('a.txt')}by hand\n`
    await writeFile(join(workspace, 'a.txt'), byHand)
    const asked = { sessionId, turnId: first, andLater: true }
    const done = await bench.handlers.undo.apply({ ...act(), ...asked, redo: false, force: [] }, who)
    expect(done).toMatchObject({
      turns: 2,
      files: [
        { path: 'a.txt', state: 'conflict' },
        { path: 'b.txt', act: 'delete', state: 'ready' },
      ],
    })
    expect(await read('a.txt')).toBe(byHand)
    await expect(stat(join(workspace, 'b.txt'))).rejects.toThrow('ENOENT')
    await bench.handlers.undo.apply({ ...act(), ...asked, redo: false, force: ['a.txt'] }, who)
    expect(await read('a.txt')).toBe(lines)
    // What the undo replaced is what a redo brings back, the person's line too.
    await bench.handlers.undo.apply({ ...act(), ...asked, redo: true, force: [] }, who)
    expect([await read('a.txt'), await read('b.txt')]).toEqual([byHand, 'b\n'])
  })

  test('F-1012 nothing is undone while a turn runs in the workspace', async () => {
    const turnId = await threeHunks()
    const other = bench.sessions.create({ workspace, approvalMode: 'all' })
    await whole.begin(other.id, {}, { emit: [{ text: 'x' }, { hang: true }] })
    expect(
      await codeOf(bench.handlers.undo.apply({ ...act(), turnId, andLater: false, redo: false, force: [] }, who)),
    ).toBe('workspace.busy')
    expect(await read('a.txt')).toBe(changed)
  })
})

describe('changes by commands', () => {
  test('F-902 FA-29 what a command edits, makes, removes or makes executable is the turn\u2019s, by command', async () => {
    for (const name of ['b.txt', 'c.txt', 'run.sh', 'same.txt']) await writeFile(join(workspace, name), `${name}\n`)
    await mkdir(join(workspace, 'node_modules'))
    await turn(
      { emit: [call('edit_file', { path: 'a.txt', old_text: 'line 5\n', new_text: 'five\n' })] },
      {
        emit: [
          call('shell', {
            command:
              "sed -i s/b/B/ b.txt; rm c.txt; echo d > d.txt; chmod +x run.sh; echo x > node_modules/x; sed -i 's/same/same/' same.txt",
          }),
        ],
      },
      says('Done.'),
    )
    const { changes } = await view()
    expect(changes.map(({ path, kind, by }) => [path, kind, by]).toSorted()).toEqual([
      ['a.txt', 'edited', 'tool'],
      ['b.txt', 'edited', 'command'],
      ['c.txt', 'deleted', 'command'],
      ['d.txt', 'created', 'command'],
      ['run.sh', 'edited', 'command'],
    ])
    expect(changes.find(({ path }) => path === 'b.txt')).toMatchObject({ added: 1, removed: 1 })
    const script = changes.find(({ path }) => path === 'run.sh')
    const diff = await bench.handlers.changes.diff({ sessionId, changeId: script!.id }, who)
    expect(diff.note).toBe('The mode changed from 644 to 755.')

    const turnId = changes[0]!.turnId
    await bench.handlers.undo.apply({ ...act(), turnId, andLater: false, redo: false, force: [] }, who)
    expect([await read('b.txt'), await read('c.txt'), await read('a.txt')]).toEqual(['b.txt\n', 'c.txt\n', lines])
    expect((await stat(join(workspace, 'run.sh'))).mode & 0o777).toBe(0o644)
    await expect(stat(join(workspace, 'd.txt'))).rejects.toThrow('ENOENT')
    expect(await read('node_modules/x')).toBe('x\n')
  })

  test('F-906 F-908 a file that a command moved is one change with a diff, and goes back to where it was', async () => {
    await turn(
      { emit: [call('shell', { command: "mkdir new; mv a.txt new/b.txt; sed -i 's/line 5$/five/' new/b.txt" })] },
      says('Done.'),
    )
    const { changes } = await view()
    expect(
      changes.map(({ path, kind, from, added, removed }) => [path, kind, from, added, removed]).toSorted(),
    ).toEqual([
      ['a.txt', 'deleted', undefined, 0, 0],
      ['new/b.txt', 'renamed', 'a.txt', 1, 1],
    ])
    const { id } = changes.find(({ kind }) => kind === 'renamed')!
    const diff = await bench.handlers.changes.diff({ sessionId, changeId: id }, who)
    expect([diff.note, diff.added, diff.removed]).toEqual(['It was renamed from a.txt.', 1, 1])
    expect(diff.patch).toContain('-line 5\n+five\n')
    await bench.handlers.changes.reject({ ...act(), changeId: id, hunkId: null }, who)
    expect([await read('a.txt'), (await view()).changes]).toEqual([lines, []])
    await expect(stat(join(workspace, 'new/b.txt'))).rejects.toThrow('ENOENT')
  })

  test('F-1006 a link that a command made is a change of its own, and is undone as one', async () => {
    const turnId = await turn({ emit: [call('shell', { command: 'ln -s /etc/hosts away' })] }, says('Done.'))
    const [change] = (await view()).changes
    const diff = await bench.handlers.changes.diff({ sessionId, changeId: change!.id }, who)
    expect([change!.path, diff.after, diff.changedSince]).toEqual(['away', '/etc/hosts', false])
    expect(diff.note).toContain('symbolic link')
    await bench.handlers.undo.apply({ ...act(), turnId, andLater: false, redo: false, force: [] }, who)
    await expect(readlink(join(workspace, 'away'))).rejects.toThrow('ENOENT')
    expect((await stat('/etc/hosts')).isFile()).toBe(true)
  })

  test('F-903 what changes while no process of the turn runs is not the turn\u2019s', async () => {
    await writeFile(join(workspace, 'mine.txt'), 'mine\n')
    await turn({ emit: [call('shell', { command: 'echo one > one.txt' })] }, says('Done.'))
    await writeFile(join(workspace, 'mine.txt'), 'mine, by hand\n')
    await turn({ emit: [call('shell', { command: 'echo two > two.txt' })] }, says('Done.'))
    expect((await view()).changes.map(({ path }) => path)).toEqual(['one.txt', 'two.txt'])
  })

  test('F-1005 FA-33 a rewrite of equal size with the old time is seen', async () => {
    await writeFile(join(workspace, 'x.txt'), 'aaaa')
    await turn(
      { emit: [call('shell', { command: 'touch -r x.txt old; printf bbbb > x.txt; touch -r old x.txt; rm old' })] },
      says('Done.'),
    )
    expect((await view()).changes.map(({ path }) => path)).toEqual(['x.txt'])
  })

  test('F-902 X-708 what a stopped command had changed is the turn\u2019s too', async () => {
    const late = { emit: [call('shell', { command: 'echo late > late.txt; sleep 60' })] }
    const turnId = await whole.begin(sessionId, {}, late)
    await expect.poll(() => read('late.txt').catch(() => ''), { timeout: 15_000 }).toBe('late\n')
    await bench.sessions.command(sessionId, { type: 'stop', turnId, reason: 'person' })
    await whole.settled(sessionId, turnId)
    await expect
      .poll(async () => (await view()).changes.map(({ path, by }) => [path, by]), { timeout: 15_000 })
      .toEqual([['late.txt', 'command']])
  })
})

test('F-306 what was read is not sent again while the model sees it, and is after the person went back', async () => {
  const reads = (text: string) => turn({ emit: [call('read_file', { path: 'a.txt' })] }, says(text))
  await reads('First.')
  await reads('Second.')
  expect(lastRequest()).toContain('is unchanged since it was read above')
  const { items } = await view()
  const first = items.find((item) => item.kind === 'user')!
  await bench.handlers.session.rewind({ ...act(), itemId: first.id, withFiles: false }, who)
  await reads('Third.')
  expect(lastRequest()).not.toContain('is unchanged')
  expect(lastRequest()).toContain('60| line 60')
})

test('F-307 F-1209 F-310 a picture that was read reaches the model, now and in later turns; long text comes by reference', async () => {
  const picture = await sharp({ create: { width: 30, height: 20, channels: 3, background: 'teal' } })
    .png()
    .toBuffer()
  await writeFile(join(workspace, 'chart.png'), picture)
  await turn({ emit: [call('read_file', { path: 'chart.png' })] }, says('Teal.'))
  expect(lastRequest()).toContain('data:image/png;base64,')
  const [image] = (await view()).items.flatMap((item) =>
    item.kind === 'tool' && item.view?.image ? [item.view.image] : [],
  )
  expect((await bench.handlers.attachments.read({ sessionId, hash: image!.hash }, who)).mediaType).toBe('image/png')

  const data = Buffer.from('a line\n'.repeat(3_000)).toString('base64')
  const { attachment } = await bench.handlers.attachments.upload(
    { uploadId: newId(), name: 'x/long.txt', mediaType: 'image/png', part: 0, last: true, data },
    who,
  )
  expect(attachment).toMatchObject({ name: 'long.txt', mediaType: 'text/plain' })
  await whole.turn(
    sessionId,
    { attachments: [attachment!, attachment!] },
    { emit: [call('read_file', { path: `attachment:${attachment!.hash}`, limit: 1 })] },
    says('A line.'),
  )
  for (const part of ['data:image/png;base64,', 'long (2).txt', 'Read it with read_file by its reference', '1| a line'])
    expect(lastRequest()).toContain(part)
})
