/** The figures of a benchmark: medians of several runs, as a table for people and one JSON line for machines. */
import { availableParallelism, loadavg } from 'node:os'

export type Figure = {
  name: string
  unit: 'ms' | 'KB' | 'MB' | 'left' | 'characters' | 'entries' | 'fps' | 'tokens' | 'a second'
  values: number[]
  /** The figure is to stay under this. */
  aim?: number
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** Runs `once` five times, after one run that warms the disk's cache and counts for nothing. */
export async function fiveTimes<T>(once: () => Promise<T>): Promise<T[]> {
  await once()
  const results: T[] = []
  for (let run = 0; run < 5; run++) results.push(await once())
  return results
}

/** The longest stalls of the main loop: by the clock, and what the loop itself worked in it. */
export function stallFigures(when: string, stalls: { ms: number; cpuMs: number }[], aim?: number): Figure[] {
  const name = `longest stall of the main loop ${when}`
  return [
    { name, unit: 'ms', values: stalls.map(({ ms }) => ms), ...(aim === undefined ? {} : { aim }) },
    { name: `${name}, worked`, unit: 'ms', values: stalls.map(({ cpuMs }) => cpuMs) },
  ]
}

/** Prints the table, then the JSON line; `npm run bench` keeps the latter. */
export function report(figures: Figure[]): void {
  const rows = figures.map(({ name, unit, values, aim }) => {
    const told = (value: number) => `${value >= 100 ? Math.round(value) : Math.round(value * 10) / 10} ${unit}`
    const range = `${told(Math.min(...values))} to ${told(Math.max(...values))}`
    const verdict = aim === undefined ? '' : `under ${told(aim)}: ${median(values) < aim ? 'yes' : 'NO'}`
    return [name, told(median(values)), range, verdict]
  })
  const widths = ['figure', 'median', 'range', 'aim'].map((title, at) =>
    Math.max(title.length, ...rows.map((row) => row[at]!.length)),
  )
  const line = (cells: string[]) => console.log(`| ${cells.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |`)
  line(['figure', 'median', 'range', 'aim'])
  line(widths.map((width) => '-'.repeat(width)))
  for (const row of rows) line(row)
  const [load = 0] = loadavg()
  const processors = availableParallelism()
  if (load > processors / 2)
    console.log(`The machine was busy (load ${load.toFixed(1)} on ${processors}): times are longer than they need be.`)
  const rounded = (value: number) => Math.round(value * 10) / 10
  console.log(
    JSON.stringify(
      figures.map(({ name, unit, values, aim }) => ({
        name,
        unit,
        median: rounded(median(values)),
        values: values.map(rounded),
        ...(aim === undefined ? {} : { aim }),
      })),
    ),
  )
}
