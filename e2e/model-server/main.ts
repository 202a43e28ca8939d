/** The scripted model server by hand: `node e2e/model-server/main.ts --port 9099 --script reply.json`. */
import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { startModelServer, type Step } from './server.ts'

const { values } = parseArgs({ options: { port: { type: 'string' }, script: { type: 'string' } } })
const given: unknown = values.script ? JSON.parse(await readFile(values.script, 'utf8')) : undefined
const steps = (Array.isArray(given) ? given : (given as { steps?: Step[] } | undefined)?.steps) ?? [
  { repeat: 'always', emit: [{ text: 'This is a scripted answer. ', everyMs: 30 }] },
]
const server = await startModelServer({
  script: steps as Step[],
  ...(values.port ? { port: Number(values.port) } : {}),
})
process.stdout.write(`${JSON.stringify({ url: server.url, baseUrl: server.baseUrl })}\n`)
const leave = () => {
  server.close().then(
    () => process.exit(0),
    (error: Error) => {
      process.stderr.write(`${error.message}\n`)
      process.exit(1)
    },
  )
}
process.on('SIGINT', leave)
process.on('SIGTERM', leave)
