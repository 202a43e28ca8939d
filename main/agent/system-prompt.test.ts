import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runCommand } from '../exec/command.ts'
import { joinPrompt, systemPrompt } from './system-prompt.ts'

let root: string
let workspace: string

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'lathe-prompt-')))
  workspace = join(root, 'app')
  await mkdir(workspace)
})
afterEach(() => rm(root, { recursive: true }))

const prompt = async () => joinPrompt(await systemPrompt({ workspace, tools: [], shell: 'bash' }))

test('C-16 the instructions are those of the first file that is there, also through a link within the workspace', async () => {
  await mkdir(join(workspace, 'docs'))
  await writeFile(join(workspace, 'docs/agents.md'), 'Use tabs.')
  await symlink('docs/agents.md', join(workspace, 'AGENTS.md'))
  await writeFile(join(workspace, 'CLAUDE.md'), 'Use spaces.')
  expect(await prompt()).toContain('Instructions of this workspace (AGENTS.md)\n\nUse tabs.')
  expect(await prompt()).not.toContain('spaces')
})

test('F-104 folders that were added are named, with what may be done in them', async () => {
  const extraFolders = [
    { path: '/srv/docs', writable: false },
    { path: '/srv/site', writable: true },
  ]
  const told = joinPrompt(await systemPrompt({ workspace, extraFolders, tools: [], shell: 'bash' }))
  expect(told).toContain('Also open to you, to read only: /srv/docs\nAlso open to you: /srv/site\n')
})

test('C-16 a link that leads out of the workspace, or to its secrets, is no instruction', async () => {
  await writeFile(join(root, 'key'), 'SECRET OUTSIDE')
  await writeFile(join(workspace, '.env'), 'SECRET=INSIDE')
  await symlink(join(root, 'key'), join(workspace, 'AGENTS.md'))
  await symlink('.env', join(workspace, 'CLAUDE.md'))
  expect(await prompt()).not.toContain('SECRET')
})

test.skipIf(process.platform === 'win32')('C-16 a pipe of that name holds nothing up', async () => {
  const env = { PATH: process.env['PATH']! }
  await runCommand({ file: 'mkfifo', args: ['AGENTS.md'], cwd: workspace, env, timeoutMs: 30_000, maxBytes: 1_000 })
  await writeFile(join(workspace, 'CLAUDE.md'), 'Use spaces.')
  expect(await prompt()).toContain('Use spaces.')
})
