/** The built page as a closed list of files: a request names an entry of it, never a path on disk. */
import { access, readdir } from 'node:fs/promises'
import { dirname, extname, join, relative, sep } from 'node:path'

const mediaTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.ttf': 'font/ttf',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
}

export type PageFile = { path: string; mediaType: string }

/** By URL path, `/` being the page; files of other types are left out. An unbuilt folder gives an empty list. */
export async function listPageFiles(folder: string): Promise<ReadonlyMap<string, PageFile>> {
  const files = new Map<string, PageFile>()
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])) {
    const mediaType = mediaTypes[extname(entry.name)]
    if (!entry.isFile() || !mediaType) continue
    const path = join(entry.parentPath, entry.name)
    files.set(`/${relative(folder, path).split(sep).map(encodeURIComponent).join('/')}`, { path, mediaType })
  }
  const page = files.get('/index.html')
  if (page) files.set('/', page)
  return files
}

/** The folder of the built page, found upwards from here: the same from source, from the build and from the package. */
export async function pageFolder(): Promise<string> {
  for (let at = import.meta.dirname; ; at = dirname(at)) {
    const folder = join(at, 'out', 'renderer')
    if (
      await access(join(folder, 'index.html')).then(
        () => true,
        () => false,
      )
    )
      return folder
    if (dirname(at) === at) return folder
  }
}
