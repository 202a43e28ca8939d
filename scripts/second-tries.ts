/** A reporter of Vitest: the tests that passed only when they were run a second time, as a list in test-results. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Reporter, TestCase } from 'vitest/node'
import { root } from './steps.ts'

export const secondTriesFile = join(root, 'test-results/second-tries.json')

export default class SecondTries implements Reporter {
  readonly #names: string[] = []

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky) this.#names.push(`${test.module.relativeModuleId}: ${test.fullName}`)
  }

  async onTestRunEnd(): Promise<void> {
    await writeFile(secondTriesFile, JSON.stringify(this.#names))
  }
}
