/** The preload script: one CommonJS file, because a sandboxed preload can be nothing else. */
import { resolve } from 'node:path'
import { defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  logLevel: 'warn',
  publicDir: false,
  ssr: { noExternal: true, external: ['electron'] },
  build: {
    ssr: true,
    target: 'chrome140',
    outDir: 'out/preload',
    emptyOutDir: false,
    minify: false,
    sourcemap: false,
    rolldownOptions: {
      input: { preload: resolve(import.meta.dirname, 'preload/preload.ts') },
      external: ['electron'],
      output: { format: 'cjs', entryFileNames: 'preload.cjs', codeSplitting: false },
    },
  },
})
