/** Every built-in tool of a workbench, made once; which of them a turn is offered depends on settings. */
import type { Settings } from '../../preload/contract/settings.ts'
import type { Differ } from '../files/diff.ts'
import type { CommitGate } from '../files/gate.ts'
import type { Images } from '../files/images.ts'
import type { Paths } from '../files/paths.ts'
import type { FileStates } from '../files/read-state.ts'
import type { SearchProgram } from '../files/search-program.ts'
import type { WorkspaceChanges } from '../files/workspace-changes.ts'
import type { FileWorkers } from '../files/worker-pool.ts'
import { reduceBytes } from '../exec/exec-sessions.ts'
import type { NetworkPolicy } from '../platform/network-policy.ts'
import type { Blobs } from '../storage/blobs.ts'
import { createApplyPatchTool } from './apply-patch.ts'
import { askPerson } from './ask-person.ts'
import { withCommandChanges, type LateChanges } from './command-changes.ts'
import { createEditFileTool } from './edit-file.ts'
import { createFindFilesTool } from './find-files.ts'
import { createGrepTool } from './grep.ts'
import { createListDirTool } from './list-dir.ts'
import { nothingToReport } from './nothing-to-report.ts'
import { createExecSessionTool } from './exec-session.ts'
import { createListExecSessionsTool } from './list-exec-sessions.ts'
import { execOwner } from './exec-owner.ts'
import { createReadFileTool } from './read-file.ts'
import type { ReadReference } from './references.ts'
import { createRegistry, type Registry } from './registry.ts'
import { createShellTool, type ShellToolDeps } from './shell.ts'
import { type AskSubagent, createSubagentTool } from './subagent.ts'
import type { Tool } from './tool.ts'
import { updatePlan } from './update-plan.ts'
import { createWebFetchTool } from './web-fetch.ts'
import { createWriteFileTool } from './write-file.ts'

export type ToolsDeps = {
  paths: Paths
  states: FileStates
  gate: CommitGate
  blobs: Blobs
  differ: Differ
  workers: FileWorkers
  program: SearchProgram
  images: Images
  shell: ShellToolDeps
  /** Who may be contacted (security.md 2). */
  network: NetworkPolicy
  /** Finds what commands change in the workspace (F-902). */
  changes: { watched: WorkspaceChanges; late: LateChanges }
  /** Gives a task to a subagent (C-96). */
  subagent: AskSubagent
  /** Whether a call of that session left this output, or a message brought it (F-310). */
  ownsOutput(sessionId: string, hash: string): Promise<boolean>
  /** Whether the model still sees the result of that call (F-306). */
  inContext(sessionId: string, callId: string): Promise<boolean>
}

export type Tools = {
  /** Of every tool, whatever the settings offer. */
  names: readonly string[]
  /** The tools of one turn; `background` where nobody waits for it, `depth` above 0 where it is a subagent's. */
  registry(settings: Settings, background?: boolean, depth?: number): Registry
  /** Ends the command of one call; false where it is not running. */
  stopCommand(callId: string): boolean
}

export function createTools(deps: ToolsDeps): Tools {
  const shell = createShellTool(deps.shell)
  const reference: ReadReference = (asking, name) => readOutput(deps, asking, name)
  const always: Tool[] = [
    createReadFileTool({ ...deps, reference }),
    createListDirTool(deps),
    createFindFilesTool(deps),
    createGrepTool({ ...deps, reference }),
    createEditFileTool(deps),
    createApplyPatchTool(deps),
    createWriteFileTool(deps),
    createWebFetchTool(deps),
    updatePlan,
    askPerson,
  ]
  const { exec } = deps.shell
  const subagent = createSubagentTool(deps.subagent)
  const { watched, late } = deps.changes
  const running = [
    withCommandChanges(shell, watched, late),
    withCommandChanges(createExecSessionTool(exec), watched, late, true),
    createListExecSessionsTool(exec),
  ]
  return {
    names: [...always, ...running, subagent].map((tool) => tool.name),
    registry: (settings, background = false, depth = 0) =>
      createRegistry([
        ...always,
        ...(settings['exec.enabled'] ? running : []),
        ...(depth < settings['subagents.depth'] ? [subagent] : []),
        ...(background && depth === 0 ? [nothingToReport] : []),
      ]),
    stopCommand: (callId) => shell.stopCommand(callId),
  }
}

/** The whole of an output that was cut for the model, reduced as it was; only what the same session left. */
async function readOutput(
  deps: ToolsDeps,
  asking: Parameters<ReadReference>[0],
  name: string,
): Promise<Uint8Array | null> {
  const { sessionId } = asking
  const exec = /^exec:(x\d{1,9})$/.exec(name)?.[1]
  const { owner, subagent } = execOwner(asking)
  if (exec !== undefined) return deps.shell.exec.output(owner, exec, subagent)
  const [, kind, hash] = /^(output|attachment):([0-9a-f]{64})$/.exec(name) ?? []
  if (hash === undefined || !(await deps.ownsOutput(sessionId, hash))) return null
  const bytes = await deps.blobs.get(hash).catch(() => null)
  return kind === 'output' && bytes ? reduceBytes(bytes) : bytes
}
