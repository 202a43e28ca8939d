/** 50,000 tokens streamed at full speed into a journaled turn, against a client that only reads them. */
import { Lab } from '../e2e/lab.ts'
import { fiveTimes, report, stallFigures } from './figures.ts'
import { measure } from './measured.ts'

const tokens = 50_000
await using lab = await Lab.open()
const step = { emit: [{ words: tokens }] }

/** The server's own time: how long it takes to send the reply to one who does nothing with it. */
async function bareRead(): Promise<number> {
  lab.script([step])
  const from = performance.now()
  const reply = await fetch(`${lab.server.baseUrl}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'scripted', stream: true, messages: [{ role: 'user', content: 'Talk.' }] }),
  })
  for await (const _ of reply.body!);
  return performance.now() - from
}

const runs = await fiveTimes(async () => {
  const serverMs = await bareRead()
  lab.script([step])
  const before = lab.asked().length
  const measured = await measure(lab, ['run', '--json', '--approve', 'all', 'Talk.'])
  const first = lab.asked()[before]!.at
  const events = measured.stdout.split('\n').length - 2
  return { ...measured, serverMs, first, events, turnMs: measured.to - first }
})

report([
  {
    name: '50,000 tokens, whole process over the server',
    unit: 'ms',
    values: runs.map((run) => run.wallMs - run.serverMs),
    aim: 1_200,
  },
  { name: 'of it from the model request to the end', unit: 'ms', values: runs.map((run) => run.turnMs - run.serverMs) },
  { name: 'the server alone', unit: 'ms', values: runs.map((run) => run.serverMs) },
  { name: 'processor time', unit: 'ms', values: runs.map((run) => run.cpuMs) },
  { name: 'peak memory', unit: 'MB', values: runs.map((run) => run.peakMb), aim: 250 },
  ...stallFigures(
    'in the turn',
    runs.map((run) => run.longestStall(run.first)),
    20,
  ),
])
