/** The window's page. Relative addresses, so that the same files serve from the shell's scheme and from the web host. */
import tailwind from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { resolve } from 'node:path'
import { defineConfig } from 'vite'
import { filesByUrl } from './scripts/files-by-url.ts'

export default defineConfig({
  root: resolve(import.meta.dirname, 'renderer'),
  logLevel: 'warn',
  base: './',
  publicDir: resolve(import.meta.dirname, 'assets/public'),
  plugins: [filesByUrl(resolve(import.meta.dirname, 'renderer')), react(), tailwind()],
  // Chromium of the shell, and browsers of the last two years for the web host: `light-dark()` stays as written.
  build: {
    target: ['chrome130', 'firefox132', 'safari18'],
    outDir: resolve(import.meta.dirname, 'out/renderer'),
    emptyOutDir: false,
    sourcemap: false,
    assetsInlineLimit: 0,
    modulePreload: {
      polyfill: false,
      // Scripts are preloaded by links of a document, and what is loaded later may be loaded by a worker, which has none.
      resolveDependencies: (_file, needed, { hostType }) =>
        hostType === 'html' ? needed : needed.filter((file) => file.endsWith('.css')),
    },
    chunkSizeWarningLimit: 4_000,
  },
  server: { host: '127.0.0.1', port: 5173, strictPort: true },
})
