/** What one more step costs: the slope between turns of 2 and of 52 steps, each step a `read_file` call. */
import { Lab } from '../e2e/lab.ts'
import type { Step } from '../e2e/model-server/script.ts'
import { fiveTimes, report, stallFigures } from './figures.ts'
import { measure, type Measured } from './measured.ts'

await using lab = await Lab.open()
const more = 50

async function turnOf(steps: number): Promise<Measured & { first: number }> {
  const call: Step = {
    repeat: steps - 1,
    emit: [{ text: 'Next.' }, { call: { name: 'read_file', args: { path: 'package.json' } } }],
  }
  lab.script([call, { emit: [{ text: 'Done.' }] }])
  const before = lab.asked().length
  const measured = await measure(lab, ['run', '--json', '--approve', 'all', `Take ${steps} steps.`])
  return { ...measured, first: lab.asked()[before]!.at }
}

const runs = await fiveTimes(async () => ({ short: await turnOf(2), long: await turnOf(2 + more) }))

report([
  {
    name: 'one more step',
    unit: 'ms',
    values: runs.map(({ short, long }) => (long.wallMs - short.wallMs) / more),
    aim: 6,
  },
  {
    name: 'processor time of one more step',
    unit: 'ms',
    values: runs.map(({ short, long }) => (long.cpuMs - short.cpuMs) / more),
  },
  { name: 'turn of 52 steps, whole process', unit: 'ms', values: runs.map(({ long }) => long.wallMs) },
  { name: 'its peak memory', unit: 'MB', values: runs.map(({ long }) => long.peakMb) },
  ...stallFigures(
    'in the turn',
    runs.map(({ long }) => long.longestStall(long.first)),
    20,
  ),
])
