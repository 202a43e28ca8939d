/** Command lines judged in a real workspace, for tests: what they would do, and what would let them run. */
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { Paths } from '../files/paths.ts'
import type { Effect } from '../tools/tool.ts'
import { commandEffects, type CommandSetting } from './shell-command.ts'

export const root = await realpath(await mkdtemp(join(tmpdir(), 'lathe-judge-')))
export const home = join(root, 'home')
export const workspace = join(root, 'work/app')
export const dataFolder = join(root, 'data')
afterAll(() => rm(root, { recursive: true }))
beforeAll(async () => {
  for (const folder of [join(home, '.ssh'), join(workspace, 'src'), dataFolder, join(workspace, 'deep/er')])
    await mkdir(folder, { recursive: true })
  await writeFile(join(workspace, 'src/a.ts'), '')
  await symlink('/etc/passwd', join(workspace, 'null'))
  await symlink(join(home, '.ssh/id_rsa'), join(workspace, 'plain'))
})

const paths = new Paths({ dataFolder, home })
const setting: CommandSetting = {
  shell: 'bash',
  folder: workspace,
  workspace,
  home,
  dataFolder,
  gitOnlyReads: async () => true,
  gitKnowsSecrets: async () => false,
  resolve: (absolute) => paths.resolve({ sessionId: 's', workspace, extraFolders: [] }, absolute),
}

export const judge = (command: string, more: Partial<CommandSetting> = {}): Promise<Effect[]> =>
  commandEffects(command, { ...setting, ...more })

type CommandEffect = Extract<Effect, { kind: 'command' }>
export const commandsOf = (effects: Effect[]): CommandEffect[] => effects.filter((effect) => effect.kind === 'command')

/** As the policy does it (Z-82): only fully known words of a command that is not opaque fit a rule. */
function fits(effect: Effect, pattern: string): boolean {
  if (effect.kind !== 'command' || effect.opaque || effect.neverAutomatic || effect.words.includes(null)) return false
  const want = pattern.split(' ')
  const rest = want.at(-1) === '**'
  if (rest) want.pop()
  return (
    (rest ? effect.words.length >= want.length : effect.words.length === want.length) &&
    want.every((word, at) => word === effect.words[at])
  )
}

/** Whether a rule `allow PATTERN` alone would let the command run in mode `ask`; read-only commands count as others. */
export const ridesOn = (effects: Effect[], pattern: string): boolean =>
  effects.every((effect) => fits(effect, pattern) || (effect.kind === 'read' && effect.inside && !effect.secret))

/** Whether mode `read-only` would let it run. */
export const onlyReads = (effects: Effect[]): boolean =>
  effects.every((effect) =>
    effect.kind === 'command' ? effect.readOnly : effect.kind === 'read' && effect.inside && !effect.secret,
  )
