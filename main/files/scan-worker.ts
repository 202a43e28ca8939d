/** The thread that looks at workspaces: one scan for each, asked for in order. */
import { parentPort } from 'node:worker_threads'
import { WorkspaceScan, type ScanResult } from './workspace-scan.ts'

export type ScanRequest = { id: number; root: string; folder: string } & (
  | {
      ask: 'update'
      /** NUL-separated: one long text is handed over faster than many short ones. */ paths: string
      ms: number
    }
  | { ask: 'contents'; hashes: string[] }
)
export type ScanReply = { id: number } & (
  | { result: ScanResult }
  | { contents: (Uint8Array | null)[] }
  | { failed: string }
)

const port = parentPort!
const scans = new Map<string, WorkspaceScan>()

port.on('message', (request: ScanRequest) => {
  let reply: ScanReply
  try {
    const { id, root, folder } = request
    const scan = scans.get(folder) ?? new WorkspaceScan(root, folder)
    scans.set(folder, scan)
    reply =
      request.ask === 'update'
        ? { id, result: scan.update(request.paths === '' ? [] : request.paths.split('\0'), request.ms) }
        : { id, contents: request.hashes.map((one) => scan.content(one)) }
  } catch (error) {
    reply = { id: request.id, failed: error instanceof Error ? error.message : String(error) }
  }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  port.postMessage(reply)
})
