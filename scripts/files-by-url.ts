/**
 * `new URL('./worker.ts', import.meta.url)` in a source file names a module of its own (a worker): it becomes an entry of
 * the same build, which shares its chunks with all others, and the URL that of the built file. So the same line works from
 * source and from the build.
 */
import { existsSync } from 'node:fs'
import { dirname, posix, relative, resolve } from 'node:path'
import type { Plugin } from 'vite'

const named = /new URL\(\s*(['"])(\.{1,2}\/[^'"]+\.\w+)\1\s*,\s*import\.meta\.url\s*\)/g

/**
 * For the sources in `folder`, an absolute path. With `inPlace` a module keeps its place and name in the output, and any
 * other file named so (`.wasm`, `.md`) is copied to it; without, modules alone are meant and named as other entries are.
 */
export function filesByUrl(folder: string, { inPlace = false } = {}): Plugin {
  return {
    name: 'files-by-url',
    apply: 'build',
    enforce: 'pre',
    async transform(code, id) {
      if (!id.startsWith(folder) || !code.includes('import.meta.url')) return null
      let result = code
      for (const [text, , path = ''] of code.matchAll(named)) {
        const file = resolve(dirname(id), path)
        const isModule = /\.tsx?$/.test(file)
        if (!isModule && !inPlace) continue
        if (!existsSync(file)) throw new Error(`${id} names ${path}, which does not exist`)
        const name = relative(folder, file)
        const reference = isModule
          ? this.emitFile({
              type: 'chunk',
              id: file,
              ...(inPlace ? { fileName: name.replace(/\.tsx?$/, '.js') } : {}),
            })
          : this.emitFile({ type: 'asset', name, source: await this.fs.readFile(file) })
        result = result.replace(text, `new URL(import.meta.ROLLUP_FILE_URL_${reference})`)
      }
      return result === code ? null : { code: result, map: null }
    },
    // Vite would answer an address on a web server.
    resolveFileUrl({ fileName, chunkId }) {
      return `new URL(${JSON.stringify(posix.relative(posix.dirname(chunkId), fileName))}, import.meta.url).href`
    },
  }
}
