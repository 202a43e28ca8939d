/** The worker thread of the files room: what may take long over a large text runs here, not on the main loop. */
import { parentPort } from 'node:worker_threads'
import { errorBody } from '../../preload/contract/errors.ts'
import { runJob, type Job } from './file-jobs.ts'

parentPort!.on('message', (job: Job) => {
  runJob(job).then(
    (value) => parentPort!.postMessage({ value }),
    (error: unknown) => parentPort!.postMessage({ error: errorBody(error) }),
  )
})
