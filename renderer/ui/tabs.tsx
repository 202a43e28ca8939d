import { Tabs as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'

export type Tab<Value extends string = string> = {
  value: Value
  label: ReactNode
  badge?: ReactNode | undefined
  content: ReactNode
}

type TabsProps<Value extends string> = {
  /** Accessible name of the row of tabs. */
  label: string
  value: Value
  onChange: (value: Value) => void
  tabs: Tab<Value>[]
  /** Controls at the end of the row. */
  actions?: ReactNode | undefined
  className?: string | undefined
}

/** Only the chosen tab is mounted. Left, Right, Home and End move between tabs. */
export function Tabs<Value extends string>({ label, value, onChange, tabs, actions, className }: TabsProps<Value>) {
  return (
    <Radix.Root
      value={value}
      onValueChange={(next) => onChange(next as Value)}
      className={classNames('flex min-h-0 min-w-0 flex-col', className)}
    >
      <div className="flex h-36 shrink-0 items-center gap-8 border-b border-line pr-8 pl-4">
        <Radix.List
          aria-label={label}
          className="flex h-full min-w-0 grow items-stretch overflow-x-auto [scrollbar-width:none]"
        >
          {tabs.map((tab) => (
            <Radix.Trigger
              key={tab.value}
              value={tab.value}
              className="ring-inside relative flex items-center gap-6 rounded-4 px-8 text-12 font-medium whitespace-nowrap text-muted transition-colors select-none hover:text-ink on:text-ink on:after:absolute on:after:inset-x-8 on:after:-bottom-px on:after:h-2 on:after:rounded-full on:after:bg-accent"
            >
              {tab.label}
              {tab.badge}
            </Radix.Trigger>
          ))}
        </Radix.List>
        {actions}
      </div>
      {tabs.map((tab) => (
        <Radix.Content
          key={tab.value}
          value={tab.value}
          className="ring-inside min-h-0 grow overflow-auto data-[state=inactive]:hidden"
        >
          {tab.content}
        </Radix.Content>
      ))}
    </Radix.Root>
  )
}
