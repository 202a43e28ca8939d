import { useMemo, useState } from 'react'
import { counted } from '../transcript/amounts.ts'
import { FindBar } from '../ui/find-bar.tsx'
import { linesOf } from './code-lines.tsx'

function linesWith(text: string, wanted: string): number[] {
  const lower = wanted.toLowerCase()
  return lower === ''
    ? []
    : linesOf(text).flatMap((line, index) => (line.toLowerCase().includes(lower) ? [index + 1] : []))
}

/** Finds text by lines in what is shown to read. */
export function FileFind({
  text,
  onFind,
  onClose,
}: {
  text: string
  onFind: (line: number | null) => void
  onClose: () => void
}) {
  const [wanted, setWanted] = useState('')
  const [at, setAt] = useState(0)
  const found = useMemo(() => linesWith(text, wanted), [text, wanted])
  const go = (index: number) => {
    if (found.length === 0) return
    const next = (index + found.length) % found.length
    setAt(next)
    onFind(found[next] ?? null)
  }
  const seek = (next: string) => {
    setWanted(next)
    setAt(0)
    onFind(linesWith(text, next)[0] ?? null)
  }
  const said =
    wanted === '' ? '' : found.length === 0 ? 'Nothing found' : `${at + 1} of ${counted(found.length, 'line')}`
  return (
    <FindBar
      label="Find in file"
      text={wanted}
      onText={seek}
      said={said}
      onStep={(by) => go(at + by)}
      onClose={onClose}
    />
  )
}
