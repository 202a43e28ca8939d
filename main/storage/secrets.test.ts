import { chmod, chown, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSecrets } from './secrets.ts'

const posix = process.platform !== 'win32'
let home: string

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'lathe-secrets-'))
})

afterEach(async () => {
  await rm(home, { recursive: true, force: true })
})

test('Z-111 without a keychain secrets lie in a private file, with a warning', async () => {
  const secrets = createSecrets({ home })
  expect(await secrets.source('lab')).toBe('none')
  await Promise.all([secrets.set('lab', 'k1'), secrets.set('shop', 'k2'), secrets.set('old', 'k3')])
  await secrets.set('old', null)
  expect(await createSecrets({ home }).get('lab')).toBe('k1')
  expect(await secrets.list()).toEqual(['lab', 'shop'])
  expect([await secrets.source('lab'), await secrets.source('old')]).toEqual(['file', 'none'])
  expect(secrets.warning).toMatch(/secrets\.json/)
  expect(await readdir(home)).toEqual(['secrets.json'])
  expect(await modeOf(join(home, 'secrets.json'), 0o600)).toBe(0o600)
})

test.runIf(posix)('Z-111 a wider mode is repaired', async () => {
  await writeFile(join(home, 'secrets.json'), '{"lab":"k1"}')
  await chmod(join(home, 'secrets.json'), 0o644)
  expect(await createSecrets({ home }).get('lab')).toBe('k1')
  expect((await stat(join(home, 'secrets.json'))).mode & 0o777).toBe(0o600)
})

test.runIf(posix && process.getuid?.() === 0)('Z-111 a file of another user is refused', async () => {
  await writeFile(join(home, 'secrets.json'), '{"lab":"k1"}')
  await chown(join(home, 'secrets.json'), 65_534, 65_534)
  await expect(createSecrets({ home }).get('lab')).rejects.toMatchObject({ code: 'config.invalid' })
})

test('a damaged file is refused and kept', async () => {
  await writeFile(join(home, 'secrets.json'), '{"lab":')
  const secrets = createSecrets({ home })
  await expect(secrets.set('lab', 'k')).rejects.toMatchObject({ code: 'config.invalid' })
  expect(await readFile(join(home, 'secrets.json'), 'utf8')).toBe('{"lab":')
})

test('Z-110 with a keychain nothing is written to disk', async () => {
  const kept = new Map<string, string>()
  const keychain = {
    get: async (name: string) => kept.get(name) ?? null,
    set: async (name: string, value: string | null) =>
      void (value === null ? kept.delete(name) : kept.set(name, value)),
    list: async () => [...kept.keys()],
  }
  const secrets = createSecrets({ home, keychain })
  await secrets.set('lab', 'k1')
  expect([await secrets.get('lab'), await secrets.source('lab'), await secrets.list(), secrets.warning]).toEqual([
    'k1',
    'keychain',
    ['lab'],
    null,
  ])
  expect(await readdir(home)).toEqual([])
})

/** The permission bits; where there are none, the ones asked for. */
async function modeOf(path: string, asked: number): Promise<number> {
  return process.platform === 'win32' ? asked : (await stat(path)).mode & 0o777
}
