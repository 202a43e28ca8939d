/** The services a workbench's answers speak to; built and owned by workbench.ts. */
import type { WorkbenchEvent } from '../../../preload/contract/events.ts'
import type { ContextReport } from '../../../preload/contract/session-routes.ts'
import type { AgentFiles } from '../../agent/agent-files.ts'
import type { Environment } from '../../exec/environment.ts'
import type { ExecSessions } from '../../exec/exec-sessions.ts'
import type { Terminals } from '../../exec/terminals.ts'
import type { Differ } from '../../files/diff.ts'
import type { CommitGate } from '../../files/gate.ts'
import type { Paths } from '../../files/paths.ts'
import type { ModelService } from '../../models/models.ts'
import type { Config } from '../../platform/config.ts'
import type { Broadcast } from '../../platform/broadcast.ts'
import type { Compactions } from '../../sessions/compactions.ts'
import type { DataFolder } from '../../sessions/data-folder.ts'
import type { DefaultModel } from '../../sessions/default-model.ts'
import type { ProviderPauses } from '../../sessions/provider-pauses.ts'
import type { Rewinds } from '../../sessions/rewinds.ts'
import type { RulesStore } from '../../sessions/rules-store.ts'
import type { Sessions } from '../../sessions/sessions.ts'
import type { Exports } from '../../sessions/exports.ts'
import type { Forks } from '../../sessions/forks.ts'
import type { Imports } from '../../sessions/imports.ts'
import type { OwnCommands } from '../../sessions/own-commands.ts'
import type { SideCommands } from '../../sessions/side-commands.ts'
import type { SettingsStore } from '../../sessions/settings-store.ts'
import type { Workspaces } from '../../sessions/workspaces.ts'
import type { Secrets } from '../../storage/secrets.ts'
import type { Storage } from '../../storage/storage.ts'
import type { HostState } from '../host-state.ts'

export type Services = {
  storage: Storage
  sessions: Sessions
  rewinds: Rewinds
  compactions: Compactions
  forks: Forks
  imports: Imports
  exports: Exports
  sideCommands: SideCommands
  dataFolder: DataFolder
  settings: SettingsStore
  defaultModel: DefaultModel
  workspaces: Workspaces
  models: ModelService
  pauses: ProviderPauses
  agents: AgentFiles
  /** The canonical model of this name, or the default. Throws where there is none. */
  chooseModel(name: string | null): string
  config: Config
  secrets: Secrets
  environment: Environment
  terminals: Terminals
  ownCommands: OwnCommands
  exec: ExecSessions
  /** Ends the command of a tool call; false where none of it runs. */
  stopToolCommand(itemId: string): boolean
  context: { report(sessionId: string): Promise<ContextReport> }
  paths: Paths
  differ: Differ
  gate: CommitGate
  events: Broadcast<WorkbenchEvent>
  rules: RulesStore
  /** What only a desktop shell can do; absent on the web host (Z-183). */
  desktop: Desktop | null
  host: HostState
  now(): number
}

export type Desktop = {
  reveal(path: string): Promise<void>
  openExternal(url: string): Promise<void>
  chooseFolder(): Promise<string | null>
}
