/**
 * Whether a folder is trusted: what was said of it, or of the nearest folder above it; where nothing was said, it is not
 * (Z-4, Z-5). Alike for the wall in main and for what a window tells.
 */
export function isFolderTrusted(path: string, said: (folder: string) => boolean | undefined): boolean {
  // What leads up again lies elsewhere than its spelling says.
  if (path.split(/[\\/]/).includes('..')) return false
  for (let folder = path; folder !== '';) {
    const trusted = said(folder)
    if (trusted !== undefined) return trusted
    const cut = Math.max(folder.lastIndexOf('/'), folder.lastIndexOf('\\'))
    folder = cut === 0 && folder.length > 1 ? folder[0]! : folder.slice(0, Math.max(0, cut))
  }
  return false
}
