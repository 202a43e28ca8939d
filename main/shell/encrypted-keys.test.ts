import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Cipher, createEncryptedKeys, isKeychain } from './encrypted-keys.ts'

let folder: string
let path: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lathe-keys-'))
  path = join(folder, 'keychain.json')
})
afterEach(() => rm(folder, { recursive: true }))

/** Turns a text round, under the name of a key that can change. */
function turning(): Cipher & { now: { key: string } } {
  const turned = (text: string): string => [...text].toReversed().join('')
  const now = { key: 'a' }
  return {
    now,
    encrypt: async (text) => Buffer.from(`${now.key}:${turned(text)}`),
    async decrypt(bytes) {
      const [key, text] = bytes.toString().split(':')
      if (key === 'lost') throw new Error('Error while decrypting the ciphertext.')
      return { text: turned(text!), stale: key !== now.key }
    },
  }
}

test('Z-111 keys are not given to a keychain that only pretends', () => {
  expect(isKeychain({ platform: 'linux', available: true, backend: 'gnome_libsecret' })).toBe(true)
  expect(isKeychain({ platform: 'darwin', available: true, backend: 'system' })).toBe(true)
  expect(isKeychain({ platform: 'linux', available: true, backend: 'basic_text' })).toBe(false)
  expect(isKeychain({ platform: 'linux', available: true, backend: 'unknown' })).toBe(false)
  expect(isKeychain({ platform: 'darwin', available: false, backend: 'system' })).toBe(false)
})

test('Z-110 keys lie encrypted in a private file, and changes at the same time lose none', async () => {
  const keys = createEncryptedKeys(path, turning())
  await Promise.all([keys.set('provider.a', 'sk-one'), keys.set('provider.b', 'sk-two'), keys.set('provider.c', 'x')])
  await keys.set('provider.c', null)
  expect(await keys.list()).toEqual(['provider.a', 'provider.b'])
  expect(await keys.get('provider.a')).toBe('sk-one')
  expect(await keys.get('provider.c')).toBeNull()
  expect(await readFile(path, 'utf8')).not.toContain('sk-one')
  expect((await stat(path)).mode & 0o777).toBe(0o600)
})

test('Z-110 a key whose encryption has aged is encrypted anew, but never over one set meanwhile', async () => {
  const cipher = turning()
  const keys = createEncryptedKeys(path, cipher)
  await keys.set('provider.a', 'sk-old')
  const before = await readFile(path, 'utf8')
  cipher.now.key = 'b'
  expect(await keys.get('provider.a')).toBe('sk-old')
  const after = await readFile(path, 'utf8')
  expect(after).not.toBe(before)
  expect(await keys.get('provider.a')).toBe('sk-old')
  expect(await readFile(path, 'utf8')).toBe(after)

  cipher.now.key = 'c'
  const began = Promise.withResolvers<void>()
  const decrypting = Promise.withResolvers<void>()
  const slow = createEncryptedKeys(path, {
    encrypt: (text) => cipher.encrypt(text),
    async decrypt(bytes) {
      const found = await cipher.decrypt(bytes)
      began.resolve()
      await decrypting.promise
      return found
    },
  })
  const reading = slow.get('provider.a')
  await began.promise
  await slow.set('provider.a', 'sk-new')
  decrypting.resolve()
  expect(await reading).toBe('sk-old')
  expect(await keys.get('provider.a')).toBe('sk-new')
})

test('Z-110 a key the keychain cannot open, or a file that cannot be read, is said with what to do', async () => {
  const cipher = turning()
  const keys = createEncryptedKeys(path, cipher)
  cipher.now.key = 'lost'
  await keys.set('provider.a', 'sk-one')
  cipher.now.key = 'b'
  await expect(keys.get('provider.a')).rejects.toMatchObject({
    code: 'config.invalid',
    hint: expect.stringContaining('Enter the key again'),
  })
  await keys.set('provider.a', 'sk-two')
  expect(await keys.get('provider.a')).toBe('sk-two')
  await writeFile(path, '{"provider.a":')
  await expect(keys.get('provider.a')).rejects.toMatchObject({
    code: 'config.invalid',
    hint: expect.stringContaining('Remove the file'),
  })
})
