/** Files of each workspace that were used lately, by the person or by the agent: `@` and quick open offer them first (S-111). */

type Values = { value(name: string): Promise<unknown>; setValue(name: string, value: unknown): Promise<void> }
type Used = Record<string, string[]>

const valueName = 'files.recent'
const pathsMax = 50
const workspacesMax = 50
const savedQuietMs = 5_000

export class RecentFiles {
  readonly #values: Values
  /** Newest first; the workspace used last stands last. */
  #used: Promise<Map<string, string[]>> | undefined
  #saving: NodeJS.Timeout | undefined

  constructor(values: Values) {
    this.#values = values
  }

  /** Shown paths of a workspace, folders ending in `/`, the newest first. */
  async of(workspace: string): Promise<readonly string[]> {
    return (await this.#load()).get(workspace) ?? []
  }

  /** This path was used just now. Never throws; kept over restarts after a moment. */
  note(workspace: string, path: string): void {
    void this.#load().then((used) => {
      const paths = used.get(workspace) ?? []
      if (paths[0] === path) return
      used.delete(workspace)
      used.set(workspace, [path, ...paths.filter((one) => one !== path)].slice(0, pathsMax))
      if (used.size > workspacesMax) used.delete(used.keys().next().value!)
      this.#saving ??= setTimeout(() => void this.save(), savedQuietMs).unref()
    })
  }

  /** Writes what is not written yet. A store that cannot be written to costs the order after a restart, no more. */
  async save(): Promise<void> {
    if (!this.#saving) return
    clearTimeout(this.#saving)
    this.#saving = undefined
    await this.#values.setValue(valueName, Object.fromEntries(await this.#load())).catch(() => {})
  }

  #load(): Promise<Map<string, string[]>> {
    return (this.#used ??= this.#values.value(valueName).then(
      (stored) => new Map(Object.entries(isUsed(stored) ? stored : {})),
      () => new Map(),
    ))
  }
}

function isUsed(stored: unknown): stored is Used {
  const isPaths = (paths: unknown) => Array.isArray(paths) && paths.every((path) => typeof path === 'string')
  return typeof stored === 'object' && stored !== null && Object.values(stored).every(isPaths)
}
