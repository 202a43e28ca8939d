/** Where the windows were and what each showed, kept in the data folder and restored on displays that are there (S-121). */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { Id } from '../../preload/contract/ids.ts'
import { writePrivateFile } from '../platform/private-file.ts'

export const windowsMax = 8

const WindowState = z.object({
  x: z.number().int(),
  y: z.number().int(),
  width: z.number().int().min(400).max(20_000),
  height: z.number().int().min(300).max(20_000),
  maximized: z.boolean(),
  sessionId: Id.nullable(),
})
export type WindowState = z.infer<typeof WindowState>
type Area = { x: number; y: number; width: number; height: number }

/** Empty where none was kept, or what was kept cannot be used. */
export async function readWindows(home: string): Promise<WindowState[]> {
  try {
    return z
      .array(WindowState)
      .max(windowsMax)
      .parse(JSON.parse(await readFile(fileIn(home), 'utf8')))
  } catch {
    return []
  }
}

export async function writeWindows(home: string, windows: readonly WindowState[]): Promise<void> {
  await writePrivateFile(fileIn(home), JSON.stringify(windows))
}

function fileIn(home: string): string {
  return join(home, 'windows.json')
}

/** The kept bounds if enough of the title bar is on some display; else only the size, for the primary one. */
export function boundsOn(
  displays: readonly Area[],
  state: WindowState | null,
): Partial<Area> & { width: number; height: number } {
  if (!state) return { width: 1_280, height: 840 }
  const { x, y, width, height } = state
  const reachable = displays.some(
    (area) => x + width - 100 > area.x && x + 100 < area.x + area.width && y >= area.y && y + 40 < area.y + area.height,
  )
  return reachable ? { x, y, width, height } : { width, height }
}
