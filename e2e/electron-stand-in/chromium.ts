/** A Chromium of our own, spoken to by its debugging protocol. */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { WebSocket } from 'ws'

export type Params = Record<string, unknown>
type Listener = (params: Params) => void

/** The browser ends when the other end of this shell's input is gone, also where we are killed and can do nothing. */
const diesWithUs =
  'exec 3<&0; "$@" & browser=$!; (cat <&3 >/dev/null; kill -9 "$browser") 2>/dev/null & wait "$browser"'

export class Chromium {
  readonly endpoint: string
  readonly #process: ChildProcess
  readonly #socket: WebSocket
  #sent = 0
  readonly #waiting = new Map<number, { resolve(result: Params): void; reject(error: Error): void }>()
  readonly #listeners = new Map<string, Set<Listener>>()

  private constructor(process: ChildProcess, endpoint: string, socket: WebSocket) {
    this.#process = process
    this.endpoint = endpoint
    this.#socket = socket
    socket.on('message', (text: Buffer) => this.#take(JSON.parse(text.toString()) as Message))
    socket.on('error', () => {})
  }

  /** Starts it headless on a profile folder; ends with this process. */
  static async start(program: string, profile: string, args: readonly string[]): Promise<Chromium> {
    mkdirSync(profile, { recursive: true })
    const child = spawn(
      '/bin/sh',
      [
        '-c',
        diesWithUs,
        'sh',
        program,
        '--headless=new',
        '--remote-debugging-port=0',
        `--user-data-dir=${profile}`,
        '--no-first-run',
        '--no-default-browser-check',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-renderer-backgrounding',
        '--disable-backgrounding-occluded-windows',
        '--disable-gpu',
        // Electron's ports tell of their end; the browser's do so only when asked.
        '--enable-blink-features=MessagePortCloseEvent',
        ...args,
        'about:blank',
      ],
      { stdio: ['pipe', 'ignore', 'pipe'] },
    )
    const endpoint = await new Promise<string>((found, failed) => {
      // Read to the end: a full pipe would stop it.
      createInterface({ input: child.stderr }).on('line', (line) => {
        const address = /DevTools listening on (ws:\S+)/.exec(line)?.[1]
        if (address) found(address)
      })
      child.once('close', (code) => failed(new Error(`Chromium ended with ${code} before it could be spoken to.`)))
      child.once('error', failed)
    })
    const socket = new WebSocket(endpoint, { perMessageDeflate: false })
    await new Promise((opened, failed) => socket.once('open', opened).once('error', failed))
    return new Chromium(child, endpoint, socket)
  }

  send(method: string, params: Params = {}, sessionId?: string): Promise<Params> {
    const id = ++this.#sent
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#socket.send(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }))
    })
  }

  /** Events of one session, or of the browser where none is named. */
  on(method: string, listener: Listener, sessionId = ''): void {
    const key = `${sessionId} ${method}`
    const all = this.#listeners.get(key) ?? new Set()
    this.#listeners.set(key, all.add(listener))
  }

  kill(): void {
    this.#process.stdin?.destroy()
  }

  #take({ id, result, error, method, params, sessionId = '' }: Message): void {
    if (id === undefined) {
      for (const listener of this.#listeners.get(`${sessionId} ${method}`) ?? []) listener(params ?? {})
      return
    }
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (error) waiting?.reject(new Error(error.message))
    else waiting?.resolve(result ?? {})
  }
}

type Message = {
  id?: number
  result?: Params
  error?: { message: string }
  method?: string
  params?: Params
  sessionId?: string
}
