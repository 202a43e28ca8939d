/** The services of a workbench that are about workspace files, built in order; no logic of its own. */
import type { WorkbenchEvent, Workspace } from '../preload/contract/events.ts'
import type { ExtraFolder } from '../preload/contract/session.ts'
import { programEnvironment } from './exec/environment.ts'
import { checkpointFolder } from './files/checkpoint-stores.ts'
import { Differ } from './files/diff.ts'
import { Drafts } from './files/drafts.ts'
import { createFileIndex } from './files/file-index.ts'
import { CommitGate } from './files/gate.ts'
import { Images } from './files/images.ts'
import { Paths } from './files/paths.ts'
import { FileStates } from './files/read-state.ts'
import { RecentFiles } from './files/recent-files.ts'
import { SearchProgram } from './files/search-program.ts'
import { Watching } from './files/watching.ts'
import { FileWorkers } from './files/worker-pool.ts'
import { WorkspaceChanges } from './files/workspace-changes.ts'
import type { Log } from './platform/log.ts'
import { StoredFileStates, StoredIntents } from './sessions/file-records.ts'
import type { Storage } from './storage/storage.ts'
import type { FileServices } from './transport/answers/file-answers.ts'

export type WorkbenchFilesPorts = {
  home: string
  storage: Storage
  log: Log
  send(event: WorkbenchEvent): void
  workspaces(): Promise<Workspace[]>
  extraFolders(sessionId: string): Promise<readonly ExtraFolder[]>
}

export function openWorkbenchFiles({ home, storage, log, send, workspaces, extraFolders }: WorkbenchFilesPorts) {
  const env = programEnvironment(process.env)
  const { blobs } = storage
  const stored = new StoredFileStates(storage)
  const intents = new StoredIntents(storage, stored)
  const states = new FileStates(stored)
  const paths = new Paths({ dataFolder: home })
  const recent = new RecentFiles(storage)
  const workers = new FileWorkers()
  const gate = new CommitGate({
    paths,
    blobs,
    states,
    intents,
    wrote: (real, after) => watched.noteWritten(real, after),
    changed: (workspace, path) => recent.note(workspace, path),
  })
  const program = new SearchProgram({ paths, env })
  const watched = new WorkspaceChanges({ paths, program, blobs, folder: checkpointFolder(home) })
  const watching: Watching = new Watching({
    changed: (workspace, changed) => {
      index.changed(workspace, changed)
      send({ type: 'files.changed', workspace, paths: changed })
    },
    presence: (path) =>
      void workspaces().then((list) => {
        const workspace = list.find((one) => one.path === path)
        if (workspace) send({ type: 'workspace.changed', workspace })
      }),
    refused: (workspace, reason) => log.warn('A workspace cannot be watched', { workspace, reason }),
  })
  const index = createFileIndex(program, watching)
  return {
    intents,
    states,
    paths,
    recent,
    workers,
    gate,
    differ: new Differ(workers, env),
    program,
    watched,
    watching,
    images: new Images(blobs),
    services: {
      watch: (workspace) => watching.watch(workspace),
      index,
      recent,
      paths,
      program,
      gate,
      workers,
      drafts: new Drafts(storage),
      recorded: (ids) => intents.recorded(ids),
      extraFolders,
      knowsWorkspace: async (path) => (await storage.workspaces()).some((one) => one.path === path),
    } satisfies FileServices,
    dispose: async () => {
      await stored.flush()
      await recent.save()
      await watching.dispose()
      await watched.dispose()
      await workers.dispose()
    },
  }
}
