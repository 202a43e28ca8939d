/** Where the window was, kept in the data folder and restored within a display that is there (S-121). */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { writePrivateFile } from '../platform/private-file.ts'

const WindowState = z.object({
  x: z.number().int(),
  y: z.number().int(),
  width: z.number().int().min(400).max(20_000),
  height: z.number().int().min(300).max(20_000),
  maximized: z.boolean(),
})
export type WindowState = z.infer<typeof WindowState>
type Area = { x: number; y: number; width: number; height: number }

/** Null where none was kept, or what was kept cannot be used. */
export async function readWindowState(home: string): Promise<WindowState | null> {
  try {
    return WindowState.parse(JSON.parse(await readFile(join(home, 'window.json'), 'utf8')))
  } catch {
    return null
  }
}

export async function writeWindowState(home: string, state: WindowState): Promise<void> {
  await writePrivateFile(join(home, 'window.json'), JSON.stringify(state))
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
