/** Scripted turns that mend a sample workspace: plan, read, edit, test, answer. */
import type { SampleWorkspace } from './lab.ts'
import type { Action, Step } from './model-server/script.ts'

type Fault = { broken: string; mended: string; answer: string }

/** What is wrong with each workspace, in its `index.js`. */
export const faults: Record<SampleWorkspace, Fault> = {
  ms: {
    broken: `    case 'h':
      return n * m;`,
    mended: `    case 'h':
      return n * h;`,
    answer: 'Hours were counted as minutes. `parse` now multiplies them by `h`, and all tests pass.',
  },
  'semver-compare': {
    broken: `        var na = pa[i];
        var nb = pb[i];`,
    mended: `        var na = Number(pa[i]);
        var nb = Number(pb[i]);`,
    answer: 'The parts were compared as text. They are numbers now, and all tests pass.',
  },
  'escape-string-regexp': {
    broken: `'\\\\$&');`,
    mended: `'\\\\$&')
		.replace(/-/g, '\\\\x2d');`,
    answer: 'The dash was left as it is. It is escaped as `\\x2d` now, and all tests pass.',
  },
}

export const task = 'The tests of this package fail. Find out why and mend it.'

export const planned = ['Read the code', 'Mend it', 'Run the tests']

/** The plan with the first `done` entries done. */
function plan(done: number): Action {
  const state = (at: number) => (at < done ? 'done' : at === done ? 'active' : 'pending')
  return { call: { name: 'update_plan', args: { entries: planned.map((text, at) => ({ text, state: state(at) })) } } }
}

/** Runs the tests of the folder it is started in, on the Node that runs these tests. */
const testCommand = `'${process.execPath}' --test`

/** The steps of the turn. `everyMs` spreads its texts over time, word by word. */
export function mending(workspace: SampleWorkspace, everyMs = 0): Step[] {
  const { broken, mended, answer } = faults[workspace]
  const say = (text: string): Action => ({ text, ...(everyMs > 0 ? { everyMs } : {}) })
  return [
    { emit: [say('I will read the code before I change anything. '), plan(0)] },
    { emit: [{ call: { name: 'read_file', args: { path: 'index.js' } } }] },
    {
      emit: [
        say('The fault is in plain sight. '),
        { call: { name: 'edit_file', args: { path: 'index.js', old_text: broken, new_text: mended } } },
        plan(2),
      ],
    },
    { emit: [{ call: { name: 'shell', args: { command: testCommand } } }] },
    { emit: [plan(3)] },
    { emit: [say(answer)] },
  ]
}
