import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

/** Storage threads, hosts and the workers of the tests start by the hundred: each finds its code compiled. */
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/compiled')

const never = ['**/node_modules/**', 'out/**']
/**
 * The contract and the window keep nothing on disk and start nothing that one file of tests could leave to the next: these
 * files share their workers. Those left out replace a module for themselves.
 */
const sharing = ['preload/**/*.test.ts', 'renderer/**/!(markdown|markdown-blocks|row-registry).test.{ts,tsx}']

export default defineConfig({
  test: {
    // Style sheets reach tests as text only where one asks for them by `?raw`.
    css: { include: /tokens\.css/ },
    // How long a machine takes is not what a test that waits for something is about: these end what never ends.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
    // A build machine runs a failed test once more, and the last lines name the tests that needed it.
    retry: process.env['CI'] ? 1 : 0,
    pool: 'forks',
    // Every core: much of the time a test waits for a disk, a process or a clock.
    maxWorkers: '100%',
    projects: [
      { extends: true, test: { name: 'sharing', include: sharing, exclude: never, isolate: false } },
      {
        extends: true,
        test: {
          name: 'alone',
          include: ['{main,preload,renderer,scripts,bench,e2e}/**/*.test.{ts,tsx}'],
          exclude: [...never, ...sharing],
        },
      },
    ],
  },
})
