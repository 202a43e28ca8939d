/** The redaction of everything known to be secret now (Z-100); what Lathe holds changes while it runs. */
import { secretVariables, type KnownValue } from './known-values.ts'
import { createRedaction, type Redaction } from './redaction.ts'

export type CurrentRedactionPorts = {
  env: NodeJS.ProcessEnv
  /** Variables that are named as holding a key, and keys that stand in the configuration. */
  configured(): { variables: readonly string[]; keys: readonly KnownValue[] }
  stored: { list(): Promise<string[]>; get(name: string): Promise<string | null> }
}

export class CurrentRedaction {
  readonly #ports: CurrentRedactionPorts
  #redaction: Redaction
  #forLogs: Redaction
  #refreshing: Promise<void> = Promise.resolve()

  /** Until the first `refresh` it knows of the environment's variables alone. */
  constructor(ports: CurrentRedactionPorts) {
    this.#ports = ports
    const known = secretVariables(ports.env)
    this.#redaction = createRedaction({ known, loose: false })
    this.#forLogs = createRedaction({ known, loose: true })
  }

  get(): Redaction {
    return this.#redaction
  }

  /** With the patterns for logs besides (Z-101). */
  forLogs(): Redaction {
    return this.#forLogs
  }

  /** To be called when a key was stored or the configuration has changed. One after another, so that the newest stays. */
  refresh(): Promise<void> {
    return (this.#refreshing = this.#refreshing.then(async () => {
      const known = [...secretVariables(this.#ports.env), ...this.#configured(), ...(await this.#stored())]
      this.#redaction = createRedaction({ known, loose: false })
      this.#forLogs = createRedaction({ known, loose: true })
    }))
  }

  #configured(): KnownValue[] {
    const { variables, keys } = this.#ports.configured()
    const named = variables.flatMap((name) => {
      const value = this.#ports.env[name]?.trim()
      return value ? [{ name, value }] : []
    })
    return [...named, ...keys]
  }

  /** A store that cannot be read holds nothing back from whoever asks it for a key, who is told. */
  async #stored(): Promise<KnownValue[]> {
    const { list, get } = this.#ports.stored
    const names = await list().catch(() => [])
    const values = await Promise.all(names.map((name) => get(name).catch(() => null)))
    return names.flatMap((name, at) => {
      const value = values[at]
      return value ? [{ name, value }] : []
    })
  }
}
