import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { breach } from './walls.ts'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../..')

const breaches: [from: string, imports: string][] = [
  ['renderer/app/window.tsx', '../../main/sessions/actor.ts'],
  ['renderer/app/window.tsx', 'node:fs'],
  ['renderer/app/window.tsx', 'electron'],
  ['renderer/app/window.tsx', '../../preload/preload.ts'],
  ['main/sessions/actor.ts', '../../renderer/state/session-store.ts'],
  ['main/platform/config.ts', '../storage/storage.ts'],
  ['main/files/read.ts', '../tools/tool.ts'],
  ['main/agent/steps.ts', '../turns/queue.ts'],
  ['main/turns/queue.ts', '../sessions/actor.ts'],
  ['main/sessions/actor.ts', '../../main/workbench.ts'],
  ['main/sessions/actor.ts', '../helpers/anything.ts'],
  ['main/sessions/actor.ts', 'better-sqlite3'],
  ['main/tools/shell.ts', 'node:child_process'],
  ['main/tools/shell.ts', 'node-pty'],
  ['main/agent/steps.ts', '@ai-sdk/openai'],
  ['main/tools/web-fetch.ts', 'undici'],
  ['main/tools/web-fetch.ts', 'node:https'],
  ['main/transport/ports.ts', 'electron'],
  ['main/tools/tool.ts', '../../e2e/model-server/server.ts'],
  ['main/sessions/sessions.ts', './test-scene.ts'],
  ['preload/contract/routes.ts', 'node:path'],
  ['preload/contract/routes.ts', '../../main/tools/tool.ts'],
]

const fine: [from: string, imports: string][] = [
  ['renderer/app/window.tsx', '../../preload/contract/routes.ts'],
  ['renderer/app/window.tsx', 'react'],
  ['main/storage/worker.ts', 'better-sqlite3'],
  ['main/files/search.ts', '../exec/process.ts'],
  ['main/tools/shell.ts', '../exec/process.ts'],
  ['main/shell/window.ts', 'electron'],
  ['main/shell/window.ts', '../platform/config.ts'],
  ['main/workbench.ts', './sessions/actor.ts'],
  ['main/cli.ts', './workbench.ts'],
  ['main/exec/process.test.ts', '../../e2e/model-server/server.ts'],
  ['main/sessions/test-scene.ts', '../../e2e/model-server/server.ts'],
  ['main/storage/blobs.test.ts', 'node:child_process'],
  ['preload/preload.ts', 'electron'],
  ['preload/contract/routes.ts', 'zod'],
]

test.each(breaches)('%s may not import %s', (from, imports) => {
  expect(breach(from, imports)).toEqual(expect.any(String))
})

test.each(fine)('%s may import %s', (from, imports) => {
  expect(breach(from, imports)).toBeUndefined()
})

test('the linter itself finds every way of writing a planted breach', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'lathe-walls-'))
  try {
    const planted = {
      'main/files/static.ts': `import { x } from '../tools/tool.ts'\nconsole.log(x)\n`,
      'main/files/types.ts': `import type { X } from '../tools/tool.ts'\nexport type Y = X\n`,
      'main/files/again.ts': `export { x } from '../tools/tool.ts'\n`,
      'main/files/all.ts': `export * from '../tools/tool.ts'\n`,
      'main/files/later.ts': `export const later = () => import('../tools/tool.ts')\n`,
      'main/files/inline.ts': `export type Z = import('../tools/tool.ts').X\n`,
      'main/tools/tool.ts': `export const x = 1\nexport type X = number\n`,
    }
    for (const [file, text] of Object.entries(planted)) {
      await mkdir(dirname(join(folder, file)), { recursive: true })
      await writeFile(join(folder, file), text)
    }
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
    await writeFile(
      join(folder, '.oxlintrc.json'),
      JSON.stringify({
        jsPlugins: [join(root, 'scripts/lint/walls.ts')],
        categories: { correctness: 'off' },
        rules: { 'house/walls': 'error' },
      }),
    )
    const oxlint = join(root, 'node_modules/oxlint/bin/oxlint')
    const failed = await run(process.execPath, [oxlint, '-f', 'unix', 'main'], { cwd: folder }).catch((error) => error)
    const caught = [...String(failed.stdout).matchAll(/main\/files\/(\w+)\.ts:.*house\(walls\)/g)].map(
      ([, name]) => name,
    )
    expect(caught.sort()).toEqual(['again', 'all', 'inline', 'later', 'static', 'types'])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
