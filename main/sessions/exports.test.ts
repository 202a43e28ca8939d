import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { exportPartChars } from '../../preload/contract/limits.ts'
import { writePrivateFile } from '../platform/private-file.ts'
import { sampleHeader, sampleWrite, textItem, turnRow, userItem } from '../storage/write-samples.ts'
import type { ExportFormat } from './export.ts'
import { Exports } from './exports.ts'
import { hangs, refusal, says, testScene } from './test-scene.ts'
import type { TestWorkbench } from './test-workbench.ts'

const scene = testScene()

async function whole(exports: Exports, sessionId: string, format: ExportFormat, exportId: string = format) {
  let text = ''
  for (let part = 0; ; part++) {
    const answer = await exports.part({ sessionId, exportId, part, format, exact: true })
    text += answer.text
    if (answer.last) return text
  }
}

/** A session whose entries have these texts, told in one settled turn. */
async function stored({ storage }: TestWorkbench, texts: readonly string[]) {
  const header = sampleHeader({ title: 'Long work', itemCount: texts.length + 1 })
  const items = [userItem(1, 'begin'), ...texts.map((text, at) => textItem(at + 2, text))].map((item) => ({
    ...item,
    turnId: 't1',
  }))
  const turns = [turnRow('t1', { outcome: 'completed', settledAt: 3_000, durationMs: 2_000 })]
  await storage.commit(sampleWrite(header, { items, turns }))
  return { header, items, turns }
}

test('S-91 S-87 the parts of a session make the file it was, byte for byte', async () => {
  const bench = await scene.workbench()
  const { header, items, turns } = await stored(bench, ['one\nline', '"two" 🙂', ''])
  const exports = new Exports(bench)
  const { id, createdAt, updatedAt, workspace, title, titleSource, model, effort, usage, plan, forkOf } = header
  const session = { id, createdAt, updatedAt, workspace, title, titleSource, model, effort, usage, plan, forkOf }
  const json = `${JSON.stringify({ format: 'lathe.session', version: 1, session, turns, items }, null, 2)}\n`
  expect(await whole(exports, id, 'json')).toBe(json)
  const facts = [
    'Workspace: /work/shop',
    'Model: none',
    'Created: 1970-01-01T00:00:01.000Z',
    'Updated: 1970-01-01T00:00:01.000Z',
  ]
  expect(await whole(exports, id, 'md')).toBe(
    `# Long work\n\n- ${facts.join('\n- ')}\n\n### You\n\nbegin\n\n### Lathe\n\none\nline\n\n### Lathe\n\n"two" 🙂\n\n### Lathe\n\n*completed, 2.0 s, lab/scripted*\n`,
  )
  const html = await whole(exports, id, 'html')
  const article = (who: string, text: string, end = '') =>
    `<article><h2>${who}</h2>${text && `<div class="text">${text}</div>`}${end && `<p class="end">${end}</p>`}</article>`
  const articles = [
    article('You', 'begin'),
    article('Lathe', 'one\nline'),
    article('Lathe', '&quot;two&quot; 🙂'),
    article('Lathe', '', 'completed, 2.0 s, lab/scripted'),
  ]
  expect(html.slice(html.indexOf('</dl>'))).toBe(`</dl>\n${articles.join('\n')}\n</body></html>\n`)

  const empty = bench.create()
  expect(JSON.parse(await whole(exports, empty.id, 'json', 'empty'))).toMatchObject({ turns: [], items: [] })
})

test('S-91 an export is one reading: what is written while its parts are fetched is not in it', async () => {
  const bench = await scene.workbench()
  const { header, items, turns } = await stored(
    bench,
    Array.from({ length: 6 }, (_, at) => `${at}${'🙂'.repeat(400_000)}`),
  )
  const exports = new Exports(bench)
  const asked = { sessionId: header.id, exportId: 'one', format: 'json' as const, exact: true }
  const first = await exports.part({ ...asked, part: 0 })
  expect(first.last).toBe(false)
  const changed = items.map((item) => ({ ...item, text: 'written later' }))
  await bench.storage.commit(
    sampleWrite({ ...header, title: 'Later' }, { items: [...changed, textItem(99, 'added later')] }),
  )
  expect(await exports.part({ ...asked, part: 0 })).toEqual(first)
  let { text, last } = first
  for (let part = 1; !last; part++) {
    const next = await exports.part({ ...asked, part })
    expect(next.text.length).toBeLessThanOrEqual(exportPartChars)
    expect(next.text.isWellFormed()).toBe(true)
    text += next.text
    last = next.last
  }
  expect(JSON.parse(text)).toMatchObject({ session: { title: 'Long work' }, turns, items })
  expect(await whole(exports, header.id, 'md')).toContain('written later')
  expect(await refusal(exports.part({ ...asked, exportId: 'two', part: 1 }))).toBe('request.invalid')
})

test('S-91 while a turn runs, a live entry is marked and has what has streamed so far', async () => {
  const bench = await scene.workbench([says('One.'), hangs('Half of it')])
  const actor = bench.create()
  const window = await bench.follow(actor)
  await window.settled(await bench.start(actor, 'first'))
  await bench.start(actor, 'second')
  await window.until((view) => view.items.some((item) => item.kind === 'text' && item.text === 'Half of it'))
  const exports = new Exports(bench)
  const markdown = await whole(exports, actor.id, 'md')
  expect(markdown).toContain('### Lathe [still running]\n\nHalf of it\n')
  expect(markdown.match(/still running/g)).toHaveLength(1)
  expect(markdown).toMatch(/One\.\n\n\*completed/)
  expect(JSON.parse(await whole(exports, actor.id, 'json')).items.at(-1)).toMatchObject({
    status: 'live',
    text: 'Half of it',
  })
})

test('S-91 an export that fails half way leaves no file, and the file before stays', async () => {
  const bench = await scene.workbench()
  const { header } = await stored(bench, ['a'.repeat(2_000_000)])
  const exports = new Exports(bench)
  const path = join(bench.workspace, 'export.json')
  await writePrivateFile(path, 'before')
  async function* texts() {
    for (let part = 0; ; part++) {
      yield (await exports.part({ sessionId: header.id, exportId: 'one', part, format: 'json' })).text
      exports.close()
    }
  }
  expect(await refusal(writePrivateFile(path, texts()))).toBe('request.invalid')
  expect(await readdir(bench.workspace)).toEqual(['export.json'])
  expect(await readFile(path, 'utf8')).toBe('before')
})

test('S-91 a session of 128 MiB is exported in 96 MiB of memory', { timeout: 120_000 }, async () => {
  const bench = await scene.workbench()
  const header = sampleHeader({ itemCount: 128 })
  const hash = createHash('sha256')
  for (let pos = 1; pos <= 128; pos++) {
    const text = `${pos} ${'word '.repeat(200_000)}`
    hash.update(text)
    await bench.storage.commit(sampleWrite(header, { items: [textItem(pos, text)] }))
  }
  const path = join(bench.home, 'export.json')
  const script = fileURLToPath(new URL('./test-export-process.ts', import.meta.url))
  // What does not fit ends the process.
  await promisify(execFile)(process.execPath, ['--max-old-space-size=96', script, bench.home, header.id, path])
  expect((await stat(path)).size).toBeGreaterThan(120 * 1024 * 1024)
  const written = JSON.parse(await readFile(path, 'utf8')) as { items: { text: string }[] }
  const again = createHash('sha256')
  for (const { text } of written.items) again.update(text)
  expect(again.digest('hex')).toBe(hash.digest('hex'))
})
