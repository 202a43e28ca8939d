/**
 * Eight sessions that stream 100 tokens a second each, four of them on screen in four windows: how long the main loop of the host is
 * kept, and how long it takes from a token's byte at the model to its letters on the screen (S-154, S-160).
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chromium, type Page } from 'playwright'
import { HostClient } from '../e2e/host-client.ts'
import { Lab } from '../e2e/lab.ts'
import { newId } from '../preload/contract/ids.ts'
import { requireBrowser, sandboxArguments } from '../scripts/browser.ts'
import { report, stallFigures } from './figures.ts'
import { pageWork, startMeasured } from './measured.ts'

const sessions = 8
const windows = 4
const tokenEveryMs = 10
const seconds = 20

/** A model whose every token is the moment it was sent at. */
const model = createServer((request, response) => {
  request.resume()
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (delta: object, finish: string | null = null) =>
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`)
  const until = Date.now() + seconds * 1_000
  const from = performance.now()
  let sent = 0
  const timer = setInterval(() => {
    // As many as are due, so that a late timer does not lower the rate.
    for (; sent * tokenEveryMs < performance.now() - from; sent++)
      send({
        content: `@${Math.round((performance.timeOrigin + performance.now()) * 10)}${sent % 40 === 39 ? '\n\n' : ' '}`,
      })
    if (Date.now() < until) return
    clearInterval(timer)
    send({}, 'stop')
    response.end('data: [DONE]\n\n')
  }, 2)
  response.on('close', () => clearInterval(timer))
})
await new Promise<void>((listening) => model.listen(0, '127.0.0.1', listening))
const baseUrl = `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`

/** Milliseconds from sent to painted, for each token this page showed, until its answer is over. */
function latencies(page: Page): Promise<number[]> {
  return page.evaluate(async () => {
    const found: number[] = []
    let last = 0
    const painted = new MessageChannel()
    const frame = () =>
      new Promise<void>((after) => {
        painted.port1.addEventListener('message', () => after(), { once: true })
        painted.port1.start()
        // The frame is on its way to the screen once the task after its callbacks runs.
        requestAnimationFrame(() => painted.port2.postMessage(null))
      })
    for (let quiet = 0; quiet < 60; quiet++) {
      await frame()
      const now = performance.timeOrigin + performance.now()
      const answer = [...document.querySelectorAll('[role="log"] .prose')].at(-1)?.textContent.slice(-4_000) ?? ''
      for (const [, digits] of answer.matchAll(/@(\d{14})/g)) {
        const sent = Number(digits) / 10
        if (sent <= last) continue
        last = sent
        quiet = 0
        found.push(now - sent)
      }
      // Before the first token there is nothing to be quiet about.
      if (last === 0) quiet = 0
    }
    return found
  })
}

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!
}

await using lab = await Lab.open({
  config: { providers: { lab: { kind: 'openai-compatible', baseUrl, models: ['scripted'] } }, 'titles.auto': false },
})
const { process: host, measured } = startMeasured(lab, ['serve', '--json', '--workspace', lab.workspace], 300_000)
const { url } = JSON.parse(await host.line((line) => line.includes('"url"'))) as { url: string }
const browser = await chromium.launch({ executablePath: await requireBrowser(), args: sandboxArguments() })
using client = await HostClient.of(lab.home)
const { handlers, who } = client
await handlers.settings.set(
  { requestId: newId(), settings: { 'turns.maxConcurrent': sessions, 'titles.auto': false } },
  who,
)

const ids: string[] = []
for (let at = 0; at < sessions; at++) {
  const made = await handlers.sessions.create({ requestId: newId(), workspace: lab.workspace }, who)
  ids.push(made.sessionId)
}
// Each in a window of its own: a tab behind another is not drawn.
const pages = await Promise.all(
  ids.slice(0, windows).map(() => browser.newPage({ viewport: { width: 1280, height: 800 } })),
)
for (const page of pages) await page.goto(url)
const works = await Promise.all(pages.map(pageWork))

const from = performance.timeOrigin + performance.now()
for (const [at, sessionId] of ids.entries())
  await handlers.session.submit(
    { requestId: newId(), sessionId, text: `Session ${at}`, attachments: [], whenBusy: 'refuse' },
    who,
  )
const shown = pages.map(async (page, at) => {
  await page.getByRole('list', { name: 'Sessions' }).getByText(`Session ${at}`, { exact: true }).click()
  return await latencies(page)
})
const seen = await Promise.all(shown)
const to = performance.timeOrigin + performance.now()
const worked = await Promise.all(works.map((work) => work()))
const events = await Promise.all(ids.map(async (id) => (await client.open(id)).header.lastSeq))
await browser.close()
host.kill('SIGTERM')
const run = await measured
model.close()

report([
  { name: 'from model byte to painted text, median', unit: 'ms', values: seen.map((all) => quantile(all, 0.5)) },
  { name: 'from model byte to painted text, p95', unit: 'ms', values: seen.map((all) => quantile(all, 0.95)) },
  { name: 'the longest of them', unit: 'ms', values: seen.map((all) => Math.max(...all)) },
  { name: 'tokens shown in a window', unit: 'tokens', values: seen.map((all) => all.length) },
  {
    name: 'S-154 events a second of a session',
    unit: 'a second',
    values: events.map((count) => count / seconds),
    aim: 62.5,
  },
  ...stallFigures('with eight sessions streaming', [run.longestStall(from, to)], 50),
  {
    name: "work of a window's main thread in a second",
    unit: 'ms',
    values: worked.map((ms) => ms / ((to - from) / 1_000)),
  },
  { name: 'processor time of the host', unit: 'ms', values: [run.cpuMs] },
  { name: 'peak memory of the host', unit: 'MB', values: [run.peakMb] },
])
