/** Lines across the window for what concerns all of it: the connection, storage, the configuration. */
import { CircleAlert, CircleArrowUp, CirclePause, HardDrive, Unplug } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import type { ErrorBody } from '../../preload/contract/errors.ts'
import type { ProviderEntry } from '../../preload/contract/model-routes.ts'
import { freeDiskMin, freeDiskWarn } from '../../preload/contract/limits.ts'
import { shownText } from '../transcript/shown-text.ts'
import { act, client } from '../state/link.ts'
import { useSession } from '../state/session-store.ts'
import { showDialog, useWindow } from '../state/window-store.ts'
import { changeSettings, installUpdate, useSetting, useSomethingRuns, useWorkbench } from '../state/workbench-store.ts'
import { useMayAct } from '../ui/acting.ts'
import { Button } from '../ui/button.tsx'
import { classNames } from '../ui/class-names.ts'
import { Duration } from '../ui/duration.tsx'
import { Spinner } from '../ui/spinner.tsx'
import { clockText } from '../ui/time-text.ts'
import { attempt } from './attempt.ts'

/** A short loss is not worth a word: it is over before it was read. */
const lostSaidAfterMs = 1_000

const grounds = { needs: 'bg-needs-soft', failed: 'bg-failed-soft', plain: 'bg-panel' }
const inks = { needs: 'text-needs', failed: 'text-failed', plain: 'text-muted' }

function Banner({
  tone,
  icon,
  children,
  action,
}: {
  tone: 'needs' | 'failed' | 'plain'
  icon: ReactNode
  children: ReactNode
  action?: ReactNode
}) {
  return (
    <div
      role="status"
      className={classNames(
        'flex min-h-32 shrink-0 items-center gap-8 border-b border-line px-12 py-4 text-12',
        grounds[tone],
      )}
    >
      <span className={classNames('shrink-0', inks[tone])}>{icon}</span>
      <span className="min-w-0 grow text-ink">{children}</span>
      {action}
    </div>
  )
}

const icon = { size: 14, strokeWidth: 1.75, 'aria-hidden': true } as const

export type Refusal = {
  /** Why no connection is tried any more; null while it is tried, or stands. */
  refusal: ErrorBody | null
  onRetry: () => void
}

export function Banners({ refusal, onRetry }: Refusal) {
  return (
    <>
      {refusal ? <RefusedBanner {...refusal} onRetry={onRetry} /> : <ConnectionBanner />}
      <StorageBanner />
      <HostBanner />
      <PauseBanners />
      <UpdateBanner />
    </>
  )
}

/** A session that waits to be saved says so itself, with "Try again". */
function LostIn({ sessionId, action }: { sessionId: string; action: ReactNode }) {
  const says = useSession(sessionId, ({ unsaved }) => unsaved !== null)
  return says ? null : <LostBanner action={action} />
}

function LostBanner({ action }: { action: ReactNode }) {
  return (
    <Banner tone="failed" icon={<HardDrive {...icon} />} action={action}>
      Nothing can be saved at the moment.{' '}
      <span className="text-muted">What is there can be read; Lathe tries again by itself.</span>
    </Banner>
  )
}

/** What is on screen stays readable, and what is typed is kept (S-40). */
function RefusedBanner({ message, hint, onRetry }: ErrorBody & Pick<Refusal, 'onRetry'>) {
  return (
    <Banner
      tone="failed"
      icon={<Unplug {...icon} />}
      action={
        <Button size="small" onClick={onRetry}>
          Try again
        </Button>
      }
    >
      {message} <span className="text-muted">{hint}</span>
    </Banner>
  )
}

function ConnectionBanner() {
  const link = useWorkbench((state) => state.link)
  const lostAt = useWorkbench((state) => state.lostAt)
  const [saidOf, setSaidOf] = useState<number | null>(null)
  useEffect(() => {
    if (lostAt === null) return
    const timer = setTimeout(() => setSaidOf(lostAt), lostSaidAfterMs)
    return () => clearTimeout(timer)
  }, [lostAt])
  if (lostAt === null || saidOf !== lostAt) return null
  return (
    <Banner tone="needs" icon={link === 'lost' ? <Spinner size={14} /> : <Unplug {...icon} />}>
      {link === 'lost' ? 'Reconnecting to Lathe. ' : 'Connecting to Lathe. '}
      <span className="text-muted">
        Turns go on without this window; what you write is kept. <Duration from={lostAt} />
      </span>
    </Banner>
  )
}

function StorageBanner() {
  const slow = useWorkbench(({ host }) => host?.slowSaving ?? false)
  const free = useWorkbench(({ host }) => host?.freeDisk ?? null)
  // A newer version's data folder is degraded too, and says so itself.
  const isLost = useWorkbench(({ host }) => host?.state === 'degraded' && host.banner === null)
  const session = useWindow((state) => state.sessionId)
  const settings = (
    <Button acts size="small" variant="ghost" onClick={() => showDialog({ kind: 'settings', page: 'storage' })}>
      Storage
    </Button>
  )
  if (free !== null && free < freeDiskMin)
    return (
      <Banner tone="failed" icon={<HardDrive {...icon} />} action={settings}>
        The disk is full. New turns wait until there is room.
      </Banner>
    )
  if (isLost)
    return session === null ? <LostBanner action={settings} /> : <LostIn sessionId={session} action={settings} />
  if (slow)
    return (
      <Banner tone="needs" icon={<Spinner size={14} />}>
        Saving is slow. Nothing is lost; events show once they are stored.
      </Banner>
    )
  if (free !== null && free < freeDiskWarn)
    return (
      <Banner tone="needs" icon={<HardDrive {...icon} />} action={settings}>
        Little room is left on the disk of the data folder.
      </Banner>
    )
  return null
}

/** What the host has to say of itself: an invalid configuration, a database from a newer version. */
function HostBanner() {
  const text = useWorkbench(({ host, info }) => (host ? host.banner : (info?.banner ?? null)))
  if (text === null) return null
  return (
    <Banner
      tone="needs"
      icon={<CircleAlert {...icon} />}
      action={
        <Button size="small" variant="ghost" onClick={() => showDialog({ kind: 'settings', page: 'about' })}>
          Details
        </Button>
      }
    >
      {shownText(text)}
    </Banner>
  )
}

const refusals: Record<string, string> = {
  'provider.auth_missing': 'it wants a key',
  'provider.auth_invalid': 'it refused the key',
  'provider.credentials_exhausted': 'every key of it is used up',
  'provider.quota_exhausted': 'its quota is used up',
}

/** Providers that nothing which starts by itself uses now; a message of the person's is answered as ever. */
function PauseBanners() {
  const providers = useWorkbench((state) => state.providers)
  return providers.map(
    (provider) => provider.paused && <PauseBanner key={provider.id} {...provider} {...provider.paused} />,
  )
}

function PauseBanner({ id, label, code, until }: ProviderEntry & NonNullable<ProviderEntry['paused']>) {
  return (
    <Banner
      tone="needs"
      icon={<CirclePause {...icon} />}
      action={
        <span className="flex shrink-0 gap-8">
          <Button size="small" variant="ghost" onClick={() => showDialog({ kind: 'settings', page: 'models' })}>
            Provider settings
          </Button>
          <Button
            size="small"
            onClick={() => void attempt('Could not resume', () => client().models.resume({ ...act(), provider: id }))}
          >
            Resume
          </Button>
        </span>
      }
    >
      Automatic work with {shownText(label)} is paused: {refusals[code] ?? 'it refused a turn'}.{' '}
      <span className="text-muted">
        {until === null ? 'It goes on once a turn with it completes.' : `It goes on at ${clockText(until)}.`}
      </span>
    </Banner>
  )
}

/** Asks once whether to look for newer versions (Z-231), and offers one that is ready; never in the way of anything. */
function UpdateBanner() {
  const update = useWorkbench((state) => state.update)
  const wanted = useSetting('updates.check')
  const runs = useSomethingRuns()
  const mayAct = useMayAct()
  const [later, setLater] = useState<string | null>(null)
  if (update.state === 'none' || !mayAct) return null
  if (update.state === 'ready' && !update.atQuit && later !== update.version)
    return (
      <Banner
        tone="plain"
        icon={<CircleArrowUp {...icon} />}
        action={
          <span className="flex shrink-0 gap-8">
            <Button size="small" variant="ghost" onClick={() => setLater(update.version)}>
              Later
            </Button>
            <Button size="small" onClick={() => void attempt('Could not plan the update', () => installUpdate('quit'))}>
              When I quit
            </Button>
            <Button
              size="small"
              variant={runs ? 'secondary' : 'primary'}
              onClick={() => void attempt('Could not update', () => installUpdate('now'))}
            >
              Restart to update
            </Button>
          </span>
        }
      >
        Lathe {shownText(update.version ?? '')} is ready to install.
        {runs && <span className="text-muted"> Something runs: restarting names it and asks first.</span>}
      </Banner>
    )
  if (wanted !== null) return null
  const answer = (yes: boolean) =>
    void attempt('Could not change the setting', () => changeSettings({ 'updates.check': yes }))
  return (
    <Banner
      tone="plain"
      icon={<CircleArrowUp {...icon} />}
      action={
        <span className="flex shrink-0 gap-8">
          <Button size="small" variant="ghost" onClick={() => answer(false)}>
            No
          </Button>
          <Button size="small" onClick={() => answer(true)}>
            Look for updates
          </Button>
        </span>
      }
    >
      Look for a newer Lathe once a day?{' '}
      <span className="text-muted">Only its version and your platform are sent; you decide when to install.</span>
    </Banner>
  )
}
