import { useCommandKeys } from '../app/commands.ts'
import { useMayAct } from '../ui/acting.ts'
import { Kbd } from '../ui/kbd.tsx'

/** A session before its first turn: what to do, and what the keys beside the letters are for. */
export function NoEntries() {
  const mayAct = useMayAct()
  const search = useCommandKeys('palette.open')
  const hints = [
    ['@', 'Mention files, sessions, terminals, changes'],
    ['/', 'Commands'],
    ['!', 'Run a command yourself'],
    [search, 'Go to a session or a file'],
  ] as const
  return (
    <div className="pointer-events-none absolute inset-0 grid place-items-center px-24">
      <div className="flex flex-col items-center gap-16">
        <p className="text-14 text-muted">{mayAct ? 'Describe a task to start.' : 'Nothing has happened here yet.'}</p>
        {mayAct && (
          <dl className="grid grid-cols-[auto_auto] items-center gap-x-10 gap-y-6 text-12 text-faint">
            {hints.map(
              ([keys, meaning]) =>
                keys && (
                  <div key={meaning} className="col-span-full grid grid-cols-subgrid items-center">
                    <dt className="flex justify-end">
                      <Kbd keys={keys} />
                    </dt>
                    <dd>{meaning}</dd>
                  </div>
                ),
            )}
          </dl>
        )}
      </div>
    </div>
  )
}
