/** A picture before and after: beside each other, or one over the other with a divider that moves (F-904). */
import { type PointerEvent, useRef, useState } from 'react'
import type { Picture } from '../../preload/contract/file-routes.ts'
import type { ChangedFile } from '../../preload/contract/session.ts'
import { client } from '../state/link.ts'
import { bytesText } from '../transcript/amounts.ts'
import { shownText } from '../transcript/shown-text.ts'
import { Button } from '../ui/button.tsx'
import { classNames, transparencySquares } from '../ui/class-names.ts'
import { useBlobUrl } from '../ui/use-blob-url.ts'

type Pictures = { before: Picture | null; after: Picture | null }
type Side = keyof Pictures
type CompareProps = { sessionId: string; change: ChangedFile; pictures: Pictures }

const names = { before: 'Before', after: 'After' } as const

export function PictureCompare({ sessionId, change, pictures }: CompareProps) {
  const [over, setOver] = useState(false)
  const { before, after } = pictures
  const both = before !== null && after !== null
  return (
    <div
      role="group"
      aria-label={`Pictures of ${shownText(change.path)}`}
      className="border-b border-line bg-canvas p-8 font-sans"
    >
      {both && (
        <div role="group" aria-label="How the pictures are compared" className="mb-8 flex gap-4">
          <Button size="small" variant="ghost" aria-pressed={!over} onClick={() => setOver(false)}>
            Side by side
          </Button>
          <Button size="small" variant="ghost" aria-pressed={over} onClick={() => setOver(true)}>
            Overlay
          </Button>
        </div>
      )}
      {both && over ? (
        <Overlay sessionId={sessionId} change={change} before={before} after={after} />
      ) : (
        <div className={classNames('grid gap-8', both && 'grid-cols-2')}>
          {(['before', 'after'] as const).map((side) => {
            const picture = pictures[side]
            return (
              picture && (
                <figure key={side} className="min-w-0">
                  <Frame>
                    <Drawn sessionId={sessionId} change={change} side={side} picture={picture} />
                  </Frame>
                  <figcaption className="mt-4 flex gap-6 text-11 text-muted">
                    <span className={side === 'before' ? 'text-removed' : 'text-added'}>{names[side]}</span>
                    <span className="figures truncate">{described(picture)}</span>
                  </figcaption>
                </figure>
              )
            )
          })}
        </div>
      )}
    </div>
  )
}

function described({ width, height, bytes }: Picture): string {
  return [width !== null && height !== null && `${width} × ${height}`, bytesText(bytes)].filter(Boolean).join(', ')
}

function Frame({ children }: { children: React.ReactNode }) {
  return (
    <div
      className={classNames(
        'grid min-h-48 place-items-center overflow-hidden rounded-6 border border-line',
        transparencySquares,
      )}
    >
      {children}
    </div>
  )
}

/** Nothing, in the place of a picture that is on its way: its size is known, so nothing moves when it comes. */
const blank = 'data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=='

function Drawn({
  sessionId,
  change,
  side,
  picture: { width, height },
  className,
  style,
}: {
  sessionId: string
  change: ChangedFile
  side: Side
  picture: Picture
  className?: string
  style?: React.CSSProperties
}) {
  const url = useBlobUrl(`${sessionId} ${change.id} ${side} ${change[side]}`, (signal) =>
    client().changes.picture({ sessionId, changeId: change.id, side }, { signal }),
  )
  if (url === 'missing') return <p className="p-12 text-11 text-muted">It can no longer be shown.</p>
  return (
    <img
      src={url ?? blank}
      width={width ?? undefined}
      height={height ?? undefined}
      alt={`${shownText(change.path)}, ${names[side].toLowerCase()}`}
      draggable={false}
      className={classNames('h-auto max-h-320 w-auto max-w-full object-contain', className)}
      style={style}
    />
  )
}

/** The divider follows the pointer; from the keyboard it is a slider. Left of it is the picture before. */
function Overlay({ sessionId, change, before, after }: Omit<CompareProps, 'pictures'> & Record<Side, Picture>) {
  const [at, setAt] = useState(50)
  const area = useRef<HTMLDivElement>(null)
  const follow = ({ clientX, buttons }: PointerEvent) => {
    if (buttons === 0 || !area.current) return
    const { left, width } = area.current.getBoundingClientRect()
    setAt(Math.round(Math.min(100, Math.max(0, ((clientX - left) / width) * 100))))
  }
  return (
    <Frame>
      <div
        ref={area}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          follow(event)
        }}
        onPointerMove={follow}
        className="relative grid cursor-ew-resize touch-none select-none *:[grid-area:1/1]"
      >
        <Drawn sessionId={sessionId} change={change} side="after" picture={after} className="m-auto" />
        <Drawn
          sessionId={sessionId}
          change={change}
          side="before"
          picture={before}
          className="m-auto"
          style={{ clipPath: `inset(0 ${100 - at}% 0 0)` }}
        />
        <span aria-hidden className="absolute inset-y-0 w-2 -translate-x-1 bg-accent" style={{ left: `${at}%` }} />
      </div>
      <input
        type="range"
        aria-label="How much of the picture before is shown"
        min={0}
        max={100}
        value={at}
        onChange={(event) => setAt(Number(event.target.value))}
        className="w-full accent-(--accent)"
      />
    </Frame>
  )
}
