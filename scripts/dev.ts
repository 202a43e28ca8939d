/**
 * `npm run dev`: the loopback host with what is saved rebuilt at once. A change in main/ or preload/ starts the host
 * again; a change in renderer/ needs only a reload of the page.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { watch } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { buildParts } from './build.ts'
import { root } from './steps.ts'

const settleMs = 150
let host: ChildProcess | undefined

async function startHost(): Promise<void> {
  const old = host
  if (old && old.exitCode === null) {
    const ended = new Promise((done) => old.once('close', done))
    old.kill('SIGTERM')
    await ended
  }
  host = spawn(
    process.execPath,
    ['--enable-source-maps', join(root, 'out/main/lathe.js'), 'serve', ...process.argv.slice(2)],
    {
      stdio: 'inherit',
    },
  )
}

async function follow(folder: string, onChange: () => Promise<void>): Promise<void> {
  const changes = watch(join(root, folder), { recursive: true })
  for await (const { filename } of changes) {
    if (!filename || /\.test\.tsx?$/.test(filename)) continue
    // Editors write in bursts; one build after the last of them.
    await delay(settleMs)
    await onChange().catch((error: unknown) => console.error(error instanceof Error ? error.message : error))
  }
}

await buildParts()
await startHost()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    host?.kill(signal)
    process.exit(130)
  })
const rebuildHost = async () => {
  await buildParts(['main', 'preload'])
  await startHost()
}
await Promise.all([
  follow('main', rebuildHost),
  follow('preload', rebuildHost),
  follow('renderer', () => buildParts(['renderer'])),
])
