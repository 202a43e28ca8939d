/**
 * Newer versions: looked for once a day where the person has said yes, downloaded and checked, and installed only when
 * they say so; what runs is named and stopped by them first (Z-227, Z-231, S-143). Nothing is forced, and nothing is asked
 * of the network before the yes.
 */
import { LatheError } from '../../preload/contract/errors.ts'
import { noUpdate, type Update } from '../../preload/contract/update.ts'

const firstLookMs = 10_000
const betweenLooksMs = 24 * 60 * 60_000
const lookMaxMs = 60_000
const downloadMaxMs = 60 * 60_000

/** Where newer versions come from. */
export type UpdateFeed = {
  /** The version newer than ours; null where there is none. */
  look(): Promise<{ version: string; notes: string | null } | null>
  /** Downloads what `look` found and checks it against what the feed says of it. */
  download(progress: (percent: number) => void, signal: AbortSignal): Promise<void>
  /** Installs what was downloaded and ends the application, starting the new version where `restart`. Throws where it cannot. */
  install(restart: boolean): void
}

export type Updates = {
  state(): Update
  /** Takes over the setting `updates.check`: true looks now and then, else nothing is looked for. */
  follow(wanted: boolean | null): void
  /** Looks now, whatever the setting; resolves once it is known. Joins a look that is under way. */
  look(): Promise<Update>
  /**
   * Has the update installed: `now` by leaving, once the person has agreed to stop what runs, or when Lathe quits. Throws
   * `request.invalid` where none is ready.
   */
  install(when: 'now' | 'quit'): Promise<void>
  /** The last act of leaving: installs what is planned. True where the installer now ends the application itself. */
  installPlanned(): Promise<boolean>
}

export function createUpdates(options: {
  /** Null where this build has no feed. */
  feed: (() => Promise<UpdateFeed>) | null
  /** Names what runs and asks whether to stop it; true where nothing runs. */
  mayStop(): Promise<boolean>
  changed(update: Update): void
  leave(): void
  now?: () => number
}): Updates {
  const { feed, mayStop, changed, leave, now = Date.now } = options
  let update: Update = feed ? { ...noUpdate, state: 'unasked' } : noUpdate
  let plan: { restart: boolean } | null = null
  let looking: Promise<Update> | null = null
  let timer: NodeJS.Timeout | undefined
  let followed: boolean | null = null

  function become(patch: Partial<Update>): void {
    update = { ...update, ...patch }
    changed(update)
  }

  async function lookAndDownload(): Promise<Update> {
    if (!feed) return update
    become({ state: 'checking', problem: null })
    try {
      const source = await feed()
      const found = await within(lookMaxMs, () => source.look())
      if (!found) {
        become({ state: 'current', version: null, notes: null, checkedAt: now() })
        return update
      }
      const { version, notes } = withinContract(found)
      become({ version, notes, state: 'downloading', percent: 0, checkedAt: now() })
      await within(downloadMaxMs, (signal) =>
        source.download((percent) => {
          const whole = Math.min(100, Math.max(0, Math.floor(percent) || 0))
          if (whole !== update.percent) become({ percent: whole })
        }, signal),
      )
      become({ state: 'ready', percent: null })
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error)
      become({ state: 'failed', percent: null, problem: problem.split('\n', 1)[0]!.slice(0, 500), checkedAt: now() })
    }
    return update
  }

  function look(): Promise<Update> {
    // What was downloaded stays: looking again would only take it away.
    if (update.state === 'ready') return Promise.resolve(update)
    return (looking ??= lookAndDownload().finally(() => (looking = null)))
  }

  function lookIn(ms: number): void {
    timer = setTimeout(() => void look().finally(() => followed === true && lookIn(betweenLooksMs)), ms)
    timer.unref()
  }

  return {
    state: () => update,
    follow(wanted) {
      if (wanted === followed) return
      followed = wanted
      clearTimeout(timer)
      if (wanted === true && feed) lookIn(firstLookMs)
    },
    look,
    async install(when) {
      if (update.state !== 'ready') throw new LatheError('request.invalid', 'No update is ready.')
      if (when === 'quit') {
        plan = { restart: false }
        return become({ atQuit: true })
      }
      if (!(await mayStop())) return
      plan = { restart: true }
      leave()
    },
    async installPlanned() {
      if (!feed || !plan) return false
      const source = await feed()
      source.install(plan.restart)
      return true
    },
  }
}

/** What a feed says is cut to what windows take: one text too long would cost them all other news. */
function withinContract({ version, notes }: { version: string; notes: string | null }) {
  return { version: version.slice(0, 64), notes: notes?.slice(0, 20_000) ?? null }
}

async function within<Result>(ms: number, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const signal = AbortSignal.timeout(ms)
  const late = Promise.withResolvers<never>()
  const expire = (): void => late.reject(new Error('The place of updates did not answer in time.'))
  signal.addEventListener('abort', expire, { once: true })
  try {
    return await Promise.race([work(signal), late.promise])
  } finally {
    signal.removeEventListener('abort', expire)
  }
}
