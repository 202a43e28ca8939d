import { FolderOpen } from 'lucide-react'
import { client } from '../../state/link.ts'
import { useEntries, useWorkbench } from '../../state/workbench-store.ts'
import { bytesText } from '../../transcript/amounts.ts'
import { Button } from '../../ui/button.tsx'
import { attempt } from '../attempt.ts'
import { Row, Section } from './setting-row.tsx'

export function StoragePage() {
  const info = useWorkbench((state) => state.info)
  const free = useWorkbench(({ host }) => host?.freeDisk ?? null)
  const entries = useEntries()
  const workspaces = useWorkbench((state) => state.workspaces)
  return (
    <>
      <Section title="Data folder">
        <Row
          label={<code className="text-12 break-all">{info?.dataFolder ?? 'unknown'}</code>}
          detail="Sessions, attachments, checkpoints, logs. Keys are in the system’s keychain where there is one."
        >
          {info?.capabilities.includes('reveal') && (
            <Button
              size="small"
              onClick={() =>
                void attempt('Could not show the folder', () => client().host.reveal({ path: info.dataFolder }))
              }
            >
              <FolderOpen size={13} strokeWidth={1.75} aria-hidden />
              Show
            </Button>
          )}
        </Row>
        <Row label="Free on its disk">
          <span className="figures text-13 text-muted">{free === null ? 'unknown' : bytesText(free)}</span>
        </Row>
      </Section>
      <Section title="Kept">
        <Row label="Sessions" detail="A deleted one can be restored for 7 days.">
          <span className="figures text-13 text-muted">{entries.length.toLocaleString('en')}</span>
        </Row>
        <Row label="Folders">
          <span className="figures text-13 text-muted">{workspaces.size.toLocaleString('en')}</span>
        </Row>
      </Section>
    </>
  )
}
