/** The thread that looks at workspaces: one scan for each, asked for in order. */
import { parentPort } from 'node:worker_threads'
import { belowRoot } from './below-root.ts'
import { WorkspaceScan, type ScanOptions, type ScanResult } from './workspace-scan.ts'

export type ScanRequest = { id: number } & (
  | ({
      ask: 'update'
      root: string
      folder: string
      /** As the search program prints them, each ended by a NUL. */
      paths: Uint8Array
    } & ScanOptions)
  | { ask: 'contents'; folder: string; hashes: string[] }
  /** Saves all, closes all. */
  | { ask: 'close' }
)
export type ScanReply = { id: number } & (
  | { result: ScanResult }
  | { contents: (Uint8Array | null)[] }
  | { closed: true }
  | { failed: string }
)

/** States are only for the next run: nobody waits for them to be written. */
const saveQuietMs = 2_000

const port = parentPort!
const scans = new Map<string, WorkspaceScan>()
let saving: NodeJS.Timeout | undefined

port.on('message', (request: ScanRequest) => {
  let reply: ScanReply
  try {
    reply = answer(request)
  } catch (error) {
    reply = { id: request.id, failed: error instanceof Error ? error.message : String(error) }
  }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  port.postMessage(reply)
})

function answer(request: ScanRequest): ScanReply {
  const { id } = request
  switch (request.ask) {
    case 'update': {
      const { root, folder, paths, ms, mayForget } = request
      const scan = scans.get(folder) ?? new WorkspaceScan(root, folder)
      scans.set(folder, scan)
      const result = scan.update(listOf(paths), { ms, mayForget })
      clearTimeout(saving)
      saving = setTimeout(saveAll, saveQuietMs)
      return { id, result }
    }
    case 'contents': {
      const scan = scans.get(request.folder)
      return { id, contents: request.hashes.map((one) => scan?.content(one) ?? null) }
    }
    case 'close': {
      clearTimeout(saving)
      for (const scan of scans.values()) scan.close()
      scans.clear()
      return { id, closed: true }
    }
  }
}

function saveAll(): void {
  for (const scan of scans.values()) {
    try {
      scan.save()
    } catch {
      // The disk is full, or the store was emptied: the next run looks at everything again.
    }
  }
}

function listOf(paths: Uint8Array): string[] {
  const list = Buffer.from(paths.buffer, paths.byteOffset, paths.byteLength).toString('utf8').split('\0')
  list.pop()
  return list.map(belowRoot)
}
