/** Lines across the window for what concerns all of it: the connection, storage, the configuration. */
import { CircleAlert, HardDrive, Unplug } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { freeDiskMin, freeDiskWarn } from '../../preload/contract/limits.ts'
import { shownText } from '../transcript/shown-text.ts'
import { showDialog } from '../state/window-store.ts'
import { useWorkbench } from '../state/workbench-store.ts'
import { Button } from '../ui/button.tsx'
import { classNames } from '../ui/class-names.ts'
import { Duration } from '../ui/duration.tsx'
import { Spinner } from '../ui/spinner.tsx'

/** A short loss is not worth a word: it is over before it was read. */
const lostSaidAfterMs = 1_000

function Banner({
  tone,
  icon,
  children,
  action,
}: {
  tone: 'needs' | 'failed'
  icon: ReactNode
  children: ReactNode
  action?: ReactNode
}) {
  return (
    <div
      role="status"
      className={classNames(
        'flex min-h-32 shrink-0 items-center gap-8 border-b border-line px-12 py-4 text-12',
        tone === 'failed' ? 'bg-failed-soft' : 'bg-needs-soft',
      )}
    >
      <span className={classNames('shrink-0', tone === 'failed' ? 'text-failed' : 'text-needs')}>{icon}</span>
      <span className="min-w-0 grow text-ink">{children}</span>
      {action}
    </div>
  )
}

const icon = { size: 14, strokeWidth: 1.75, 'aria-hidden': true } as const

export function Banners() {
  return (
    <>
      <ConnectionBanner />
      <StorageBanner />
      <HostBanner />
    </>
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
  const settings = (
    <Button size="small" variant="ghost" onClick={() => showDialog({ kind: 'settings', page: 'storage' })}>
      Storage
    </Button>
  )
  if (free !== null && free < freeDiskMin)
    return (
      <Banner tone="failed" icon={<HardDrive {...icon} />} action={settings}>
        The disk is full. New turns wait until there is room.
      </Banner>
    )
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
