import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { runCommand } from '../exec/command.ts'
import { checkSpelling, pathKey } from './path-spelling.ts'
import { notFound, openChecked, type Place } from './paths.ts'
import { isProtected, isSecretName } from './sensitive-paths.ts'
import { codeOf, failureOf, makeWorkspace, type TestWorkspace } from './test-workspace.ts'

let workspace: TestWorkspace

beforeEach(async () => {
  workspace = await makeWorkspace()
})
afterEach(() => workspace[Symbol.asyncDispose]())

const resolve = (path: string, place: Place = workspace.place) => workspace.paths.resolve(place, path)
const read = async (path: string): Promise<string> => {
  const handle = await openChecked(await resolve(path))
  try {
    return await handle.readFile('utf8')
  } finally {
    await handle.close()
  }
}

describe('the boundary', () => {
  test('FA-1 F-103 F-105 a sibling whose name begins alike is outside, and so is a link that leads out', async () => {
    await workspace.put('../app2/x', '')
    await symlink('../app2', join(workspace.folder, 'l'))
    expect(await resolve('../app2/x')).toMatchObject({ inside: false, real: join(dirname(workspace.folder), 'app2/x') })
    const linked = await resolve('l/x')
    expect(linked).toMatchObject({
      inside: false,
      absolute: join(workspace.folder, 'l/x'),
      real: join(dirname(workspace.folder), 'app2/x'),
    })
    expect(linked.shown).toBe(linked.real)
  })

  test('F-103 dots are folded in the text, before links', async () => {
    await workspace.put('../outside/secret', '')
    await workspace.put('secret', '')
    await symlink('../outside', join(workspace.folder, 'l'))
    expect(await resolve('l/../secret')).toMatchObject({ inside: true, shown: 'secret' })
  })

  test('F-103 a link to nothing counts as where a write would land', async () => {
    await symlink('../outside.txt', join(workspace.folder, 'l'))
    expect(await resolve('l')).toMatchObject({
      inside: false,
      kind: 'missing',
      real: join(dirname(workspace.folder), 'outside.txt'),
    })
    await symlink('b', join(workspace.folder, 'a'))
    await symlink('a', join(workspace.folder, 'b'))
    expect(await codeOf(resolve('a'))).toBe('path.unresolvable')
  })

  test('F-104 added folders are roots, read-only or not', async () => {
    await workspace.put('../more/x', '')
    const more = join(dirname(workspace.folder), 'more')
    expect(
      await resolve('../more/x', { ...workspace.place, extraFolders: [{ path: more, writable: true }] }),
    ).toMatchObject({
      inside: true,
      writable: true,
    })
    expect(
      await resolve(join(more, 'x'), { ...workspace.place, extraFolders: [{ path: more, writable: false }] }),
    ).toMatchObject({ inside: true, writable: false })
  })

  test('F-104 of folders within each other the deepest says whether it may be written', async () => {
    await workspace.put('vendor/x', '')
    await workspace.put('../more/own/x', '')
    const more = join(dirname(workspace.folder), 'more')
    const extraFolders = [
      { path: join(workspace.folder, 'vendor'), writable: false },
      { path: more, writable: false },
      { path: join(more, 'own'), writable: true },
    ]
    const writable = async (path: string) => (await resolve(path, { ...workspace.place, extraFolders })).writable
    expect(await writable('y')).toBe(true)
    expect(await writable('vendor/x')).toBe(false)
    expect(await writable(join(more, 'x'))).toBe(false)
    expect(await writable(join(more, 'own/x'))).toBe(true)
  })

  test('F-110 Z-46 the data folder is out of reach, but for the scratch folder of the session', async () => {
    await workspace.put('../data/tmp/s1/x', '')
    await workspace.put('../data/tmp/s2/x', '')
    expect(await codeOf(resolve('../data/lathe.db'))).toBe('path.protected')
    expect(await codeOf(resolve('../data/tmp/s2/x'))).toBe('path.protected')
    expect(await resolve('../data/tmp/s1/x')).toMatchObject({ inside: true, writable: true })
    expect(await workspace.paths.outOfReach(dirname(workspace.folder))).toContain(workspace.dataFolder)
    expect(await workspace.paths.outOfReach(workspace.folder)).toEqual([])
  })

  test('F-110 Z-46 the program itself is never written', async () => {
    await using own = await makeWorkspace()
    const paths = new (own.paths.constructor as typeof import('./paths.ts').Paths)({
      dataFolder: own.dataFolder,
      programFolder: own.folder,
    })
    const path = await paths.resolve(own.place, 'main.js')
    expect(await codeOf(async () => paths.checkWritable(path))).toBe('path.protected')
  })

  test('F-113 a workspace that is gone is missing, and nothing is made in its place', async () => {
    await rm(workspace.folder, { recursive: true })
    expect(await codeOf(resolve('a'))).toBe('workspace.missing')
    await mkdir(workspace.folder)
    expect(await resolve('a')).toMatchObject({ inside: true, kind: 'missing' })
  })
})

describe('spelling', () => {
  test('FA-2 F-102 F-108 what is no path, has no home, or is no file', async () => {
    expect(await codeOf(resolve(''))).toBe('path.invalid')
    expect(await codeOf(resolve('a\0b'))).toBe('path.invalid')
    expect(await codeOf(resolve('a'.repeat(4_097)))).toBe('path.invalid')
    expect(await codeOf(resolve('a'.repeat(300)))).toBe('path.invalid')
    expect(await codeOf(resolve('~nosuchuser/a'))).toBe('path.unresolvable')
    const env = { PATH: process.env['PATH'] ?? '' }
    await runCommand({ file: 'mkfifo', args: ['pipe'], cwd: workspace.folder, env, timeoutMs: 5_000, maxBytes: 100 })
    expect(await codeOf(read('pipe'))).toBe('file.not_regular')
    expect(await codeOf(read('/dev/zero'))).toBe('file.not_regular')
  })

  test('F-101 F-102 the home folder by ~ and by the name of its owner', async () => {
    await workspace.put('./~name', 'here')
    for (const path of ['~/x', `~${userInfo().username}/x`])
      expect((await resolve(path)).real).toBe(join(workspace.home, 'x'))
    expect((await resolve('~')).real).toBe(workspace.home)
    expect(await read('./~name')).toBe('here')
  })

  test('K-10 names with blanks, CJK, emoji, quotes, dashes, backslashes and newlines are just names', async () => {
    const names = [
      'a b.txt',
      '日本語.txt',
      '😀.txt',
      `it's "q".txt`,
      '-rf',
      '--help',
      'C:\\Users\\unicorn',
      'new\nline',
      '$(x)`y`;&',
      'ünï',
      'n'.repeat(255),
      `${'d'.repeat(150)}/${'e'.repeat(150)}`,
    ]
    for (const name of names) {
      await workspace.put(name, name)
      expect(await read(name)).toBe(name)
      expect((await resolve(name)).shown).toBe(name)
    }
  })

  test('K-10 F-109 Windows spellings are refused unseen', async () => {
    const fault = (path: string) => codeOf(async () => checkSpelling(path, 'win32'))
    for (const path of [
      'NUL.txt',
      'a\\con',
      'com1',
      'LPT9.log',
      'a.txt:s',
      'C:x',
      '\\\\.\\pipe\\p',
      '//server/share',
      '\\\\?\\C:\\x',
      'a.',
      'b ',
      'x/CON /y',
    ])
      expect(await fault(path)).toBe('path.invalid')
    for (const path of ['C:\\Users\\unicorn', 'c:/x/..\\y', 'console.txt', 'a b', '..\\x', 'com10'])
      expect(() => checkSpelling(path, 'win32')).not.toThrow()
  })

  test('F-107 names are the same in any Unicode form, and in any case where the disk says so', async () => {
    const composed = 'caf\u00e9.txt'
    const decomposed = composed.normalize('NFD')
    await workspace.put(decomposed, 'x')
    expect(await read(composed)).toBe('x')
    expect((await resolve(composed)).key).toBe((await resolve(decomposed)).key)
    expect([pathKey('/A', true), pathKey('/A', false)]).toEqual(['/a', '/A'])
    const folded = await makeWorkspace({ ignoresCase: async () => true })
    expect((await folded.paths.resolve(folded.place, 'A.ts')).key).toBe(
      (await folded.paths.resolve(folded.place, 'a.ts')).key,
    )
    expect((await resolve('A.ts')).key).not.toBe((await resolve('a.ts')).key)
    await folded[Symbol.asyncDispose]()
  })

  test('F-112 paths are shown relative to the workspace', async () => {
    expect((await resolve('.')).shown).toBe('.')
    expect((await resolve(join(workspace.folder, 'a/../b'))).shown).toBe('b')
    expect((await resolve('/nowhere')).shown).toBe('/nowhere')
  })
})

describe('opening', () => {
  test('FA-3 F-106 a folder or file replaced by a link after the check is not read', async () => {
    await workspace.put('sub/a', 'mine')
    await workspace.put('../outside/a', 'theirs')
    const checked = await resolve('sub/a')
    await rename(join(workspace.folder, 'sub'), join(workspace.folder, 'old'))
    await symlink('../outside', join(workspace.folder, 'sub'))
    expect(await codeOf(openChecked(checked))).toBe('path.swapped')

    await writeFile(join(workspace.folder, 'f'), 'x')
    const file = await resolve('f')
    await rm(join(workspace.folder, 'f'))
    await symlink('../outside/a', join(workspace.folder, 'f'))
    expect(await codeOf(openChecked(file))).toBe('path.swapped')
  })

  test('F-303 F-304 a folder is told from a missing file, which names close ones', async () => {
    await workspace.put('src/server.ts', '')
    await workspace.put('src/service.ts', '')
    await workspace.put('src/zebra.md', '')
    expect(await codeOf(read('src'))).toBe('file.is_directory')
    const error = await notFound(await resolve('src/sever.ts'))
    expect([error.code, error.hint]).toEqual(['file.not_found', 'Close names: src/server.ts, src/service.ts'])
    expect((await failureOf(read('scr/server.ts'))).hint).toBe('Close names: src')
  })
})

describe('sensitive paths', () => {
  test('Z-45 what is protected inside a workspace', () => {
    for (const path of [
      '.git/config',
      '.git',
      'sub/.GIT/hooks/x',
      '.lathe/policy.json',
      '.vscode/tasks.json',
      'a/.envrc',
      '.husky/pre-commit',
      'AGENTS.md',
      'pkg/claude.md',
      '.github/copilot-instructions.md',
    ])
      expect([path, isProtected(path)]).toEqual([path, true])
    for (const path of ['.gitignore', 'git/config', '.vscode/settings.json', 'src/agents.ts', 'tasks.json'])
      expect([path, isProtected(path)]).toEqual([path, false])
  })

  test('Z-47 what is secret by name, and by the folder outside', async () => {
    for (const name of [
      '.env',
      '.env.local',
      '.ENV',
      'a.pem',
      'b.key',
      'id_rsa',
      'id_rsa.old',
      'id_ed25519.pub',
      '.npmrc',
      '.netrc',
      '.pypirc',
      'x.kdbx',
      'credentials.json',
      'credentials-prod.json',
    ])
      expect([name, isSecretName(name)]).toEqual([name, true])
    for (const name of [
      '.env.example',
      '.env.local.example',
      'env',
      'key.ts',
      'monkey',
      '.environment',
      'credentials.ts',
    ])
      expect([name, isSecretName(name)]).toEqual([name, false])
    expect(await resolve('~/.ssh/config')).toMatchObject({ secret: true, inside: false })
    expect(await resolve('~/.sshx')).toMatchObject({ secret: false })
    await workspace.put('.env', '')
    await symlink('.env', join(workspace.folder, 'notes.txt'))
    expect(await resolve('notes.txt')).toMatchObject({ secret: true, inside: true })
  })
})
