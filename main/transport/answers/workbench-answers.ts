/** Answers of the routes about the workbench: what its data folder holds, settings, workspaces, agents. */
import type { WorkbenchEvent } from '../../../preload/contract/events.ts'
import type { AgentFiles } from '../../agent/agent-files.ts'
import type { ModelService } from '../../models/models.ts'
import type { Broadcast } from '../../platform/broadcast.ts'
import type { DataFolder } from '../../sessions/data-folder.ts'
import type { DefaultModel } from '../../sessions/default-model.ts'
import type { Sessions } from '../../sessions/sessions.ts'
import type { SettingsStore } from '../../sessions/settings-store.ts'
import type { Workspaces } from '../../sessions/workspaces.ts'
import { ok, type Handlers } from '../handlers.ts'

export type WorkbenchServices = {
  sessions: Sessions
  dataFolder: DataFolder
  settings: SettingsStore
  defaultModel: DefaultModel
  models: ModelService
  workspaces: Workspaces
  agents: AgentFiles
  events: Broadcast<WorkbenchEvent>
}

export function workbenchAnswers(
  services: WorkbenchServices,
): Pick<Handlers, 'storage' | 'settings' | 'workspaces' | 'agents'> {
  const { sessions, dataFolder, settings, defaultModel, models, workspaces, agents, events } = services
  return {
    storage: {
      usage: () => dataFolder.usage(),
      reclaim: async ({ step }) => ({ freed: await dataFolder.reclaim(step) }),
    },
    settings: {
      get: async () => defaultModel.shownSettings(),
      set: async ({ settings: patch }) => {
        if (patch.model !== undefined && patch.model !== null) models.choose(patch.model)
        await settings.set(patch)
        const shown = defaultModel.shownSettings()
        events.send({ type: 'settings.changed', settings: shown })
        return shown
      },
      preferences: async () => settings.preferences(),
      setPreferences: async ({ preferences }) => {
        const changed = await settings.setPreferences(preferences)
        events.send({ type: 'preferences.changed', preferences: changed })
        return changed
      },
    },
    workspaces: {
      list: () => workspaces.list(),
      open: ({ path, trust }) => workspaces.open(path, trust ? { trusted: true } : {}),
      trust: ({ path, trusted }) => workspaces.setTrust(path, trusted),
      openDemo: () => workspaces.openDemo(),
      forget: async ({ path }) => (await workspaces.forget(path), ok),
      locate: async ({ path, to }) => {
        const { workspace, sessionIds } = await workspaces.locate(path, to)
        for (const id of sessionIds) await sessions.command(id, { type: 'workspace.moved', to: workspace.path })
        return workspace
      },
      browse: ({ path }) => workspaces.browse(path),
    },
    agents: { list: ({ workspace }) => agents.list(workspace) },
  }
}
