/** Complementary "Inspector": what the agent did, plans, looks at and holds in mind. */
import { PanelRight } from 'lucide-react'
import { countFiles } from '../changes/change-scope.ts'
import { ChangesTab } from '../changes/changes-tab.tsx'
import { ContextTab } from '../context/context-tab.tsx'
import { FilesTab } from '../files/files-tab.tsx'
import { PlanTab } from '../plan/plan-tab.tsx'
import { type InspectorTab, prefer, usePreference } from '../state/preferences.ts'
import { useView } from '../state/session-store.ts'
import { Badge } from '../ui/badge.tsx'
import { classNames } from '../ui/class-names.ts'
import { ErrorBoundary } from '../ui/error-boundary.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { PaneToggle, rightEdge } from './title-bar.tsx'

export function Inspector({ sessionId }: { sessionId: string }) {
  const tab = usePreference('inspector.tab')
  const changed = useView(sessionId, ({ changes }) => countFiles(changes), 0)
  const plan = useView(sessionId, ({ header }) => header.plan, null)
  const counted = plan?.entries.filter(({ state }) => state !== 'dropped') ?? []
  const done = counted.filter(({ state }) => state === 'done').length
  const pane = (name: string, content: React.ReactNode) => (
    <ErrorBoundary pane={name} resetKey={sessionId}>
      {content}
    </ErrorBoundary>
  )
  return (
    <aside
      aria-label="Inspector"
      data-region="inspector"
      tabIndex={-1}
      className="flex min-h-0 grow flex-col bg-canvas outline-none"
    >
      <Tabs<InspectorTab>
        label="Inspector"
        value={tab}
        onChange={(next) => prefer({ 'inspector.tab': next })}
        className="grow [&>div:first-child]:h-40 [&>div:first-child]:pr-0 [&>div:first-child]:[app-region:drag] [&>div:first-child_button]:[app-region:no-drag]"
        tabs={[
          {
            value: 'changes',
            label: 'Changes',
            badge: changed > 0 ? <Badge>{changed}</Badge> : undefined,
            content: pane('Changes', <ChangesTab sessionId={sessionId} />),
          },
          {
            value: 'plan',
            label: 'Plan',
            badge: counted.length > 0 ? <Badge>{`${done}/${counted.length}`}</Badge> : undefined,
            content: pane('Plan', <PlanTab sessionId={sessionId} />),
          },
          { value: 'files', label: 'Files', content: pane('Files', <FilesTab sessionId={sessionId} />) },
          { value: 'context', label: 'Context', content: pane('Context', <ContextTab sessionId={sessionId} />) },
        ]}
        actions={
          <span className={classNames('flex', rightEdge)}>
            <PaneToggle pane="inspector" shown icon={PanelRight} />
          </span>
        }
      />
    </aside>
  )
}
