/**
 * `npm run test:long`: the tests of random inputs, each with many more runs than `npm test` gives them. Takes minutes; for
 * a night, or before a change of what they prove.
 */
import { runStep } from './steps.ts'

const tests: { name: string; file: string; env: Record<string, string> }[] = [
  {
    name: 'commands, reports, kills and failing disks in any order',
    file: 'main/turns/any-order.test.ts',
    env: { LATHE_RUNS: '100000' },
  },
  {
    name: 'any command line, judged',
    file: 'main/approvals/shell-command.test.ts',
    env: { LATHE_JUDGE_RUNS: '100000' },
  },
  {
    name: 'any command line, read as bash reads it',
    file: 'main/approvals/shell-against-bash.test.ts',
    env: { LATHE_BASH_RUNS: '2000' },
  },
  {
    name: 'a session of many turns, its host killed at any moment',
    file: 'e2e/crash.test.ts',
    env: { LATHE_CRASHES: '200' },
  },
  { name: 'a turn, its host killed at any moment', file: 'e2e/kill.test.ts', env: { LATHE_KILLS: '100' } },
]

let passed = true
for (const { name, file, env } of tests) {
  const limit = 60 * 60_000
  const args = ['run', file, `--testTimeout=${limit}`]
  passed = (await runStep({ name, script: 'node_modules/vitest/vitest.mjs', args, env, limit })) && passed
}
process.exitCode = passed ? 0 : 1
