import { showDialog } from '../state/window-store.ts'
import { useWorkbench } from '../state/workbench-store.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Kbd } from '../ui/kbd.tsx'
import { ScrollArea } from '../ui/scroll-area.tsx'
import { categories } from './command.ts'
import { boundCommands, command } from './commands.ts'
import { shownKeys } from './keys.ts'

/** Keys that belong to one place and are no commands: written where they are explained. */
const places: { title: string; keys: [string, string][] }[] = [
  {
    title: 'In the message',
    keys: [
      ['Enter', 'Send; while a turn runs, steer it'],
      ['Tab', 'Queue, while a turn runs'],
      ['Shift+Enter', 'New line'],
      ['Esc', 'Close, then stop the turn'],
      ['↑', 'Recall earlier messages'],
      ['@', 'Mention files, sessions, terminals, changes'],
      ['/', 'Commands'],
      ['!', 'Run a command yourself'],
    ],
  },
  {
    title: 'In lists and the transcript',
    keys: [
      ['↑ ↓', 'Move by entry'],
      ['Home End', 'First and last'],
      ['Enter', 'Open'],
      ['F2', 'Rename'],
    ],
  },
]

/** Every shortcut in force, by what it is for (S-177). */
export function ShortcutSheet() {
  const overrides = useWorkbench(({ settings }) => settings.keys)
  const bound = boundCommands(overrides).filter(({ keys }) => keys !== null)
  return (
    <Dialog
      open
      onOpenChange={() => showDialog(null)}
      title="Keyboard shortcuts"
      width={760}
      footer={
        <Button acts onClick={() => showDialog({ kind: 'settings', page: 'keys' })}>
          Change shortcuts
        </Button>
      }
    >
      <ScrollArea label="Shortcuts" className="-mx-16 -mt-2 -mb-16 columns-1 gap-32 px-16 pt-6 narrow:columns-2">
        {categories.map((category) => {
          const list = bound.filter(({ id }) => command(id)?.category === category && !/^session\.go[2-9]$/.test(id))
          if (list.length === 0) return null
          return (
            <Block key={category} title={category}>
              {list.map(({ id, keys }) => (
                <Line
                  key={id}
                  title={id === 'session.go1' ? 'Go to session 1 to 9' : (command(id)?.title ?? id)}
                  keys={shownKeys(keys ?? '')}
                />
              ))}
            </Block>
          )
        })}
        {places.map(({ title, keys }) => (
          <Block key={title} title={title}>
            {keys.map(([cap, meaning]) => (
              <Line key={cap} title={meaning} keys={cap} />
            ))}
          </Block>
        ))}
      </ScrollArea>
    </Dialog>
  )
}

function Block({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <section aria-label={title} className="mb-20 break-inside-avoid">
      <h3 className="mb-4 text-12 font-semibold">{title}</h3>
      <dl>{children}</dl>
    </section>
  )
}

function Line({ title, keys }: { title: string; keys: string }) {
  return (
    <div className="flex h-26 items-center justify-between gap-12">
      <dt className="min-w-0 truncate text-13 text-muted">{title}</dt>
      <dd>
        <Kbd keys={keys} />
      </dd>
    </div>
  )
}
