/** What checkpoints leave out, counted for the person (F-1006): of it no change by a command is found, and none undone. */
import { coveredBytesMax, coveredFilesMax } from '../../preload/contract/limits.ts'
import type { FilePath } from './paths.ts'
import type { SearchProgram } from './search-program.ts'

/** Files that ignore rules leave out, and those that are too large; null where the folder has too many to count. */
export type Uncovered = { ignored: number | null; large: number | null }

const countingMs = 10_000
const countedMax = 1_000_000

/** Null where no checkpoints are kept at all (F-1007). Throws as the search program does, or the signal's reason. */
export async function countUncovered(
  program: SearchProgram,
  root: FilePath,
  signal: AbortSignal,
  deadline = performance.now() + countingMs,
): Promise<Uncovered | null> {
  const count = async (noIgnore: boolean, most: number, args: string[] = []): Promise<number | null> => {
    let files = 0
    const { cut } = await program.names({ root, args, noIgnore, deadline, signal, onName: () => ++files <= most })
    return cut === 'time' ? null : files
  }
  const less = (all: number | null, part: number | null): number | null =>
    all === null || part === null ? null : Math.max(0, all - part)
  // The small ones first: in a folder full of ignored files they are told all the same.
  const listed = await count(false, coveredFilesMax)
  if (listed !== null && listed > coveredFilesMax) return null
  const small = await count(false, coveredFilesMax, ['--max-filesize', `${coveredBytesMax}`])
  const all = await count(true, countedMax)
  return { large: less(listed, small), ignored: all !== null && all > countedMax ? null : less(all, listed) }
}
