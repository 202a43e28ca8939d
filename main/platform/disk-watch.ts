/** Free space of a folder's disk, looked at now and then, so that a warning comes before the first failing save (Z-223). */
import { statfs } from 'node:fs/promises'

const everyMs = 60_000
/** Smaller moves are not told. */
const stepBytes = 16 * 1024 * 1024

/** Bytes that may be used on the disk of `folder`; null where the system does not say. */
export async function freeBytes(folder: string): Promise<number | null> {
  const disk = await statfs(folder).catch(() => null)
  return disk ? disk.bavail * disk.bsize : null
}

/** Tells the free bytes at once and when they have moved by 16 MiB or more; answers the function that ends it. */
export function watchDisk(folder: string, tell: (free: number | null) => void): () => void {
  let told: number | null | undefined
  const look = async (): Promise<void> => {
    const free = await freeBytes(folder)
    if (told !== undefined && free !== null && told !== null && Math.abs(free - told) < stepBytes) return
    told = free
    tell(free)
  }
  void look()
  const timer = setInterval(() => void look(), everyMs)
  timer.unref()
  return () => clearInterval(timer)
}
