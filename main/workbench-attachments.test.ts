import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Step } from '../e2e/model-server/server.ts'
import type { LatheError } from '../preload/contract/errors.ts'
import { newId } from '../preload/contract/ids.ts'
import type { Attachment } from '../preload/contract/items.ts'
import { says, who, Whole } from './test-whole.ts'

let whole: Whole
let sessionId: string
let workspace: string

beforeEach(async () => {
  whole = await Whole.open()
  workspace = await whole.workspace()
  sessionId = whole.bench.sessions.create({ workspace, approvalMode: 'all' }).id
})
afterEach(() => whole.close())

async function attach(name: string, bytes: Uint8Array | string): Promise<Attachment> {
  const data = Buffer.from(bytes).toString('base64')
  const part = { uploadId: newId(), name, mediaType: 'image/png', part: 0, last: true, data }
  return (await whole.bench.handlers.attachments.upload(part, who)).attachment!
}

const send = (text: string, attachments: Attachment[], ...script: Step[]): Promise<string> =>
  whole.turn(sessionId, { text, attachments }, ...script)

const failure = (work: Promise<unknown>): Promise<LatheError> =>
  work.then(
    () => Promise.reject(new Error('sent')),
    (error: LatheError) => error,
  )
const lastRequest = () => whole.lastRequest()
const shownNames = async () =>
  (await whole.bench.sessions.open(sessionId)).items.flatMap((item) =>
    item.kind === 'user' ? [item.attachments.map(({ name }) => name)] : [],
  )
/** Where a body is kept. */
async function bodyFile(hash: string): Promise<string> {
  const files = await readdir(whole.home, { recursive: true })
  return join(
    whole.home,
    files.find((file) => file.endsWith(hash) || file.replaceAll('/', '').endsWith(hash))!,
  )
}

test('F-1204 F-1203 FA-38 a message goes with all its attachments or not at all, each refusal with its reason', async () => {
  const good = await attach('a.txt', 'a')
  const gone = { ...good, name: 'gone.txt', hash: 'f'.repeat(64) }
  const many = Array.from({ length: 21 }, (_, at) => ({ ...good, name: `${at}.txt` }))
  expect(await failure(send('x', [good, gone]))).toMatchObject({
    code: 'attachment.rejected',
    data: { files: [{ name: 'gone.txt', reason: 'unreadable' }] },
  })
  expect(await failure(send('x', many))).toMatchObject({
    code: 'attachment.rejected',
    data: { files: [{ name: '20.txt', reason: 'too_many' }] },
  })
  const noise = await sharp(Buffer.alloc(12, 1), { raw: { width: 2, height: 2, channels: 3 } })
    .png()
    .toBuffer()
  const large = await Promise.all(
    [1, 2, 3].map((at) => attach(`${at}.png`, Buffer.concat([noise, Buffer.alloc(18 * 1024 * 1024, at)]))),
  )
  expect(await failure(send('x', large))).toMatchObject({ data: { files: [{ name: '3.png', reason: 'too_large' }] } })
  expect([await shownNames(), whole.server.asked().length]).toEqual([[], 0])
  // Attachments alone are a message, and 20 of them are.
  await send('', many.slice(0, 20), says('Seen.'))
  expect((await shownNames())[0]!.length).toBe(20)
  expect(lastRequest()).toContain('19.txt')
}, 60_000)

test('F-1204 steered, queued and retried messages keep their attachments', async () => {
  const [first, steered, queued] = [
    await attach('first.txt', '1st'),
    await attach('s.txt', '2nd'),
    await attach('q.txt', '3rd'),
  ]
  const script = [{ emit: [{ text: 'x' }, { hang: true as const }] }, says('Steered.'), says('Queued.')]
  const turnId = await whole.begin(sessionId, { text: 'Go', attachments: [first] }, ...script)
  await expect.poll(() => whole.server.asked().length, { timeout: 20_000 }).toBe(1)
  const act = () => ({ requestId: newId(), sessionId })
  await whole.bench.handlers.followUps.add({ ...act(), text: 'Then', attachments: [queued] }, who)
  const { steerId } = (await whole.bench.handlers.steers.add(
    { ...act(), turnId, text: 'Also', attachments: [steered] },
    who,
  )) as {
    steerId: string
  }
  await whole.bench.handlers.steers.sendNow({ ...act(), steerId }, who)
  await expect.poll(() => whole.server.asked().length, { timeout: 20_000 }).toBe(3)
  const bodies = whole.server.asked().map(({ body }) => JSON.stringify(body))
  expect(bodies.map((body) => ['1st', '2nd', '3rd'].map((text) => body.includes(text)))).toEqual([
    [true, false, false],
    [true, true, false],
    [true, true, true],
  ])
  await expect.poll(shownNames, { timeout: 20_000 }).toEqual([['first.txt'], ['s.txt'], ['q.txt']])
})

test('F-1202 F-1210 F-1211 K-16 bytes are a body of their own; names stay over a restart and in an export; a lost body breaks nothing', async () => {
  const text = 'what was dropped, and then deleted'
  const original = join(workspace, 'notes.txt')
  await writeFile(original, text)
  const attachment = await attach('../../etc/no tes.txt', await readFile(original))
  const [twin, odd] = [await attach('no tes.txt', 'another'), await attach('CON.txt', 'odd')]
  await rm(original)
  await send('Look', [attachment, twin, odd], says('Seen.'))
  expect(lastRequest()).toContain(text)
  const names = [['no tes.txt', 'no tes (2).txt', '_CON.txt']]
  expect(await shownNames()).toEqual(names)

  await whole.bench.dispose()
  for (const file of (await readdir(whole.home)).filter((name) => name.startsWith('lathe.db')))
    for (const form of [text, Buffer.from(text).toString('base64').slice(0, 40)])
      expect((await readFile(join(whole.home, file))).includes(form)).toBe(false)
  await whole.start()
  expect(await shownNames()).toEqual(names)
  for (const format of ['md', 'json', 'html'] as const)
    expect(
      JSON.stringify(await whole.bench.handlers.sessions.export({ sessionId, exportId: format, part: 0, format }, who)),
    ).toContain('no tes (2).txt')

  await rm(await bodyFile(attachment.hash))
  await send('And now?', [], says('It is gone.'))
  expect(lastRequest()).toContain('The file is no longer there.')
  expect(lastRequest()).toContain('another')
  expect(await shownNames()).toEqual([...names, []])
  expect((await failure(whole.bench.handlers.attachments.read({ sessionId, hash: attachment.hash }, who))).code).toBe(
    'file.not_found',
  )
  expect(
    JSON.stringify(
      await whole.bench.handlers.sessions.export({ sessionId, exportId: 'again', part: 0, format: 'md' }, who),
    ),
  ).toContain('no tes.txt')
})

test('F-1222 F-1212 pictures of other kinds are converted where they can be decoded, else they go as files with a note', async () => {
  const picture = sharp({ create: { width: 40, height: 30, channels: 3, background: 'teal' } })
  const kinds = ['png', 'jpeg', 'webp', 'gif', 'tiff', 'avif'] as const
  const pictures = await Promise.all(
    kinds.map(async (kind) => attach(`${kind}.bin`, await picture.clone().toFormat(kind).toBuffer())),
  )
  const bitmap = Buffer.concat([Buffer.from('BM'), Buffer.alloc(60)])
  const other = await attach('old.bmp', bitmap)
  const svg = await attach('drawing.png', '<svg xmlns="http://www.w3.org/2000/svg"/>\n')
  expect(pictures.map(({ mediaType }) => mediaType)).toEqual(kinds.map((kind) => `image/${kind}`))
  await send('Look', [...pictures, other, svg], says('Seen.'))
  const sent = [...lastRequest().matchAll(/data:(image\/[a-z+]+);base64/g)].map((match) => match[1])
  expect(sent.length).toBe(kinds.length)
  expect(new Set(sent)).toEqual(new Set(['image/png', 'image/jpeg']))
  expect(lastRequest()).toContain('old.bmp')
  expect(lastRequest()).toContain('not text and is not shown')
  expect(lastRequest()).toContain('<svg')
}, 30_000)

test('F-1225 FA-40 a picture that the provider refuses costs one more request, and the next turn works', async () => {
  const picture = sharp({ create: { width: 40, height: 30, channels: 3, background: 'teal' } })
  const attached = await attach('bad.png', await picture.png().toBuffer())
  const refusal = { error: { status: 400, message: 'messages.1.content.1.image_url: Could not process image' } }
  await send('Look', [attached], refusal, says('Without it.'))
  expect(whole.server.asked().map(({ body }) => JSON.stringify(body).includes('base64,'))).toEqual([true, false])
  const { items, header } = await whole.bench.sessions.open(sessionId)
  expect(header.lastOutcome).toBe('completed')
  expect(JSON.stringify([items, header.notices])).toContain('refused an image')
  await send('And?', [], says('Fine.'))
  expect(whole.server.asked().length).toBe(3)
  expect(lastRequest()).not.toContain('base64,')
})
