/**
 * The contract on a socket of this user: how a command or a second host reaches the owner of a data folder (S-136,
 * S-137). One JSON message a line; the first line of each side says who it is. A connection is its client's lease.
 */
import { createHash, randomBytes } from 'node:crypto'
import { chmod, mkdir, rm, stat } from 'node:fs/promises'
import { connect as connectTo, createServer, type Socket } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { LatheError } from '../../preload/contract/errors.ts'
import { frameBytesMax, hostWaitMs } from '../../preload/contract/limits.ts'
import type { HostFile } from '../platform/home.ts'
import type { Wire } from './connections.ts'
import type { ClientContext } from './handlers.ts'

/** Raised with every change of the contract that an older client would misread. */
const contractVersion = 1
const greetingMs = 5_000
/** The longest socket path every system takes. */
const socketPathBytesMax = 100

const Greeting = z.object({ lathe: z.literal(contractVersion), attendance: z.enum(['attended', 'fail', 'deny']) })
const Welcome = z.object({ lathe: z.number(), instanceId: z.string(), version: z.string() })

export type LocalServer = {
  readonly endpoint: string
  /** Takes no more clients; those that are there stay until `close`. */
  stop(): void
  close(): Promise<void>
}

/** Listens for clients of the data folder `home`; `accept` gets each that greeted rightly. The caller owns the folder. */
export async function serveLocally(options: {
  home: string
  instanceId: string
  version: string
  accept: (wire: Wire, who: Pick<ClientContext, 'kind' | 'attendance'>) => void | Promise<void>
}): Promise<LocalServer> {
  const { home, instanceId, version, accept } = options
  const endpoint = await endpointOf(home)
  if (process.platform !== 'win32') await rm(endpoint, { force: true })
  const clients = new Set<Socket>()
  const server = createServer((socket) => {
    clients.add(socket)
    socket.on('close', () => clients.delete(socket))
    const wire = lineWire(socket)
    const tooLong = setTimeout(() => socket.destroy(), greetingMs)
    wire.onFirst((text) => {
      clearTimeout(tooLong)
      wire.send(JSON.stringify({ lathe: contractVersion, instanceId, version }))
      const greeting = Greeting.safeParse(parsed(text))
      if (!greeting.success) return void socket.end()
      void accept(wire, { kind: 'cli', attendance: greeting.data.attendance })
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(endpoint, () => resolve())
  })
  server.unref()
  if (process.platform !== 'win32') await chmod(endpoint, 0o600)

  const closed = Promise.withResolvers<void>()
  const stop = (): void => void server.close(() => closed.resolve())
  return {
    endpoint,
    stop,
    async close() {
      stop()
      for (const socket of clients) socket.destroy()
      await closed.promise
    },
  }
}

/**
 * Connects to the living owner that `host` tells of; null where nobody listens there any more. Throws `host.foreign`,
 * `host.version_mismatch`, or `host.unreachable` after 20 s of silence.
 */
export async function attach(
  host: HostFile,
  attendance: ClientContext['attendance'],
  signal?: AbortSignal,
): Promise<Wire | null> {
  const socket = connectTo(host.endpoint)
  const limit = AbortSignal.timeout(hostWaitMs)
  const giveUp = (): void => void socket.destroy()
  for (const one of signal ? [limit, signal] : [limit]) one.addEventListener('abort', giveUp, { once: true })
  try {
    const wire = lineWire(socket)
    const first = Promise.withResolvers<string | null>()
    wire.onFirst(first.resolve)
    socket.on('close', () => first.resolve(null))
    socket.on('connect', () => wire.send(JSON.stringify({ lathe: contractVersion, attendance })))
    const text = await first.promise
    signal?.throwIfAborted()
    if (limit.aborted)
      throw new LatheError('host.unreachable', 'The Lathe process that owns this data folder does not answer.', {
        hint: `Its log is in ${join('logs', 'lathe.log')} of the data folder; process ${host.pid}.`,
      })
    if (text === null) return null
    const welcome = Welcome.safeParse(parsed(text))
    if (!welcome.success || welcome.data.instanceId !== host.instanceId) {
      throw new LatheError('host.foreign', 'Something else answers where Lathe should; it is not used.', {
        hint: `See ${host.endpoint}.`,
      })
    }
    if (welcome.data.lathe !== contractVersion) {
      throw new LatheError(
        'host.version_mismatch',
        `Lathe ${welcome.data.version} runs with this data folder and speaks another version.`,
        { hint: 'Use the same version, or quit the other first.' },
      )
    }
    return wire
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    for (const one of signal ? [limit, signal] : [limit]) one.removeEventListener('abort', giveUp)
  }
}

/** In the data folder, which is its user's alone; where that path is too long, in a folder of the same kind. */
async function endpointOf(home: string): Promise<string> {
  const name = createHash('sha256').update(home).digest('hex').slice(0, 16)
  if (process.platform === 'win32') return `\\\\.\\pipe\\lathe-${name}-${randomBytes(8).toString('hex')}`
  const inHome = join(home, 'host.sock')
  if (Buffer.byteLength(inHome) <= socketPathBytesMax) return inHome
  const folder = join(tmpdir(), `lathe-${userInfo().uid}`)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const { uid, mode } = await stat(folder)
  if (uid !== userInfo().uid || (mode & 0o077) !== 0)
    throw new LatheError('host.unreachable', `${folder} is not this user's alone.`, {
      hint: 'Remove it, or choose a shorter LATHE_HOME.',
    })
  return join(folder, `${name}.sock`)
}

/** A socket that carries lines: the first one for `onFirst`, the rest for the wire's own listener, kept until it has one. */
function lineWire(socket: Socket): Wire & { onFirst(listener: (text: string) => void): void } {
  let onFirst: ((text: string) => void) | null = null
  let onLine: ((text: string) => void) | null = null
  const early: string[] = []
  let parts: string[] = []
  let length = 0

  const take = (line: string): void => {
    const first = onFirst
    onFirst = null
    if (first) first(line)
    else if (onLine) onLine(line)
    else {
      early.push(line)
      socket.pause()
    }
  }
  socket.setEncoding('utf8')
  socket.on('error', () => socket.destroy())
  socket.on('data', (chunk: string) => {
    const lines = chunk.split('\n')
    for (const [index, line] of lines.entries()) {
      parts.push(line)
      length += line.length
      if (length > frameBytesMax) return socket.destroy()
      if (index === lines.length - 1) return
      const whole = parts.join('')
      parts = []
      length = 0
      take(whole)
    }
  })

  return {
    send: (text) => {
      if (socket.writable) socket.write(`${text}\n`)
    },
    close: () => socket.destroy(),
    onFirst: (listener) => {
      onFirst = listener
    },
    onMessage: (listener) => {
      onLine = listener
      for (const line of early.splice(0)) listener(line)
      socket.resume()
    },
    onClose: (listener) => void socket.on('close', listener),
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
