/** The file tools over a workspace on disk, called as the pipeline calls them; for tests. */
import { Differ } from '../files/diff.ts'
import { Images } from '../files/images.ts'
import { SearchProgram } from '../files/search-program.ts'
import type { TestWorkspace } from '../files/test-workspace.ts'
import { readArguments } from './arguments.ts'
import { createApplyPatchTool } from './apply-patch.ts'
import { createEditFileTool } from './edit-file.ts'
import { createFindFilesTool } from './find-files.ts'
import { createGrepTool } from './grep.ts'
import { createListDirTool } from './list-dir.ts'
import { createReadFileTool } from './read-file.ts'
import type { CallPlan, Tool, ToolContext, ToolResult } from './tool.ts'
import { createWriteFileTool } from './write-file.ts'

const testEnv: Record<string, string> = { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent' }

export class FileTools {
  readonly workspace: TestWorkspace
  readonly program: SearchProgram
  readonly references = new Map<string, Uint8Array>()
  /** Calls whose results the model no longer sees. */
  readonly compacted = new Set<string>()
  readonly #tools: Map<string, Tool>
  #calls = 0

  constructor(workspace: TestWorkspace, program?: string) {
    this.workspace = workspace
    const { paths, states, gate, blobs, workers } = workspace
    this.program = new SearchProgram({ paths, env: testEnv, ...(program === undefined ? {} : { program }) })
    const differ = new Differ(workers, testEnv)
    const reference = async (_asking: unknown, name: string) => this.references.get(name) ?? null
    const tools: Tool[] = [
      createReadFileTool({
        paths,
        states,
        images: new Images(blobs),
        workers,
        reference,
        inContext: async (_, callId) => !this.compacted.has(callId),
      }),
      createWriteFileTool({ paths, states, gate, blobs, differ }),
      createApplyPatchTool({ paths, states, gate, blobs, differ, workers }),
      createEditFileTool({ paths, states, gate, blobs, differ, workers }),
      createFindFilesTool({ program: this.program }),
      createGrepTool({ program: this.program, workers, reference }),
      createListDirTool({ program: this.program }),
    ]
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]))
  }

  tool(name: string): Tool {
    return this.#tools.get(name)!
  }

  context(signal: AbortSignal = new AbortController().signal): ToolContext {
    const { sessionId, workspace } = this.workspace.place
    return {
      sessionId,
      turnId: 't1',
      callId: `c${++this.#calls}`,
      workspace,
      extraFolders: [],
      signal,
      output: () => {},
      progress: () => {},
      ask: async () => ({ noAnswer: 'unattended' }),
      setPlan: () => {},
    }
  }

  async plan(name: string, args: Record<string, unknown>): Promise<CallPlan> {
    return this.tool(name).plan(readArguments(this.tool(name), args), this.context())
  }

  /** Plan and run, as the pipeline does once the policy allows. */
  async call(name: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<ToolResult> {
    const context = this.context(signal)
    const input = readArguments(this.tool(name), args)
    await this.tool(name).plan(input, context)
    return this.tool(name).run(input, context)
  }

  async text(name: string, args: Record<string, unknown>): Promise<string> {
    return (await this.call(name, args)).text
  }
}
