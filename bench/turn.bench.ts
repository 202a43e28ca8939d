/** `lathe run` of a two-step turn, as a whole process: start, one tool call, the answer, the end. */
import { Lab } from '../e2e/lab.ts'
import { fiveTimes, report, stallFigures } from './figures.ts'
import { measure } from './measured.ts'

await using lab = await Lab.open()

const runs = await fiveTimes(async () => {
  lab.script([
    { emit: [{ text: 'I will look.' }, { call: { name: 'read_file', args: { path: 'index.js' } } }] },
    { emit: [{ text: 'It counts hours as minutes.' }] },
  ])
  const measured = await measure(lab, ['run', '--json', '--approve', 'all', 'What is wrong here?'])
  const [first, second] = lab.asked().slice(-2)
  return { ...measured, first: first!.at, second: second!.at }
})

report([
  { name: 'two-step turn, whole process', unit: 'ms', values: runs.map((run) => run.wallMs), aim: 450 },
  { name: 'of it until the first model request', unit: 'ms', values: runs.map((run) => run.first - run.from) },
  { name: 'of it after the second model request', unit: 'ms', values: runs.map((run) => run.to - run.second) },
  { name: 'processor time', unit: 'ms', values: runs.map((run) => run.cpuMs) },
  { name: 'peak memory', unit: 'MB', values: runs.map((run) => run.peakMb), aim: 160 },
  ...stallFigures(
    'in the turn',
    runs.map((run) => run.longestStall(run.first)),
    20,
  ),
  ...stallFigures(
    'before it',
    runs.map((run) => run.longestStall(0, run.first)),
  ),
])
