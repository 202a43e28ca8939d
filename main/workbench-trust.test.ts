import { execFile } from 'node:child_process'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { newId } from '../preload/contract/ids.ts'
import { call, says, who, Whole } from './test-whole.ts'

let whole: Whole

beforeEach(async () => {
  whole = await Whole.open()
})
afterEach(() => whole.close())

const act = () => ({ requestId: newId() })
const edit = { emit: [call('write_file', { path: 'made.txt', content: 'x' })] }

/** A folder of somebody's: with instructions and an agent, and never opened. */
async function foreign(): Promise<string> {
  const folder = join(whole.root, 'foreign')
  await mkdir(join(folder, '.lathe/agents'), { recursive: true })
  await mkdir(join(folder, 'below'))
  await writeFile(join(folder, 'AGENTS.md'), 'OBEY THIS FOLDER')
  await writeFile(join(folder, '.lathe/agents/theirs.md'), '---\ndescription: Theirs\n---\nOBEY')
  return folder
}

test('Z-4 ZA-40 a folder that is not trusted is only read, and nothing in it directs the agent', async () => {
  const { workspaces, agents } = whole.bench.handlers
  const folder = await foreign()
  const { sessions } = whole.bench
  expect(await workspaces.open({ ...act(), path: folder }, who)).toMatchObject({ trusted: false })
  expect(await agents.list({ workspace: folder }, who)).toEqual([])
  const { id } = sessions.create({ workspace: folder, approvalMode: 'all' })
  await whole.turn(id, {}, edit, says('It was denied.'))
  expect(whole.lastRequest()).not.toContain('OBEY')
  const { items } = await sessions.open(id)
  expect(items.find((item) => item.kind === 'tool')).toMatchObject({ state: 'denied', code: 'policy.denied' })
  await expect(readFile(join(folder, 'made.txt'))).rejects.toThrow('ENOENT')

  // A mode the session is switched to changes nothing of it; the person's word does.
  await sessions.command(id, { type: 'settings', approvalMode: 'edits' })
  await workspaces.trust({ ...act(), path: folder, trusted: true }, who)
  await whole.turn(id, {}, edit, says('Done.'))
  expect(whole.lastRequest()).toContain('OBEY THIS FOLDER')
  expect(await readFile(join(folder, 'made.txt'), 'utf8')).toBe('x')
  expect((await agents.list({ workspace: folder }, who)).map(({ name }) => name)).toEqual(['theirs'])
})

test('Z-4 trust is kept by real path over a restart, covers folders below, and can be taken back', async () => {
  const folder = await foreign()
  const link = join(whole.root, 'link')
  await symlink(folder, link)
  const open = (path: string) => whole.bench.handlers.workspaces.open({ ...act(), path }, who)
  expect(await open(join(folder, 'below'))).toMatchObject({ trusted: false })
  await whole.bench.handlers.workspaces.trust({ ...act(), path: link, trusted: true }, who)
  await whole.bench.dispose()
  await whole.start()
  expect(await open(folder)).toMatchObject({ path: folder, trusted: true })
  expect(await open(join(folder, 'below'))).toMatchObject({ trusted: true })
  expect(await open(join(folder, '.lathe'))).toMatchObject({ trusted: true })
  await whole.bench.handlers.workspaces.trust({ ...act(), path: folder, trusted: false }, who)
  expect(await open(join(folder, 'below'))).toMatchObject({ trusted: false })
  expect(await open(whole.root)).toMatchObject({ trusted: false })
})

test('Z-4 S-92 no spelling of a folder makes it one that lies in a trusted one: not in an imported file, not in a request', async () => {
  const folder = await foreign()
  const trusted = await whole.workspace()
  await symlink(folder, join(trusted, 'link'))
  const { sessions: routes } = whole.bench.handlers
  const { sessions } = whole.bench
  for (const spelled of [`${trusted}/../${basename(folder)}`, `${trusted}/link`]) {
    const usage = {
      input: null,
      output: null,
      reasoning: null,
      cacheRead: null,
      cacheWrite: null,
      total: null,
      cost: null,
    }
    const named = { workspace: spelled, title: spelled, titleSource: 'manual', model: null, effort: null, plan: null }
    const session = { createdAt: 1, updatedAt: 1, usage, ...named }
    const file = JSON.stringify({ format: 'lathe.session', version: 1, session, turns: [], items: [] })
    const part = { uploadId: newId(), part: 0, last: true, data: Buffer.from(file).toString('base64') }
    const imported = (await routes.import({ ...act(), ...part }, who)).sessionId!
    const { sessionId: made } = await routes.create({ ...act(), workspace: spelled, approvalMode: 'all' }, who)
    for (const id of [imported, made]) {
      await sessions.command(id, { type: 'settings', approvalMode: 'all' })
      await whole.turn(id, {}, edit, says('It was denied.'))
      expect(whole.lastRequest()).not.toContain('OBEY')
      expect((await sessions.open(id)).header.workspace).toBe(folder)
    }
  }
  await expect(readFile(join(folder, 'made.txt'))).rejects.toThrow('ENOENT')
})

test.skipIf(process.platform === 'win32')(
  'S-54 a pipe or an endless file where git names the branch holds nothing up',
  async () => {
    const [pipe, endless] = [join(whole.root, 'pipe'), join(whole.root, 'endless')]
    for (const folder of [pipe, endless]) await mkdir(join(folder, '.git'), { recursive: true })
    await promisify(execFile)('mkfifo', [join(pipe, '.git/HEAD')])
    await symlink('/dev/zero', join(endless, '.git/HEAD'))
    const { workspaces } = whole.bench.handlers
    for (const path of [pipe, endless])
      expect(await workspaces.open({ ...act(), path }, who)).toMatchObject({ state: 'present', branch: null })
    expect((await workspaces.list(undefined, who)).map(({ path }) => path)).toEqual(
      expect.arrayContaining([pipe, endless]),
    )
  },
)
