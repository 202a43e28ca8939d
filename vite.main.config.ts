/**
 * The main process and its workers, as ES modules for Node 24 (which is what Electron embeds). Dependencies are bundled,
 * because `lathe run` starts several times faster from a few files than from some thousand; what is native or finds its
 * own files on disk stays in node_modules.
 */
import { existsSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { resolve } from 'node:path'
import { defineConfig, type Plugin } from 'vite'
import { filesByUrl } from './scripts/files-by-url.ts'

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
  plugins: [filesByUrl(resolve(root, 'main'), { inPlace: true }), commandLine()],
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
