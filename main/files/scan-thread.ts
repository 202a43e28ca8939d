/** The thread that looks at workspaces, as others see it: asks, and hands its answers to who asked. */
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { ScanReply, ScanRequest } from './scan-worker.ts'
import type { ScanOptions, ScanResult } from './workspace-scan.ts'

type Ask = ScanRequest extends infer One ? (One extends { id: number } ? Omit<One, 'id'> : never) : never

const closeMs = 3_000
/** Beside what a question was given: its beginning and its end, a disk that is slow. */
const graceMs = 30_000
const contentsMs = 10_000

type Asked = { limitMs: number; resolve(reply: ScanReply): void }
/** A thread with the questions it has not answered, in order: it works on the first. */
type Thread = { worker: Worker; asked: Map<number, Asked>; watch: NodeJS.Timeout | undefined }

/** It starts with the first question. */
export class ScanThread {
  readonly #graceMs: number
  #thread: Thread | null = null
  #count = 0

  constructor(options: { graceMs?: number } = {}) {
    this.#graceMs = options.graceMs ?? graceMs
  }

  /** `paths` as the search program printed them; the thread takes them over. Throws where the thread failed or stands still. */
  async update(
    root: string,
    folder: string,
    paths: Uint8Array<ArrayBuffer>,
    options: ScanOptions,
  ): Promise<ScanResult> {
    const reply = await this.#ask({ ask: 'update', root, folder, paths, ...options }, options.ms, [paths.buffer])
    if (!('result' in reply)) throw new Error('failed' in reply ? reply.failed : 'No result.')
    return reply.result
  }

  async contents(folder: string, hashes: (string | null)[]): Promise<(Uint8Array | null)[]> {
    const wanted = hashes.filter((hash) => hash !== null)
    if (wanted.length === 0) return hashes.map(() => null)
    const reply = await this.#ask({ ask: 'contents', folder, hashes: wanted }, contentsMs)
    const found = 'contents' in reply ? reply.contents : []
    return hashes.map((hash) => (hash === null ? null : (found[wanted.indexOf(hash)] ?? null)))
  }

  /** Its states are saved, within 3 s. */
  async end(): Promise<void> {
    const thread = this.#thread
    if (!thread) return
    let timer: NodeJS.Timeout | undefined
    const late = new Promise((resolve) => (timer = setTimeout(resolve, closeMs)))
    await Promise.race([this.#ask({ ask: 'close' }, closeMs), late])
    clearTimeout(timer)
    clearTimeout(thread.watch)
    await Promise.race([thread.worker.terminate(), delay(closeMs, undefined, { ref: false })])
  }

  #ask(ask: Ask, limitMs: number, transfer: ArrayBuffer[] = []): Promise<ScanReply> {
    const thread = (this.#thread ??= this.#start())
    const id = ++this.#count
    return new Promise((resolve) => {
      thread.asked.set(id, { limitMs, resolve })
      if (thread.asked.size === 1) this.#watch(thread)
      thread.worker.postMessage({ ...ask, id } satisfies ScanRequest, transfer)
    })
  }

  /** A disk that hangs holds the thread up where nothing can end it: it is left behind, and the next question starts another. */
  #watch(thread: Thread): void {
    clearTimeout(thread.watch)
    const [first] = thread.asked.values()
    thread.watch = first && setTimeout(() => this.#leave(thread, 'stands still'), first.limitMs + this.#graceMs)
  }

  #leave(thread: Thread, why: string): void {
    if (this.#thread === thread) this.#thread = null
    clearTimeout(thread.watch)
    for (const [id, { resolve }] of thread.asked) resolve({ id, failed: `The thread that looks at workspaces ${why}.` })
    thread.asked.clear()
    void thread.worker.terminate()
  }

  #start(): Thread {
    const worker = new Worker(new URL('./scan-worker.ts', import.meta.url), { name: 'scan' })
    const thread: Thread = { worker, asked: new Map(), watch: undefined }
    worker.unref()
    worker.on('message', (reply: ScanReply) => {
      thread.asked.get(reply.id)?.resolve(reply)
      thread.asked.delete(reply.id)
      this.#watch(thread)
    })
    // A thread that ended answers nobody: who waits is told, and the next question starts another.
    worker.on('error', () => {})
    worker.on('exit', () => this.#leave(thread, 'has ended'))
    return thread
  }
}
