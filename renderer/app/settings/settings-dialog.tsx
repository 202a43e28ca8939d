/** Dialog "Settings": pages on the left, each control acting at once. */
import {
  Bot,
  Database,
  Info,
  Keyboard,
  MonitorSmartphone,
  Palette,
  Settings2,
  ShieldCheck,
  Sparkles,
  SquareTerminal,
  X,
} from 'lucide-react'
import { Tabs } from 'radix-ui'
import type { ReactNode } from 'react'
import { ConnectModel } from '../../models/connect-model.tsx'
import { settingsPages } from '../../../preload/contract/shell.ts'
import { type SettingsPage, showDialog } from '../../state/window-store.ts'
import { useWorkbench } from '../../state/workbench-store.ts'
import { useMayAct } from '../../ui/acting.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { ErrorBoundary } from '../../ui/error-boundary.tsx'
import { IconButton } from '../../ui/icon-button.tsx'
import { AboutPage } from './about-page.tsx'
import { AgentsPage } from './agents-page.tsx'
import { AppearancePage } from './appearance-page.tsx'
import { ApprovalsPage } from './approvals-page.tsx'
import { BrowsersPage } from './browsers-page.tsx'
import { GeneralPage } from './general-page.tsx'
import { KeysPage } from './keys-page.tsx'
import { StoragePage } from './storage-page.tsx'
import { TerminalPage } from './terminal-page.tsx'

const pages: Record<SettingsPage, { label: string; icon: typeof Info; View: () => ReactNode }> = {
  general: { label: 'General', icon: Settings2, View: GeneralPage },
  appearance: { label: 'Appearance', icon: Palette, View: AppearancePage },
  agents: { label: 'Agents', icon: Bot, View: AgentsPage },
  models: { label: 'Models', icon: Sparkles, View: ConnectModel },
  approvals: { label: 'Approvals', icon: ShieldCheck, View: ApprovalsPage },
  terminal: { label: 'Terminal', icon: SquareTerminal, View: TerminalPage },
  keys: { label: 'Keys', icon: Keyboard, View: KeysPage },
  browsers: { label: 'Browsers', icon: MonitorSmartphone, View: BrowsersPage },
  storage: { label: 'Storage', icon: Database, View: StoragePage },
  about: { label: 'About', icon: Info, View: AboutPage },
}

export function SettingsDialog({ page }: { page: SettingsPage }) {
  // Only a web host has any.
  const served = useWorkbench(({ info }) => info?.browser != null)
  const mayAct = useMayAct()
  const shown = settingsPages.filter((name) => (mayAct ? served || name !== 'browsers' : name === 'about'))
  return (
    <Dialog open onOpenChange={() => showDialog(null)} title="Settings" bare width={820} className="h-[76vh]">
      <Tabs.Root
        orientation="vertical"
        value={page}
        onValueChange={(next) => showDialog({ kind: 'settings', page: next as SettingsPage })}
        className="flex min-h-0 grow max-narrow:flex-col"
      >
        <Tabs.List
          aria-label="Settings pages"
          className="flex w-176 shrink-0 flex-col gap-2 overflow-auto rounded-l-12 border-r border-line bg-side p-8 max-narrow:w-full max-narrow:flex-row max-narrow:rounded-t-12 max-narrow:border-r-0 max-narrow:border-b"
        >
          <h2 aria-hidden className="px-8 pt-6 pb-8 text-14 font-semibold max-narrow:hidden">
            Settings
          </h2>
          {shown.map((name) => {
            const { label, icon: Icon } = pages[name]
            return (
              <Tabs.Trigger
                key={name}
                value={name}
                className="ring-inside flex h-28 shrink-0 items-center gap-8 rounded-6 px-8 text-13 text-muted select-none hover:bg-hover hover:text-ink on:bg-selected on:font-medium on:text-ink"
              >
                <Icon size={14} strokeWidth={1.75} aria-hidden />
                {label}
              </Tabs.Trigger>
            )
          })}
        </Tabs.List>
        {shown.map((name) => {
          const { label, View } = pages[name]
          return (
            <Tabs.Content
              key={name}
              value={name}
              className="ring-inside flex min-h-0 min-w-0 grow flex-col data-[state=inactive]:hidden"
            >
              <header className="flex h-48 shrink-0 items-center justify-between pr-10 pl-24">
                <h2 className="text-14 font-semibold">{label}</h2>
                <IconButton icon={X} label="Close settings" size="small" onClick={() => showDialog(null)} />
              </header>
              <div className="flex min-h-0 grow flex-col gap-24 overflow-y-auto px-24 pb-24 [scrollbar-width:thin]">
                <ErrorBoundary pane={`Settings, ${label}`}>
                  <View />
                </ErrorBoundary>
              </div>
            </Tabs.Content>
          )
        })}
      </Tabs.Root>
    </Dialog>
  )
}
