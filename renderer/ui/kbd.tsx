import { classNames } from './class-names.ts'

/** A key or chord as the platform writes it: `⌘⇧P` stays one cap, `Ctrl+Shift+P` becomes one cap a key. */
export function Kbd({ keys, className }: { keys: string; className?: string | undefined }) {
  const caps = keys.split(/\+(?=.)| /)
  return (
    <span className={classNames('inline-flex shrink-0 items-center gap-2', className)}>
      {caps.map((cap, index) => (
        <kbd
          key={index}
          className="inline-grid h-16 min-w-16 place-items-center rounded-4 border border-[color-mix(in_oklab,currentColor_24%,transparent)] px-4 font-sans text-[0.65625rem] leading-none font-normal"
        >
          {cap}
        </kbd>
      ))}
    </span>
  )
}
