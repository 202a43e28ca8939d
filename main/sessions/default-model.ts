/** The model where nobody names one: that of Settings, else that of the configuration file, else the demo's in its workspace. */
import { LatheError } from '../../preload/contract/errors.ts'
import type { Settings } from '../../preload/contract/settings.ts'
import type { ProvidersConfig } from '../models/config.ts'
import type { ModelService } from '../models/models.ts'
import type { Config } from '../platform/config.ts'
import type { Storage } from '../storage/storage.ts'

export type DefaultModelPorts = {
  settings(): Settings
  providers(): Pick<ProvidersConfig, 'model'>
  models: Pick<ModelService, 'choose'>
  config: Pick<Config, 'problem'>
  storage: Pick<Storage, 'workspaces'>
}

const demoModel = 'demo/tour'

export class DefaultModel {
  private readonly ports: DefaultModelPorts

  constructor(ports: DefaultModelPorts) {
    this.ports = ports
  }

  get isMissing(): boolean {
    return this.shownSettings().model === null
  }

  /** The settings as windows show them: with the default model that is in force. */
  shownSettings(): Settings {
    const settings = this.ports.settings()
    return { ...settings, model: settings.model ?? this.ports.providers().model }
  }

  /** The canonical name of a model, null being the default. Throws `model.none`, `model.unknown`, `config.invalid`. */
  choose(name: string | null): string {
    try {
      return this.ports.models.choose(name ?? this.ports.settings().model).model
    } catch (error) {
      const { problem } = this.ports.config
      if (!problem) throw error
      // What is missing may stand in the file that could not be read.
      throw new LatheError('config.invalid', `${problem.file}, line ${problem.line}: ${problem.message}`, {
        hint: 'Mend the file, then send the message again.',
        cause: error,
      })
    }
  }

  /** The scripted model, for a session in a demo workspace while no model is configured. */
  async demoIn(workspace: string): Promise<string | undefined> {
    if (!this.isMissing) return undefined
    const demo = (await this.ports.storage.workspaces()).some((one) => one.path === workspace && one.demo)
    return demo ? demoModel : undefined
  }
}
