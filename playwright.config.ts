import { defineConfig } from '@playwright/test'
import { type HostName, hasElectron } from './e2e/host-under-test.ts'
import { findBrowser, sandboxArguments } from './scripts/browser.ts'

const browser = await findBrowser()

const desktop = {
  /** The main flows run on every host. */
  main: 'window-{turn,changes}.spec.ts',
  shell: 'shell*.spec.ts',
}
const electron = await hasElectron()
if (!electron && process.env['TEST_WORKER_INDEX'] === undefined)
  console.log('Electron’s own binary is not here (node_modules/electron/dist): the window is proved on its stand-in.')

export default defineConfig<{ host: HostName }>({
  testDir: 'e2e',
  testMatch: '**/*.spec.ts',
  outputDir: 'test-results/e2e',
  // Each test starts its own host on its own data folder, so they can run side by side.
  fullyParallel: true,
  workers: 2,
  // As in vitest.config.ts.
  retries: process.env['CI'] ? 1 : 0,
  forbidOnly: Boolean(process.env['CI']),
  // What a test waits for has a limit of its own; this one only ends what never ends, on a machine as busy as may be.
  timeout: 90_000,
  expect: { timeout: 10_000 },
  reporter: 'list',
  projects: [
    { name: 'web', testIgnore: desktop.shell },
    { name: 'stand-in', testMatch: [desktop.main, desktop.shell], use: { host: 'stand-in' }, timeout: 120_000 },
    ...(electron ? [{ name: 'electron', testMatch: desktop.main, use: { host: 'electron' as const } }] : []),
  ],
  use: {
    headless: true,
    actionTimeout: 10_000,
    navigationTimeout: 20_000,
    viewport: { width: 1280, height: 800 },
    launchOptions: { ...(browser ? { executablePath: browser } : {}), args: sandboxArguments() },
    // A trace of every test is half as much work again, and nobody looks at those of a build machine.
    trace: process.env['CI'] ? 'off' : 'retain-on-failure',
  },
})
