/**
 * The main process and its workers, as ES modules for Node 24 (which is what Electron embeds). Dependencies are bundled,
 * because `lathe run` starts several times faster from a few files than from some thousand; what is native or finds its
 * own files on disk stays in node_modules.
 */
import { existsSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, posix, relative, resolve } from 'node:path'
import { defineConfig, type Plugin } from 'vite'

const root = import.meta.dirname
const doors = ['main', 'cli', 'serve'].filter((door) => existsSync(resolve(root, `main/${door}.ts`)))

export const external = [
  'electron',
  'better-sqlite3',
  'node-pty',
  'sharp',
  '@parcel/watcher',
  // What sharp itself asks for.
  '@img/colour',
  'detect-libc',
  'semver',
  // And the watcher.
  'picomatch',
  'is-glob',
  'is-extglob',
  '@vscode/ripgrep',
  'web-tree-sitter',
  'tree-sitter-bash',
]

/**
 * `new URL('./worker.ts', import.meta.url)` in a source file names a module of its own (a worker): it becomes an entry,
 * and the URL that of the built file. Any other file named so (`.wasm`, `.md`) is copied beside. So the same line works
 * from source and from the build.
 */
function filesByUrl(): Plugin {
  const named = /new URL\(\s*(['"])(\.{1,2}\/[^'"]+\.\w+)\1\s*,\s*import\.meta\.url\s*\)/g
  return {
    name: 'files-by-url',
    enforce: 'pre',
    async transform(code, id) {
      if (!id.startsWith(resolve(root, 'main')) || !code.includes('import.meta.url')) return null
      const found = [...code.matchAll(named)]
      let result = code
      for (const [text, , path = ''] of found) {
        const file = resolve(dirname(id), path)
        if (!existsSync(file)) throw new Error(`${relative(root, id)} names ${path}, which does not exist`)
        const name = relative(resolve(root, 'main'), file)
        const reference = /\.tsx?$/.test(file)
          ? this.emitFile({ type: 'chunk', id: file, fileName: name.replace(/\.tsx?$/, '.js') })
          : this.emitFile({ type: 'asset', name, source: await this.fs.readFile(file) })
        result = result.replace(text, `new URL(import.meta.ROLLUP_FILE_URL_${reference})`)
      }
      return found.length > 0 ? { code: result, map: null } : null
    },
    // Vite would answer an address on a web server.
    resolveFileUrl({ fileName, chunkId }) {
      return `new URL(${JSON.stringify(posix.relative(posix.dirname(chunkId), fileName))}, import.meta.url).href`
    },
  }
}

/** What `bin/lathe` runs: it keeps the compiled code between starts, which takes a fifth off each. */
function commandLine(): Plugin {
  return {
    name: 'command-line',
    generateBundle() {
      this.emitFile({
        type: 'asset',
        fileName: 'lathe.js',
        source: `import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'
enableCompileCache(fileURLToPath(new URL('../compile-cache', import.meta.url)))
await import('./cli.js')
`,
      })
    },
  }
}

export default defineConfig({
  root,
  logLevel: 'warn',
  publicDir: false,
  plugins: [filesByUrl(), commandLine()],
  ssr: { noExternal: true, external },
  build: {
    ssr: true,
    ssrEmitAssets: true,
    target: 'node24',
    outDir: 'out/main',
    emptyOutDir: false,
    minify: false,
    sourcemap: true,
    rolldownOptions: {
      input: Object.fromEntries(doors.map((door) => [door, resolve(root, `main/${door}.ts`)])),
      external: (id: string) => isBuiltin(id) || external.some((name) => id === name || id.startsWith(`${name}/`)),
      output: { format: 'es', entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' },
    },
  },
})
