/** Every built-in tool of a workbench, made once; which of them a turn is offered depends on settings. */
import type { Settings } from '../../preload/contract/settings.ts'
import type { Differ } from '../files/diff.ts'
import type { CommitGate } from '../files/gate.ts'
import type { Paths } from '../files/paths.ts'
import type { FileStates } from '../files/read-state.ts'
import type { SearchProgram } from '../files/search-program.ts'
import type { FileWorkers } from '../files/worker-pool.ts'
import type { Blobs } from '../storage/blobs.ts'
import { askPerson } from './ask-person.ts'
import { createEditFileTool } from './edit-file.ts'
import { createFindFilesTool } from './find-files.ts'
import { createGrepTool } from './grep.ts'
import { createReadFileTool } from './read-file.ts'
import { createRegistry, type Registry } from './registry.ts'
import { createShellTool, type ShellToolDeps } from './shell.ts'
import type { Tool } from './tool.ts'
import { updatePlan } from './update-plan.ts'
import { createWriteFileTool } from './write-file.ts'

export type ToolsDeps = {
  paths: Paths
  states: FileStates
  gate: CommitGate
  blobs: Blobs
  differ: Differ
  workers: FileWorkers
  program: SearchProgram
  shell: ShellToolDeps
}

export type Tools = {
  /** The tools of one turn. */
  registry(settings: Settings): Registry
  /** Ends the command of one call; false where it is not running. */
  stopCommand(callId: string): Promise<boolean>
}

export function createTools(deps: ToolsDeps): Tools {
  const shell = createShellTool(deps.shell)
  const always: Tool[] = [
    createReadFileTool({
      ...deps,
      reference: async (_sessionId, reference) => (reference.startsWith('output:') ? deps.blobs.get(reference.slice('output:'.length)).catch(() => null) : null),
      inContext: () => true,
    }),
    createFindFilesTool(deps),
    createGrepTool(deps),
    createEditFileTool(deps),
    createWriteFileTool(deps),
    updatePlan,
    askPerson,
  ]
  return {
    registry: (settings) => createRegistry(settings['exec.enabled'] ? [...always, shell] : always),
    stopCommand: (callId) => shell.stopCommand(callId),
  }
}
