/** What goes wrong around Lathe: each time a clear message, the right exit code, and nothing of the person's lost. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, open, readFile, readdir, rm, stat, statfs, symlink } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { expect, test, vi } from 'vitest'
import { Lab, readError, readRun, type Ended } from './lab.ts'
import { mending, task } from './mending.ts'
import { messagesOf, type Step } from './model-server/script.ts'

// Several processes each; on a busy machine they take their time.
vi.setConfig({ testTimeout: 90_000 })

const exec = promisify(execFile)
const root = resolve(import.meta.dirname, '..')

const answer: Step = { emit: [{ text: 'All is well.' }] }

function failure(ended: Ended) {
  const { header, events } = readRun(ended.stdout)
  const end = events.at(-1)
  if (end?.type !== 'turn.settled') throw new Error(`The last event is ${end?.type}.`)
  return {
    ...header,
    end,
    error: end.error,
    items: end.items,
    waits: events.filter(({ type }) => type === 'turn.status'),
  }
}

/** The next message of the session is answered, with its first one in the model's context. */
async function expectGoesOn(lab: Lab, sessionId: string): Promise<void> {
  lab.script([answer])
  const next = await lab.lathe(['run', '--json', '--session', sessionId, 'And now?'])
  expect(next).toMatchObject({ code: 0, stderr: '' })
  const told = messagesOf(lab.asked().at(-1)!.body).filter(({ role }) => role === 'user')
  expect(told.map(({ text }) => text)).toEqual([task, 'And now?'])
}

test('M-25 an unknown model is wrong usage, with the names there are; one the server does not know fails by name', async () => {
  await using lab = await Lab.open({ script: [{ error: { status: 404, code: 'model_not_found' } }] })
  for (const model of ['nowhere/scripted', 'nope']) {
    const ended = await lab.lathe(['run', '--json', '--model', model, task])
    const { code, message, hint = '' } = readError(ended.stdout)
    expect([ended.code, code]).toEqual([2, 'model.unknown'])
    expect(message).toContain(model)
    expect(`${message} ${hint}`).toContain('lab/scripted')
  }
  expect((await lab.lathe(['sessions', 'list', '--json'])).stdout).toBe('')
  expect(lab.asked()).toEqual([])

  const ended = await lab.lathe(['run', '--json', '--model', 'lab/nope', task])
  expect(ended.code).toBe(1)
  const { error, sessionId } = failure(ended)
  expect(error).toMatchObject({ code: 'model.not_found', message: expect.stringContaining('nope') })
  lab.script([answer])
  expect((await lab.lathe(['run', '--session', sessionId, '--model', 'lab/scripted', 'And now?'])).code).toBe(0)
})

test('T-154 a model server that is off is said to be off, and the message can be sent again', async () => {
  // A port of the system's own, which no other test is given.
  const baseUrl = 'http://127.0.0.1:2/v1'
  await using lab = await Lab.open({
    config: { providers: { lab: { kind: 'openai-compatible', baseUrl, models: ['scripted'] } } },
  })
  const ended = await lab.lathe(['run', '--json', task])
  expect(ended.code).toBe(1)
  const { error, sessionId, items } = failure(ended)
  expect(error?.code).toBe('provider.local_server_off')
  expect(`${error?.message} ${error?.hint}`).not.toMatch(/\bkey\b/i)
  expect(items.map(({ kind }) => kind)).toEqual(['user', 'error'])
  await lab.configure({})
  await expectGoesOn(lab, sessionId)
})

test('T-154 401 names the key, not the message', async () => {
  await using lab = await Lab.open({
    script: [{ error: { status: 401, code: 'invalid_api_key' } }],
    env: { LAB_KEY: 'wrong-key-12345' },
    config: (server) => ({
      providers: {
        lab: { kind: 'openai-compatible', baseUrl: server.baseUrl, apiKeyEnv: 'LAB_KEY', models: ['scripted'] },
      },
    }),
  })
  const ended = await lab.lathe(['run', '--json', task])
  expect(ended.code).toBe(1)
  const { error, sessionId } = failure(ended)
  expect(error?.code).toBe('provider.auth_invalid')
  expect(ended.stdout + ended.stderr).not.toContain('wrong-key-12345')
  await expectGoesOn(lab, sessionId)
})

test('M-79 429 with Retry-After waits as long as asked, says so, and completes', async () => {
  await using lab = await Lab.open({
    script: [{ error: { status: 429, code: 'rate_limit_exceeded', headers: { 'retry-after': '2' } } }, answer],
  })
  const ended = await lab.lathe(['run', '--json', task])
  expect(ended.code).toBe(0)
  const [first, second] = lab.asked()
  expect(second!.at - first!.at).toBeGreaterThanOrEqual(1_900)
  expect(failure(ended).waits).toContainEqual(
    expect.objectContaining({ status: expect.objectContaining({ kind: 'rate_limited', untilKind: 'reset' }) }),
  )
})

test('M-76 500 is tried again; a server that stays broken fails the turn by name', async () => {
  await using lab = await Lab.open({ script: [{ error: { status: 500 } }, answer] })
  const once = await lab.lathe(['run', '--json', task])
  expect(once.code).toBe(0)
  lab.script([{ repeat: 'always', error: { status: 500 } }])
  const always = await lab.lathe(['run', '--json', task])
  expect(always.code).toBe(1)
  const { error, sessionId } = failure(always)
  expect(error?.code).toBe('provider.unavailable')
  expect(lab.asked()).toHaveLength(2 + 4)
  await expectGoesOn(lab, sessionId)
})

test('M-54 M-78 a stream cut in the middle is begun again once; cut again, what came is kept', async () => {
  const cut: Step = { emit: [{ text: 'The fault is in ' }, { delayMs: 50 }, { cut: true }] }
  await using lab = await Lab.open({ script: [cut, answer] })
  const mended = await lab.lathe(['run', '--json', task])
  expect(mended.code).toBe(0)
  expect(failure(mended).items.filter(({ kind }) => kind === 'text')).toMatchObject([
    { text: 'All is well.', status: 'final' },
  ])

  lab.script([cut, cut])
  const ended = await lab.lathe(['run', '--json', task])
  expect(ended.code).toBe(1)
  const { error, items, sessionId } = failure(ended)
  expect(error?.code).toBe('provider.response_interrupted')
  expect(items.filter(({ kind }) => kind === 'text')).toMatchObject([{ text: 'The fault is in ', status: 'partial' }])
  await expectGoesOn(lab, sessionId)
})

test('S-130 a workspace that is missing, a file, or unreadable makes no session', async () => {
  await using lab = await Lab.open({ script: [answer] })
  for (const workspace of [join(lab.folder, 'nowhere'), join(lab.workspace, 'index.js')]) {
    const ended = await lab.lathe(['run', '--json', '--workspace', workspace, task])
    expect(ended.code).toBe(2)
    expect(readError(ended.stdout).message).toContain(workspace)
  }
  expect((await lab.lathe(['sessions', 'list', '--json'])).stdout).toBe('')
})

test.skipIf(process.getuid?.() === 0)(
  'S-130 a workspace without the right to read it makes no session (root reads everything: skipped)',
  async () => {
    await using lab = await Lab.open({ script: [answer] })
    const locked = join(lab.folder, 'locked')
    await mkdir(locked, { mode: 0o000 })
    const ended = await lab.lathe(['run', '--json', '--workspace', locked, task])
    await chmod(locked, 0o700)
    expect(ended.code).toBe(2)
    expect(readError(ended.stdout).message).toContain(locked)
  },
)

test('F-510 a file deleted between read and edit is told to the model, and nothing comes back from the dead', async () => {
  await using lab = await Lab.open()
  const file = join(lab.workspace, 'index.js')
  const steps = mending('ms')
  const gone = Promise.withResolvers<void>()
  lab.script([
    steps[1]!,
    { emit: [{ until: gone.promise }, ...steps[2]!.emit!] },
    { emit: [{ text: 'The file is gone.' }] },
  ])
  const run = lab.start(['run', '--json', '--approve', 'all', task])
  await run.line((line) => line.includes('step.started') && line.includes('"step":1'))
  await rm(file)
  gone.resolve()
  const ended = await run.ended
  expect(ended.code).toBe(0)
  const edit = failure(ended).items.find((item) => item.kind === 'tool' && item.name === 'edit_file')
  expect(edit).toMatchObject({ state: 'error', code: 'file.not_found' })
  expect(JSON.stringify(lab.asked().at(-1)!.body.messages)).toContain('index.js')
  await expect(stat(file)).rejects.toThrow('ENOENT')
})

test('M-133 an invalid config.json is named with its line, and stays as it is', async () => {
  const broken =
    '{\n  "model": "lab/scripted",\n  "providers": {\n    "lab": { "kind": "openai-compatible" "baseUrl": "x" }\n  }\n}\n'
  await using lab = await Lab.open({ config: broken })
  const ended = await lab.lathe(['run', task])
  expect(ended.code).toBe(1)
  expect(ended.stdout).toBe('')
  expect(ended.stderr).toMatch(/config\.json.*line 4/s)
  const json = readError((await lab.lathe(['run', '--json', task])).stdout)
  expect(json.code).toBe('config.invalid')
  const doctor = await lab.lathe(['doctor'])
  expect(doctor.code).toBe(1)
  expect(doctor.stdout).toMatch(/config\.json.*line 4/s)
  expect(await readFile(join(lab.home, 'config.json'), 'utf8')).toBe(broken)
  await lab.configure({})
  lab.script([answer])
  expect((await lab.lathe(['run', task])).code).toBe(0)
})

test('S-24 a database from the future is read, never written', async () => {
  await using lab = await Lab.open({ script: [answer] })
  const first = await lab.lathe(['run', '--json', task])
  const { sessionId } = failure(first)
  const path = join(lab.home, 'lathe.db')
  const db = new DatabaseSync(path)
  db.exec('PRAGMA user_version = 9000')
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
  const before = await readFile(path)

  const ended = await lab.lathe(['run', '--json', '--session', sessionId, 'And now?'])
  expect(ended.code).toBe(1)
  expect(readError(ended.stdout)).toMatchObject({
    code: 'session.read_only',
    message: expect.stringContaining('newer'),
  })
  expect((await lab.lathe(['sessions', 'show', sessionId])).stdout).toContain('All is well.')
  expect((await lab.lathe(['doctor'])).stdout).toMatch(/newer/)
  expect(Buffer.compare(await readFile(path), before)).toBe(0)
})

test('S-25 a damaged database is set aside whole, said so, and the work goes on', async () => {
  await using lab = await Lab.open({ script: [answer, answer] })
  await lab.lathe(['run', task])
  const path = join(lab.home, 'lathe.db')
  const file = await open(path, 'r+')
  await file.write(Buffer.alloc(4_096, 'x'), 0, 4_096, 0)
  await file.close()
  const damaged = await readFile(path)

  const ended = await lab.lathe(['run', '--json', task])
  expect(ended.code).toBe(0)
  expect(ended.stderr).toContain('set aside')
  const aside = (await readdir(lab.home)).find((name) => name.includes('set-aside'))!
  expect(Buffer.compare(await readFile(join(lab.home, aside, 'lathe.db')), damaged)).toBe(0)
  expect((await lab.lathe(['sessions', 'list', '--json'])).stdout.trimEnd().split('\n')).toHaveLength(1)
})

/** A small disk mounted on the data folder; null where this machine does not let us. */
async function smallDisk(folder: string, megabytes: number): Promise<AsyncDisposable | null> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return null
  const mounted = await exec('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder]).catch(() => null)
  return mounted && { [Symbol.asyncDispose]: async () => void (await exec('umount', ['-l', folder])) }
}

test('TA-35 T-41 a disk that fills in the middle of a turn loses nothing; freed, the turn settles', async ({
  skip,
}) => {
  await using lab = await Lab.open()
  await using disk = await smallDisk(lab.home, 160)
  if (!disk) return skip('A small disk can be mounted by root on Linux only.')
  await lab.configure({})
  const ballast = join(lab.home, 'ballast')
  const full = Promise.withResolvers<void>()
  lab.script([
    { emit: [{ text: 'Before. ' }, { until: full.promise }, { words: 200, everyMs: 5 }, { text: 'After.' }] },
  ])
  const run = lab.start(['run', '--json', task])
  const { sessionId } = JSON.parse(await run.line((line) => line.includes('"session"')))
  await run.line((line) => line.includes('Before.'))
  await fill(ballast)
  full.resolve()
  await run.said('cannot be saved')
  await rm(ballast)
  const ended = await run.ended
  const { items, end } = failure(ended)
  expect(items[0]).toMatchObject({ kind: 'user', text: task })
  expect(items).toContainEqual(expect.objectContaining({ kind: 'text', text: expect.stringMatching(/^Before\. /) }))
  expect(['completed, none', 'failed, storage.failed']).toContain(`${end.outcome}, ${end.error?.code ?? 'none'}`)
  expect(ended.code).toBe(end.outcome === 'completed' ? 0 : 1)
  await expectGoesOn(lab, sessionId)
})

test('Z-223 a disk that is nearly full refuses the message before anything runs', async ({ skip }) => {
  await using lab = await Lab.open({ script: [answer] })
  await using disk = await smallDisk(lab.home, 60)
  if (!disk) return skip('A small disk can be mounted by root on Linux only.')
  await lab.configure({})
  const ended = await lab.lathe(['run', '--json', task])
  expect(ended.code).toBe(1)
  expect(readError(ended.stdout).code).toBe('storage.low')
  expect(lab.asked()).toEqual([])
})

/** Writes until nothing fits any more. */
async function fill(path: string): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(path))
  const file = await open(path, 'w')
  const piece = Buffer.alloc(4 * 1024 * 1024)
  try {
    for (let written = 0; written <= bavail * bsize;) written += (await file.write(piece)).bytesWritten
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  } finally {
    await file.close()
  }
}

test('SA-34 a taken port is exit 1, no line, and a way out', async () => {
  await using lab = await Lab.open()
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const ended = await lab.lathe(['serve', '--port', String(port)])
  other.close()
  expect(ended).toMatchObject({ code: 1, stdout: '' })
  expect(ended.stderr).toContain(String(port))
  expect(ended.stderr).toContain('--port')
  await expect.poll(() => lab.processes(), { timeout: 10_000 }).toEqual([])
})

/** Starts `npm start`'s script, waits for the address, reads what it said, and ends it. */
async function startWindow(lab: Lab, env: NodeJS.ProcessEnv): Promise<{ url: string; stderr: string }> {
  const child = spawn(process.execPath, [join(root, 'scripts/start.ts')], {
    env: { ...lab.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (part: string) => (stderr += part))
  const ended = once(child, 'close')
  const [url] = (await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    ended.then(() => ['']),
  ])) as [string]
  child.kill('SIGTERM')
  await ended
  return { url, stderr }
}

const address = /^http:\/\/127\.0\.0\.1:\d+\/#token=/

test('without a display `npm start` says so and prints the address', async () => {
  await using lab = await Lab.open()
  const { url, stderr } = await startWindow(lab, { DISPLAY: undefined, WAYLAND_DISPLAY: undefined })
  expect(url).toMatch(address)
  expect(stderr).toMatch(/no display/i)
  await expect.poll(() => lab.processes(), { timeout: 10_000 }).toEqual([])
})

test('without Electron and a browser `npm start` prints the address', async () => {
  await using lab = await Lab.open()
  const { url, stderr } = await startWindow(lab, {
    DISPLAY: ':987',
    PATH: await programs(lab, ['sh', 'find', 'readlink']),
    PLAYWRIGHT_BROWSERS_PATH: join(lab.folder, 'none'),
    ELECTRON_OVERRIDE_DIST_PATH: join(lab.folder, 'none'),
    ELECTRON_SKIP_BINARY_DOWNLOAD: '1',
  })
  expect(url).toMatch(address)
  expect(stderr).toMatch(/in a browser/)
  await expect.poll(() => lab.processes(), { timeout: 10_000 }).toEqual([])
})

/** A PATH with these programs alone. */
async function programs(lab: Lab, names: string[]): Promise<string> {
  const folder = join(lab.folder, 'programs')
  await mkdir(folder)
  for (const name of names)
    await symlink((await exec('sh', ['-c', `command -v ${name}`])).stdout.trim(), join(folder, name))
  return folder
}

test('without git a turn reads, edits and runs commands all the same', async () => {
  await using lab = await Lab.open({ script: mending('ms') })
  // A login shell would bring the whole PATH back.
  const env = { PATH: await programs(lab, ['sh', 'bash', 'find', 'readlink', 'cat']), SHELL: '/nonexistent/shell' }
  const ended = await lab.lathe(['run', '--json', '--approve', 'all', task], { env })
  expect(ended.code).toBe(0)
  expect(failure(ended).end).toMatchObject({ outcome: 'completed' })
  expect(await lab.testsPass()).toBe(true)
  const doctor = await lab.lathe(['doctor'], { env })
  expect(doctor.stdout).toMatch(/git/)
})
