/** The worker thread of the files room: what may take long over a large text runs here, not on the main loop. */
import { parentPort } from 'node:worker_threads'
import { errorBody } from '../../preload/contract/errors.ts'
import { runJob, type Job } from './file-jobs.ts'

const port = parentPort!

port.on('message', (job: Job) => {
  void runJob(job)
    .then(
      (value) => ({ value }),
      (error: unknown) => ({ error: errorBody(error) }),
    )
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    .then((reply) => port.postMessage(reply))
})
