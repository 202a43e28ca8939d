import { Worker } from 'node:worker_threads'
import { LatheError } from '../../preload/contract/errors.ts'
import type { ErrorBody } from '../../preload/contract/errors.ts'
import { commitTimeoutMs } from '../../preload/contract/limits.ts'
import type { Call, FromWorker, OperationName, Operations, ToWorker, WorkerStart } from './calls.ts'
import type { StorageCondition } from './storage.ts'

/** Calls that may wait for the worker at once; more means that storage stands still. */
const waitingMax = 10_000

export type StorageThread = {
  condition: StorageCondition
  /** Throws the worker's typed error, `storage.timeout` after 30 s, `storage.busy` where too much waits. */
  call<Name extends OperationName>(
    operation: Name,
    ...args: Parameters<Operations[Name]>
  ): Promise<ReturnType<Operations[Name]>>
  close(): Promise<void>
}

type Waiting = { resolve(value: unknown): void; reject(error: LatheError): void; timer: NodeJS.Timeout }

/** Starts the worker and waits until its database is open. */
export async function startWorker(start: WorkerStart): Promise<StorageThread> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: start })
  const waiting = new Map<number, Waiting>()
  let outbox: Call[] = []
  let lastId = 0
  let gone: LatheError | null = null
  let closing: Promise<void> | null = null

  const condition = await new Promise<StorageCondition>((resolve, reject) => {
    worker.on('message', (message: FromWorker) => {
      if ('opened' in message) resolve(message.opened)
      else if ('failed' in message) reject(errorOf(message.failed))
      else for (const { id, value, error } of message.replies) settle(id, value, error)
    })
    worker.on('error', (error) => end(stopped(error)))
    worker.on('exit', () => end(stopped()))

    function end(error: LatheError): void {
      gone ??= error
      reject(error)
      for (const id of waiting.keys()) settle(id, undefined, error.toBody())
    }
  })
  // The worker alone keeps no process alive; a call that waits does.
  worker.unref()

  function settle(id: number, value: unknown, error: ErrorBody | undefined): void {
    const call = waiting.get(id)
    if (!call) return
    waiting.delete(id)
    clearTimeout(call.timer)
    if (error) call.reject(errorOf(error))
    else call.resolve(value)
  }

  function post(message: ToWorker): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker.postMessage(message)
  }

  function flush(): void {
    const calls = outbox
    outbox = []
    if (calls.length > 0) post({ calls })
  }

  return {
    condition,

    call(operation, ...args) {
      return new Promise((resolve, reject) => {
        if (gone) return reject(gone)
        if (closing) return reject(new LatheError('app.closing', 'Lathe is closing.'))
        if (waiting.size >= waitingMax)
          return reject(
            new LatheError('storage.busy', 'Too much is waiting to be saved.', { hint: 'Try again in a moment.' }),
          )
        const id = ++lastId
        const timer = setTimeout(() => settle(id, undefined, timedOut), commitTimeoutMs)
        waiting.set(id, { resolve, reject, timer })
        outbox.push({ id, operation, args })
        if (outbox.length === 1) queueMicrotask(flush)
      })
    },

    close() {
      closing ??= new Promise((resolve) => {
        if (gone) return resolve()
        worker.ref()
        worker.once('exit', () => resolve())
        flush()
        post({ close: true })
      })
      return closing
    },
  }
}

const timedOut: ErrorBody = {
  code: 'storage.timeout',
  message: 'Saving took longer than 30 seconds; whether it succeeded is not known yet.',
  hint: 'Check the disk that holds the data folder.',
}

function stopped(cause?: unknown): LatheError {
  return new LatheError('storage.failed', 'The storage thread stopped.', {
    reason: 'stopped',
    hint: 'Restart Lathe.',
    cause,
  })
}

function errorOf({ code, message, hint, reason }: ErrorBody): LatheError {
  return new LatheError(code, message, { hint, reason })
}
