/** `npm run check`: all that can be said of the sources without a browser. Every step runs, so one report names all faults. */
import { runStep, type Step } from './steps.ts'

const steps: Step[] = [
  { name: 'format', script: 'node_modules/oxfmt/bin/oxfmt', args: ['--list-different'] },
  { name: 'lint and walls', script: 'node_modules/oxlint/bin/oxlint', args: ['--report-unused-disable-directives'] },
  {
    name: 'types of main, preload and tools',
    script: 'node_modules/typescript/bin/tsc',
    args: ['-p', 'tsconfig.json'],
  },
  { name: 'types of the renderer', script: 'node_modules/typescript/bin/tsc', args: ['-p', 'renderer/tsconfig.json'] },
  { name: 'unused files, exports and dependencies', script: 'node_modules/knip/bin/knip.js', args: [] },
  { name: 'unit tests', script: 'node_modules/vitest/vitest.mjs', args: ['run'] },
]

const failed: string[] = []
for (const step of steps) if (!(await runStep(step))) failed.push(step.name)
console.log(failed.length === 0 ? '\nAll checks passed.' : `\nFailed: ${failed.join('; ')}.`)
process.exitCode = failed.length === 0 ? 0 : 1
