/** What checkpoints leave out, counted for the person (F-1006): of it no change by a command is found, and none undone. */
import { coveredBytesMax } from '../../preload/contract/limits.ts'
import { LatheError } from '../../preload/contract/errors.ts'
import type { FilePath } from './paths.ts'
import type { SearchProgram } from './search-program.ts'

/** Files that ignore rules leave out, and those that are too large; null where the folder has too many to count. */
export type Uncovered = { ignored: number | null; large: number | null }

const countingMs = 10_000
const countedMax = 1_000_000

/** Throws as the search program does, or the signal's reason. */
export async function countUncovered(
  program: SearchProgram,
  root: FilePath,
  signal: AbortSignal,
  deadline = performance.now() + countingMs,
): Promise<Uncovered> {
  const count = async (noIgnore: boolean, args: string[] = []): Promise<number> => {
    let files = 0
    const end = await program.run({
      root,
      args: ['--files', '--null', ...args],
      noIgnore,
      deadline,
      separator: '\0',
      maxLineBytes: 16 * 1024,
      signal,
      onLine: () => ++files < countedMax,
    })
    if (end.cut !== 'no') throw new LatheError('search.budget', 'There are too many files to count.')
    return files
  }
  const orNull = (counted: Promise<number>): Promise<number | null> =>
    counted.catch((error: unknown) => {
      if (error instanceof LatheError && error.code === 'search.budget') return null
      throw error
    })
  const less = (all: number | null, part: number | null): number | null =>
    all === null || part === null ? null : Math.max(0, all - part)
  // The small ones first: in a folder full of ignored files they are told all the same.
  const listed = await orNull(count(false))
  const small = await orNull(count(false, ['--max-filesize', `${coveredBytesMax}`]))
  return { large: less(listed, small), ignored: less(await orNull(count(true)), listed) }
}
