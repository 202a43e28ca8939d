/**
 * A host with 10,000 sessions: from its start to ready while 20 of them were interrupted, the first page of its list, a
 * change of an entry in three clients, a message sent, the longest session exported, and the main loop through all of it.
 */
import { join } from 'node:path'
import { HostClient } from '../e2e/host-client.ts'
import { Lab } from '../e2e/lab.ts'
import { storeSession, storeWorkspace } from '../e2e/long-session.ts'
import { openStorage } from '../main/storage/open-storage.ts'
import { sampleHeader, sampleWrite, turnRow, userItem } from '../main/storage/write-samples.ts'
import { newId } from '../preload/contract/ids.ts'
import { fiveTimes, report, stallFigures } from './figures.ts'
import { measure, startMeasured } from './measured.ts'

const sessions = 10_000
const interrupted = 20
const clients = 3

await using lab = await Lab.open({ config: { 'titles.auto': false } })
const { workspace } = lab
const stored = await openStorage({ home: lab.home })
await storeWorkspace(stored, workspace)
const step = 500
for (let from = 0; from < sessions; from += step)
  await Promise.all(
    Array.from({ length: step }, (_, at) =>
      stored.commit(sampleWrite(sampleHeader({ workspace, title: `Session ${from + at}`, updatedAt: from + at + 1 }))),
    ),
  )
const { sessionId: long } = await storeSession(stored, { workspace, title: 'A long one', count: 10_000, length: 4_000 })
while ((await stored.search('warm', 1)).partial) await new Promise((done) => setTimeout(done, 500))
await stored.close()

/** Sessions whose turn was running when their host was killed. */
async function interrupt(): Promise<void> {
  const storage = await openStorage({ home: lab.home })
  await Promise.all(
    Array.from({ length: interrupted }, () => {
      const item = userItem(1, 'go on', { id: newId(), turnId: newId() })
      const turn = turnRow(item.turnId!, { id: item.turnId!, userItemId: item.id })
      const header = sampleHeader({ workspace, currentTurnId: turn.id, itemCount: 1, updatedAt: Date.now() })
      return storage.commit(sampleWrite(header, { items: [item], turns: [turn] }))
    }),
  )
  await storage.close()
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now()
  await work()
  return performance.now() - from
}

const runs = await fiveTimes(async () => {
  await interrupt()
  lab.script([{ emit: [{ text: 'Done.' }] }])
  const { process: host, measured } = startMeasured(lab, ['serve', '--json', '--workspace', workspace], 300_000)
  const readyMs = await timed(() => host.line((line) => line.includes('"url"')))
  const ready = performance.timeOrigin + performance.now()
  using client = await HostClient.of(lab.home)
  const { handlers, who } = client
  const watching = await Promise.all(Array.from({ length: clients }, () => HostClient.of(lab.home)))
  const page = () => handlers.sessions.list({ limit: 100 }, who)
  await page()
  const pageMs = await timed(page)

  const title = `Renamed ${newId()}`
  const heard = watching.map(async (each) => {
    for await (const event of each.handlers.host.watch({ stream: newId() }, each.who))
      if (event.type === 'entry.put' && event.entry.title === title) return
  })
  // A stream has begun once it answers; until then it would hear of nothing.
  await Promise.all(watching.map((each) => each.handlers.sessions.list({ limit: 1 }, each.who)))
  const updateMs = await timed(async () => {
    await handlers.sessions.rename({ requestId: newId(), sessionId: long, title }, who)
    await Promise.all(heard)
  })

  const { sessionId } = await handlers.sessions.create({ requestId: newId(), workspace }, who)
  const submitMs = await timed(() =>
    handlers.session.submit({ requestId: newId(), sessionId, text: 'Go', attachments: [], whenBusy: 'refuse' }, who),
  )
  const forkMs = await timed(() => handlers.sessions.fork({ requestId: newId(), sessionId: long }, who))
  const to = performance.timeOrigin + performance.now()
  for (const each of watching) each[Symbol.dispose]()
  host.kill('SIGTERM')
  const figures = await measured
  return { readyMs, pageMs, updateMs, submitMs, forkMs, stall: figures.longestStall(ready, to) }
})

const exported = join(lab.folder, 'exported.json')
const exportRuns = await fiveTimes(async () => {
  const little = await measure(lab, ['sessions', 'list', '--json', '--limit', '1'])
  const whole = await measure(lab, ['sessions', 'export', long, '--format', 'json', '--out', exported])
  return { ms: whole.wallMs, mb: whole.peakMb - little.peakMb, stall: whole.longestStall() }
})

report([
  { name: 'S-159 start to ready, 20 interrupted', unit: 'ms', values: runs.map((run) => run.readyMs), aim: 1_500 },
  { name: 'S-155 first page of 10,000 sessions', unit: 'ms', values: runs.map((run) => run.pageMs), aim: 30 },
  { name: 'S-155 entry update in three clients', unit: 'ms', values: runs.map((run) => run.updateMs), aim: 50 },
  { name: 'S-158 submit to durable acceptance', unit: 'ms', values: runs.map((run) => run.submitMs), aim: 25 },
  { name: 'S-157 fork of 10,000 entries, by a host', unit: 'ms', values: runs.map((run) => run.forkMs), aim: 500 },
  ...stallFigures(
    'in all of these, S-160',
    runs.map((run) => run.stall),
    50,
  ),
  {
    name: 'S-157 export of 10,000 entries, whole process',
    unit: 'ms',
    values: exportRuns.map((run) => run.ms),
    aim: 3_000,
  },
  { name: 'S-157 memory it takes', unit: 'MB', values: exportRuns.map((run) => run.mb), aim: 64 },
  ...stallFigures(
    'in an export, S-160',
    exportRuns.map((run) => run.stall),
    50,
  ),
])
