/** Settings and list preferences: validated whole, stored, and told to every window (S-123, S-33). */
import { LatheError } from '../../preload/contract/errors.ts'
import { defaultSettings, Settings } from '../../preload/contract/settings.ts'
import type { Storage } from '../storage/storage.ts'

const preferenceBytesMax = 256 * 1024

export class SettingsStore {
  private current: Settings = defaultSettings
  private view: Record<string, unknown> = {}
  private readonly storage: Pick<Storage, 'value' | 'setValue'>
  private readonly changed: () => void
  /** Changes one after another, each on what the one before it stored. */
  private last: Promise<unknown> = Promise.resolve()

  /** `changed` is called once other settings count. */
  constructor(storage: Pick<Storage, 'value' | 'setValue'>, changed: () => void) {
    this.storage = storage
    this.changed = changed
  }

  /** A stored value that no longer fits takes its default; the rest stands. */
  async load(): Promise<void> {
    const stored = await this.storage.value('settings')
    if (stored !== null && typeof stored === 'object') {
      for (const [name, value] of Object.entries(stored)) {
        const parsed = Settings.partial().safeParse({ [name]: value })
        if (parsed.success) this.current = { ...this.current, ...(parsed.data as Partial<Settings>) }
      }
    }
    const view = await this.storage.value('preferences')
    if (view !== null && typeof view === 'object') this.view = view as Record<string, unknown>
  }

  get(): Settings {
    return this.current
  }

  preferences(): Record<string, unknown> {
    return this.view
  }

  /** Throws `request.invalid` and keeps the old values where one does not fit. */
  set(patch: { [K in keyof Settings]?: Settings[K] | undefined }): Promise<Settings> {
    return this.inTurn(async () => {
      const parsed = Settings.safeParse({ ...this.current, ...patch })
      if (!parsed.success) {
        const issue = parsed.error.issues[0]
        throw new LatheError(
          'request.invalid',
          `${issue?.path.join('.') ?? 'settings'}: ${issue?.message ?? 'not a legal value'}`,
        )
      }
      await this.storage.setValue('settings', parsed.data)
      this.current = parsed.data
      this.changed()
      return this.current
    })
  }

  setPreferences(patch: Record<string, unknown>): Promise<Record<string, unknown>> {
    return this.inTurn(async () => {
      const given = Object.entries({ ...this.view, ...patch })
      const next = Object.fromEntries(given.filter(([, value]) => value !== null && value !== undefined))
      if (JSON.stringify(next).length > preferenceBytesMax)
        throw new LatheError('request.invalid', 'These preferences are too large.')
      await this.storage.setValue('preferences', next)
      this.view = next
      return next
    })
  }

  private inTurn<R>(work: () => Promise<R>): Promise<R> {
    const result = this.last.then(work)
    this.last = result.catch(() => {})
    return result
  }
}
