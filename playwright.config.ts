import { defineConfig } from '@playwright/test'
import { findBrowser, sandboxArguments } from './scripts/browser.ts'

const browser = await findBrowser()

export default defineConfig({
  testDir: 'e2e',
  testMatch: '**/*.spec.ts',
  outputDir: 'test-results/e2e',
  // Each test starts its own host on its own data folder, so they can run side by side.
  fullyParallel: true,
  workers: 2,
  retries: 0,
  forbidOnly: Boolean(process.env['CI']),
  timeout: 45_000,
  expect: { timeout: 10_000 },
  reporter: 'list',
  use: {
    headless: true,
    actionTimeout: 10_000,
    navigationTimeout: 20_000,
    viewport: { width: 1280, height: 800 },
    launchOptions: { ...(browser ? { executablePath: browser } : {}), args: sandboxArguments() },
    trace: 'retain-on-failure',
  },
})
