/** At most two worker threads for large texts, started when first needed and ended when idle. */
import { Worker } from 'node:worker_threads'
import { LatheError, type ErrorBody } from '../../preload/contract/errors.ts'
import { runJob, type Job, type Jobs } from './file-jobs.ts'

export type JobOptions = {
  /** Bytes or characters the job goes over: small ones run here at once, for a thread costs more than they do. */
  size: number
  timeoutMs: number
  signal?: AbortSignal | undefined
}

const threadsMax = 2
const waitingMax = 200
const idleMs = 30_000
/** Over this a job may hold the loop for more than a few milliseconds. */
const smallSize = 128 * 1024

type Thread = { worker: Worker; idle: NodeJS.Timeout | undefined }

export class FileWorkers {
  readonly #free: Thread[] = []
  readonly #all = new Set<Thread>()
  readonly #waiting: (() => void)[] = []

  /** Throws what the job throws, the signal's reason, or `tool.timed_out` after `timeoutMs`; the thread is ended then. */
  async run<Name extends keyof Jobs>(
    name: Name,
    input: Jobs[Name]['input'],
    options: JobOptions,
  ): Promise<Jobs[Name]['answer']> {
    options.signal?.throwIfAborted()
    const job = { name, input } as Job
    if (options.size <= smallSize) return runJob(job)
    const thread = await this.#take(options.signal)
    return this.#ask(thread, job, options)
  }

  async dispose(): Promise<void> {
    await Promise.all([...this.#all].map((thread) => this.#end(thread)))
  }

  #ask<Answer>(thread: Thread, job: Job, { signal, timeoutMs }: JobOptions): Promise<Answer> {
    const { worker } = thread
    return new Promise<Answer>((resolve, reject) => {
      const fail = (error: unknown): void => {
        stopListening()
        void this.#end(thread)
        reject(error)
      }
      const onMessage = (reply: { value: Answer } | { error: ErrorBody }): void => {
        stopListening()
        this.#release(thread)
        if ('value' in reply) resolve(reply.value)
        else reject(new LatheError(reply.error.code, reply.error.message, reply.error))
      }
      const onExit = (): void =>
        fail(new LatheError('tool.failed', 'The worker that read this file ended unexpectedly.'))
      const onAbort = (): void => fail(signal!.reason)
      const timer = setTimeout(
        () => fail(new LatheError('tool.timed_out', `This took over ${timeoutMs / 1_000} s and was ended.`)),
        timeoutMs,
      )
      const stopListening = (): void => {
        clearTimeout(timer)
        worker.off('message', onMessage).off('error', fail).off('exit', onExit)
        signal?.removeEventListener('abort', onAbort)
      }
      worker.on('message', onMessage).on('error', fail).on('exit', onExit)
      signal?.addEventListener('abort', onAbort)
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      worker.postMessage(job)
    })
  }

  async #take(signal: AbortSignal | undefined): Promise<Thread> {
    for (;;) {
      const thread = this.#free.pop() ?? (this.#all.size < threadsMax ? this.#start() : undefined)
      if (thread) {
        clearTimeout(thread.idle)
        return thread
      }
      await this.#freed(signal)
    }
  }

  #freed(signal: AbortSignal | undefined): Promise<void> {
    if (this.#waiting.length >= waitingMax)
      throw new LatheError('file.busy', 'Too many large files are being worked on at once.')
    return new Promise((resolve, reject) => {
      const onFree = (): void => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(onFree), 1)
        reject(signal!.reason)
      }
      this.#waiting.push(onFree)
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }

  #start(): Thread {
    const worker = new Worker(new URL('./file-worker.ts', import.meta.url), {
      name: 'files',
      resourceLimits: { maxOldGenerationSizeMb: 1_024 },
    })
    worker.unref()
    const thread = { worker, idle: undefined }
    this.#all.add(thread)
    return thread
  }

  #release(thread: Thread): void {
    this.#free.push(thread)
    thread.idle = setTimeout(() => void this.#end(thread), idleMs).unref()
    this.#waiting.shift()?.()
  }

  async #end(thread: Thread): Promise<void> {
    clearTimeout(thread.idle)
    this.#all.delete(thread)
    const at = this.#free.indexOf(thread)
    if (at !== -1) this.#free.splice(at, 1)
    this.#waiting.shift()?.()
    await thread.worker.terminate()
  }
}
