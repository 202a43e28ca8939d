/** Running the tools of the check and test commands one after another, with a line about each. */
import { spawn } from 'node:child_process'
import { resolve } from 'node:path'

export const root = resolve(import.meta.dirname, '..')

export type Step = {
  name: string
  /** Path of the tool's script below node_modules, or of ours below the repository. */
  script: string
  args: string[]
  env?: Record<string, string> | undefined
  /** Milliseconds after which it is ended and counts as failed. */
  limit?: number | undefined
}

/** Runs one tool on this Node with its output shown; answers whether it succeeded. */
export async function runStep({ name, script, args, env, limit = 10 * 60_000 }: Step): Promise<boolean> {
  const from = performance.now()
  console.log(`\n> ${name}`)
  const passed = await new Promise<boolean>((done) => {
    const child = spawn(process.execPath, [resolve(root, script), ...args], {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, ...env },
      timeout: limit,
    })
    child.once('error', () => done(false))
    child.once('close', (code) => done(code === 0))
  })
  console.log(`${passed ? 'ok' : 'FAILED'}: ${name}, ${((performance.now() - from) / 1000).toFixed(1)} s`)
  return passed
}
