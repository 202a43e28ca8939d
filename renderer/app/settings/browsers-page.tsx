/** Who signed in to the web host, with what they may do (S-31), and addresses that let more in. */
import { Copy, Eye } from 'lucide-react'
import type { Browser, BrowserRights } from '../../../preload/contract/browsers.ts'
import { act, client } from '../../state/link.ts'
import { ask } from '../../state/window-store.ts'
import { useWorkbench } from '../../state/workbench-store.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { RelativeTime } from '../../ui/relative-time.tsx'
import { toast } from '../../ui/toast.tsx'
import { attempt } from '../attempt.ts'
import { Row, Section } from './setting-row.tsx'

export function BrowsersPage() {
  const browsers = useWorkbench((state) => state.browsers)
  const own = useWorkbench(({ info }) => info?.browser?.id ?? null)
  return (
    <>
      <ul aria-label="Signed-in browsers" className="flex flex-col divide-y divide-line rounded-8 border border-line">
        {browsers.map((browser) => (
          <BrowserRow key={browser.id} browser={browser} isOwn={browser.id === own} />
        ))}
      </ul>
      <Section title="Let a browser in">
        <Row
          label="An address for yourself"
          detail="Whoever opens it on this machine can do everything. Taking rights from a browser that came by it makes a new one."
        >
          <CopyAddress rights="full" label="Copy address" />
        </Row>
        <Row label="An address to watch" detail="Whoever opens it sees sessions as they run, and can change nothing.">
          <CopyAddress rights="watch" label="Copy watch address" />
        </Row>
      </Section>
    </>
  )
}

function BrowserRow({ browser, isOwn }: { browser: Browser; isOwn: boolean }) {
  const { id, name, rights, signedInAt, seenAt, connected } = browser
  const watches = rights === 'watch'
  const setRights = () =>
    attempt('Could not change what it may do', () =>
      client().browsers.setRights({ ...act(), id, rights: watches ? 'full' : 'watch' }),
    )
  async function signOut(): Promise<void> {
    const description = isOwn
      ? 'This window closes its connection. The address it came by lets nobody in any more.'
      : 'It loses its connection, and the address it came by lets nobody in any more.'
    if (await ask({ title: `Sign out ${name}?`, description, confirm: 'Sign out', danger: true }))
      await attempt('Could not sign it out', () => client().browsers.signOut({ ...act(), id }))
  }
  return (
    <li aria-label={name} className="flex items-center gap-10 px-12 py-8">
      <div className="min-w-0 grow">
        <p className="flex items-center gap-6 text-13">
          <span className="truncate font-medium">{name}</span>
          {isOwn && <Badge>This browser</Badge>}
          <Badge tone={watches ? 'note' : 'accent'}>{watches ? 'Watches' : 'Can do everything'}</Badge>
        </p>
        <p className="text-12 text-muted">
          Signed in <RelativeTime at={signedInAt} /> ·{' '}
          {connected ? (
            'connected'
          ) : (
            <>
              seen <RelativeTime at={seenAt} />
            </>
          )}
        </p>
      </div>
      {!isOwn && (
        <Button
          size="small"
          aria-label={`${watches ? 'Allow everything' : 'Watch only'}: ${name}`}
          onClick={() => void setRights()}
        >
          {!watches && <Eye size={13} strokeWidth={1.75} aria-hidden />}
          {watches ? 'Allow everything' : 'Watch only'}
        </Button>
      )}
      <Button size="small" variant="ghost" aria-label={`Sign out: ${name}`} onClick={() => void signOut()}>
        Sign out
      </Button>
    </li>
  )
}

function CopyAddress({ rights, label }: { rights: BrowserRights; label: string }) {
  const copy = () =>
    attempt('Could not copy', async () => {
      const { url } = await client().browsers.address({ rights })
      await navigator.clipboard.writeText(url)
      toast.done('Copied')
    })
  return (
    <Button size="small" onClick={() => void copy()}>
      <Copy size={13} strokeWidth={1.75} aria-hidden /> {label}
    </Button>
  )
}
