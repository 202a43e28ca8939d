import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['{main,preload,renderer,scripts,bench,e2e}/**/*.test.{ts,tsx}', '*.test.ts'],
    exclude: ['**/node_modules/**', 'out/**'],
    // Style sheets reach tests as text only where one asks for them by `?raw`.
    css: { include: /tokens\.css/ },
    testTimeout: 20_000,
    hookTimeout: 20_000,
    pool: 'forks',
  },
})
