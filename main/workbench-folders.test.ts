/** Folders outside the workspace that the person gives to a session, through the whole workbench. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { newId } from '../preload/contract/ids.ts'
import { call, says, who, Whole } from './test-whole.ts'

let whole: Whole
let workspace: string
/** Beside the workspace. */
let docs: string
let sessionId: string

beforeEach(async () => {
  whole = await Whole.open()
  workspace = await whole.workspace()
  docs = join(whole.root, 'docs')
  await mkdir(docs)
  await writeFile(join(docs, 'guide.md'), 'turn left\n')
  sessionId = whole.bench.sessions.create({ workspace, approvalMode: 'edits' }).id
})
afterEach(() => whole.close())

const act = () => ({ requestId: newId(), sessionId })
const put = (path: string, writable: boolean) =>
  whole.bench.handlers.session.putFolder({ ...act(), path, writable }, who)
const place = (path: string) => whole.bench.handlers.files.place({ workspace, path, sessionId }, who)
const header = async () => (await whole.bench.sessions.open(sessionId)).header

/** What came of a call of a tool in a turn of its own; one that asks is denied. */
async function came(name: string, args: Record<string, unknown>): Promise<string> {
  const turnId = await whole.begin(sessionId, {}, { emit: [call(name, args)] }, says('Done.'))
  const { bench } = whole
  const actor = await bench.sessions.actor(sessionId)
  const settled = bench.sessions.settled(actor, turnId)
  let asked = false
  for (;;) {
    const over = await Promise.race([settled.then(() => true), new Promise((next) => setTimeout(next, 10, false))])
    if (over) break
    const head = actor.peek().view.approvals.head
    if (!head || asked) continue
    asked = true
    await actor.command({
      type: 'approval.answer',
      approvalId: head.id,
      argsHash: head.request.argsHash,
      decision: 'deny',
    } as never)
  }
  const tool = (await bench.sessions.open(sessionId)).items.findLast((item) => item.kind === 'tool')
  return asked ? 'asked' : (tool?.kind === 'tool' && tool.state) || 'nothing'
}

test('F-104 F-1202 S-114 an added folder is read without asking, written only where that was allowed, and told to the model', async () => {
  const guide = join(docs, 'guide.md')
  const write = { path: join(docs, 'new.md'), content: 'new\n' }
  expect(await place(docs)).toEqual({ path: null })
  expect(await came('read_file', { path: guide })).toBe('asked')

  await put(docs, false)
  expect(await place(docs)).toEqual({ path: `${docs}/` })
  expect(await came('read_file', { path: guide })).toBe('ok')
  expect(whole.lastRequest()).toContain(`Also open to you, to read only: ${docs}`)
  expect(await came('write_file', write)).toBe('asked')

  await whole.bench.dispose()
  await whole.start()
  expect((await header()).extraFolders).toEqual([{ path: docs, writable: false }])
  await put(docs, true)
  expect(await came('write_file', write)).toBe('ok')
  expect(await readFile(write.path, 'utf8')).toBe('new\n')

  await whole.bench.handlers.session.removeFolder({ ...act(), path: docs }, who)
  expect((await header()).extraFolders).toEqual([])
  expect(await came('read_file', { path: guide })).toBe('asked')
})

test('F-104 what is no folder, the workspace itself, and Lathe’s own data are not added', async () => {
  const code = (work: Promise<unknown>) =>
    work.then(
      () => 'added',
      (error: { code: string }) => error.code,
    )
  expect(await code(put(join(docs, 'guide.md'), false))).toBe('path.invalid')
  expect(await code(put(join(docs, 'gone'), false))).toBe('workspace.missing')
  expect(await code(put(workspace, false))).toBe('request.invalid')
  expect(await code(put(whole.home, false))).toBe('path.protected')
  await mkdir(join(whole.home, 'tmp/other'), { recursive: true })
  expect(await code(put(join(whole.home, 'tmp/other'), true))).toBe('path.protected')
})
