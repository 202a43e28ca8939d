/** The thread that looks at workspaces, as others see it: asks, and hands its answers to who asked. */
import { Worker } from 'node:worker_threads'
import type { ScanReply, ScanRequest } from './scan-worker.ts'
import type { ScanOptions, ScanResult } from './workspace-scan.ts'

type Ask = ScanRequest extends infer One ? (One extends { id: number } ? Omit<One, 'id'> : never) : never

const closeMs = 3_000

/** It starts with the first question. */
export class ScanThread {
  readonly #asked = new Map<number, (reply: ScanReply) => void>()
  #worker: Worker | null = null
  #count = 0

  /** `paths` as the search program printed them; the thread takes them over. Throws where the thread failed. */
  async update(
    root: string,
    folder: string,
    paths: Uint8Array<ArrayBuffer>,
    options: ScanOptions,
  ): Promise<ScanResult> {
    const reply = await this.#ask({ ask: 'update', root, folder, paths, ...options }, [paths.buffer])
    if (!('result' in reply)) throw new Error('failed' in reply ? reply.failed : 'No result.')
    return reply.result
  }

  async contents(folder: string, hashes: (string | null)[]): Promise<(Uint8Array | null)[]> {
    const wanted = hashes.filter((hash) => hash !== null)
    if (wanted.length === 0) return hashes.map(() => null)
    const reply = await this.#ask({ ask: 'contents', folder, hashes: wanted })
    const found = 'contents' in reply ? reply.contents : []
    return hashes.map((hash) => (hash === null ? null : (found[wanted.indexOf(hash)] ?? null)))
  }

  /** Its states are saved, within 3 s. */
  async end(): Promise<void> {
    const worker = this.#worker
    if (!worker) return
    let timer: NodeJS.Timeout | undefined
    const late = new Promise((resolve) => (timer = setTimeout(resolve, closeMs)))
    await Promise.race([this.#ask({ ask: 'close' }), late])
    clearTimeout(timer)
    await worker.terminate()
  }

  #ask(ask: Ask, transfer: ArrayBuffer[] = []): Promise<ScanReply> {
    this.#worker ??= this.#start()
    const id = ++this.#count
    return new Promise((resolve) => {
      this.#asked.set(id, resolve)
      this.#worker!.postMessage({ ...ask, id } satisfies ScanRequest, transfer)
    })
  }

  #start(): Worker {
    const worker = new Worker(new URL('./scan-worker.ts', import.meta.url), { name: 'scan' })
    worker.unref()
    worker.on('message', (reply: ScanReply) => {
      this.#asked.get(reply.id)?.(reply)
      this.#asked.delete(reply.id)
    })
    // A thread that ended answers nobody: who waits is told, and the next question starts another.
    worker.on('error', () => {})
    worker.on('exit', () => {
      this.#worker = null
      for (const [id, resolve] of this.#asked) resolve({ id, failed: 'The thread that looks at workspaces has ended.' })
      this.#asked.clear()
    })
    return worker
  }
}
