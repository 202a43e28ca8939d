import { type ReactNode, useEffect, useState } from 'react'
import { classNames } from './class-names.ts'

/** Renders its children only once `after` milliseconds have passed, so that what loads at once never flickers (S-175). */
export function Delayed({ after = 150, children }: { after?: number | undefined; children: ReactNode }) {
  const [due, setDue] = useState(after === 0)
  useEffect(() => {
    const timer = setTimeout(() => setDue(true), after)
    return () => clearTimeout(timer)
  }, [after])
  return due ? children : null
}

type SkeletonProps = {
  /** What is loading, for assistive technology: "Loading sessions". */
  label: string
  /** Widths of the bars, one a line, as fractions of the pane. */
  lines?: number[] | undefined
  className?: string | undefined
}

/** Grey bars where content is about to be. */
export function Skeleton({ label, lines = [0.7, 0.9, 0.55], className }: SkeletonProps) {
  return (
    <Delayed>
      <div
        role="status"
        aria-label={label}
        className={classNames('flex animate-appear flex-col gap-10 p-12', className)}
      >
        {lines.map((width, index) => (
          <div
            key={index}
            className="h-10 animate-breathe rounded-4 bg-pressed"
            style={{ width: `${width * 100}%`, animationDelay: `${index * 120}ms` }}
          />
        ))}
      </div>
    </Delayed>
  )
}
