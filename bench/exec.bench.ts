/** Processes under load: a flood through an exec session, typing beside a flood, ending trees, sessions opened and closed. */
import { readdir, readFile } from 'node:fs/promises'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { ExecSession } from '../main/exec/exec-session.ts'
import { processSystem } from '../main/exec/process-tree.ts'
import type { Terminals } from '../main/exec/terminals.ts'
import { testExec } from '../main/exec/test-exec-sessions.ts'
import { profile, testTerminals } from '../main/exec/test-terminals.ts'
import { execReply } from '../main/tools/exec-reply.ts'
import { report } from './figures.ts'

const megabytes = 200
const keystrokes = 200
const trees = 20
const opened = 500

const never = new AbortController().signal
const exec = await testExec()
const mb = (bytes: number) => bytes / 1024 / 1024
const percentile = (values: number[], part: number) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * part)]!

/** What a run did to the process, beside what it answered. */
async function watched<T>(work: () => Promise<T>): Promise<{ result: T; ms: number; peakMb: number; stallMs: number }> {
  globalThis.gc?.()
  const before = process.memoryUsage.rss()
  let peak = before
  const sampling = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 20)
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const from = performance.now()
  const result = await work()
  const ms = performance.now() - from
  delay.disable()
  clearInterval(sampling)
  return { result, ms, peakMb: mb(peak - before), stallMs: delay.max / 1e6 }
}

async function flood(): Promise<{ ms: number; peakMb: number; stallMs: number; given: number }> {
  const command = `head -c ${megabytes * 1024 * 1024} /dev/zero | tr '\\0' x | fold -w 120; echo done`
  const { result, ...figures } = await watched(async () => {
    const session = await exec.told(command, { timeoutMs: null })
    await session.untilEnd(600_000, never)
    return execReply(session, { budget: 10_000, notes: [] })
  })
  return { ...figures, given: result.text.length }
}

/** From a key written to its echo read, one after another. */
async function typing(terminals: Terminals, id: string): Promise<number[]> {
  const stop = new AbortController()
  const times: number[] = []
  let echoed = Promise.withResolvers<void>()
  const reading = (async () => {
    for await (const frame of terminals.attach(id, { signal: stop.signal }))
      if (frame.type === 'data' && frame.data.includes('k')) echoed.resolve()
  })()
  for (let key = 0; key < keystrokes; key++) {
    const from = performance.now()
    echoed = Promise.withResolvers()
    terminals.input(id, 'k')
    await echoed.promise
    times.push(performance.now() - from)
    await new Promise((resolve) => setTimeout(resolve, 15))
  }
  stop.abort()
  await reading
  return times
}

async function keystrokesBesideAFlood(): Promise<{ alone: number[]; beside: number[] }> {
  const lab = await testTerminals()
  const terminals = lab.make([profile('cat', '/bin/cat'), profile('yes', '/usr/bin/yes')])
  const open = (name: string) => terminals.open({ workspace: lab.home, cols: 80, rows: 24, profile: name })
  const typed = await open('cat')
  const alone = await typing(terminals, typed.id)
  const flooding = await open('yes')
  const stop = new AbortController()
  const watching = (async () => {
    for await (const _ of terminals.attach(flooding.id, { signal: stop.signal }));
  })()
  const beside = await typing(terminals, typed.id)
  stop.abort()
  await watching
  await lab.dispose()
  return { alone, beside }
}

/** A tree of thirty: ten shells, each with two sleeps, some deaf to SIGTERM. */
async function endTree(): Promise<{ ms: number; left: number }> {
  const branch = (deaf: boolean) => `(${deaf ? "trap '' TERM; " : ''}sleep 300 & sleep 300 & wait) &`
  const command = `${Array.from({ length: 10 }, (_, at) => branch(at % 3 === 0)).join(' ')} echo up; wait`
  const session = await exec.told(command, { timeoutMs: null })
  await session.untilSeen('up', 60_000, never)
  const group = session.pid
  const from = performance.now()
  await session.stop()
  const ms = performance.now() - from
  const left = (await processSystem.table()).filter((row) => row.group === group && !row.dead).length
  return { ms, left }
}

async function openDescriptors(): Promise<{ all: number; ptys: number }> {
  const names = await readdir('/proc/self/fd')
  const table = await readFile('/proc/sys/kernel/pty/nr', 'utf8').catch(() => '0')
  return { all: names.length, ptys: Number(table) }
}

async function openAndClose(): Promise<{ descriptors: number; ptys: number; memory: number }> {
  const round = async (count: number): Promise<void> => {
    for (let at = 0; at < count; at += 10) {
      const sessions: ExecSession[] = await Promise.all(
        Array.from({ length: Math.min(10, count - at) }, (_, index) =>
          exec.shell('echo hello', { tty: index % 2 === 0, owner: 'many' }),
        ),
      )
      await Promise.all(sessions.map((session) => session.ended))
      await Promise.all(sessions.map((session) => exec.sessions.drop('many', session)))
    }
  }
  await round(50)
  globalThis.gc?.()
  const before = { ...(await openDescriptors()), memory: process.memoryUsage().heapUsed }
  await round(opened)
  globalThis.gc?.()
  const after = { ...(await openDescriptors()), memory: process.memoryUsage().heapUsed }
  return {
    descriptors: after.all - before.all,
    ptys: after.ptys - before.ptys,
    memory: mb(after.memory - before.memory),
  }
}

const floods = [await flood(), await flood(), await flood()]
const { alone, beside } = await keystrokesBesideAFlood()
const ended = []
for (let tree = 0; tree < trees; tree++) ended.push(await endTree())
const closed = await openAndClose()
await exec.dispose()

report([
  { name: `${megabytes} MB through one exec session`, unit: 'ms', values: floods.map(({ ms }) => ms) },
  { name: 'peak memory above the start', unit: 'MB', values: floods.map(({ peakMb }) => peakMb), aim: 100 },
  {
    name: 'longest stall of the main loop meanwhile',
    unit: 'ms',
    values: floods.map(({ stallMs }) => stallMs),
    aim: 50,
  },
  { name: 'what the model got', unit: 'characters', values: floods.map(({ given }) => given), aim: 11_000 },
  { name: 'keystroke to echo, p50', unit: 'ms', values: [percentile(alone, 0.5)] },
  { name: 'keystroke to echo, p95', unit: 'ms', values: [percentile(alone, 0.95)], aim: 50 },
  { name: 'keystroke to echo beside a flood, p50', unit: 'ms', values: [percentile(beside, 0.5)] },
  { name: 'keystroke to echo beside a flood, p95', unit: 'ms', values: [percentile(beside, 0.95)], aim: 50 },
  { name: 'Stop to the last of 30 processes gone', unit: 'ms', values: ended.map(({ ms }) => ms), aim: 2_000 },
  { name: 'processes left of them', unit: 'left', values: ended.map(({ left }) => left), aim: 1 },
  { name: `descriptors after ${opened} sessions`, unit: 'left', values: [closed.descriptors], aim: 1 },
  { name: `ptys after ${opened} sessions`, unit: 'left', values: [closed.ptys], aim: 1 },
  { name: `memory after ${opened} sessions`, unit: 'MB', values: [closed.memory], aim: 5 },
])
process.exit(0)
