/**
 * Writes two contents over each other for ever, until it is killed: at a point of the gate, or from outside. Arguments: the
 * folder of a test workspace, and `POINT N` for the N-th time a point is reached.
 */
import { join } from 'node:path'
import { TestWorkspace } from './test-workspace.ts'
import { hashOf } from './version.ts'

const [root = '', killAt = 'none', nth = '0'] = process.argv.slice(2)
const workspace = new TestWorkspace(root, {})
const names = ['a.txt', 'run.sh', 'link']
const contents = [0, 1].map((side) => Buffer.from(`${side}`.repeat(512 * 1024)))
let left = Number(nth)
workspace.reached = (point) => {
  if (point === killAt && left-- === 0) process.kill(process.pid, 'SIGKILL')
}
process.stdout.write('ready\n')
for (let round = 0; ; round++) {
  const [from, to] = [contents[round % 2]!, contents[(round + 1) % 2]!]
  const requests = await Promise.all(
    names.map(async (name) => ({
      path: await workspace.paths.resolve(workspace.place, join(workspace.folder, name)),
      base: await hashOf(from),
      content: to,
    })),
  )
  const author = { sessionId: 's1', turnId: 't1', callId: 'c1', by: 'tool' as const }
  await workspace.gate.commit(workspace.place, requests, author, new AbortController().signal)
}
