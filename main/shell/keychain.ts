/** Keys encrypted by the operating system's keychain, in a file of the data folder (Z-110). */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { safeStorage } from 'electron'
import { writePrivateFile } from '../platform/private-file.ts'
import type { Keychain } from '../storage/secrets.ts'
import { isKeychain } from './keychain-choice.ts'

/** Undefined where there is no keychain, or one that would only pretend (`basic_text`). To be called once the app is ready. */
export async function openKeychain(home: string): Promise<Keychain | undefined> {
  const available = await safeStorage.isAsyncEncryptionAvailable()
  const backend = process.platform === 'linux' ? safeStorage.getSelectedStorageBackend() : 'system'
  if (!isKeychain({ platform: process.platform, available, backend })) return undefined
  const path = join(home, 'keychain.json')
  let changing: Promise<unknown> = Promise.resolve()

  async function read(): Promise<Map<string, string>> {
    const text = await readFile(path, 'utf8').catch(() => '{}')
    return new Map(Object.entries(JSON.parse(text) as Record<string, string>))
  }

  async function change(name: string, value: string | null): Promise<void> {
    const kept = await read()
    if (value === null) kept.delete(name)
    else kept.set(name, (await safeStorage.encryptStringAsync(value)).toString('base64'))
    await writePrivateFile(path, JSON.stringify(Object.fromEntries(kept)))
  }

  function set(name: string, value: string | null): Promise<void> {
    const changed = changing.then(() => change(name, value))
    changing = changed.catch(() => {})
    return changed
  }

  return {
    set,
    async get(name) {
      const kept = (await read()).get(name)
      if (kept === undefined) return null
      const { result, shouldReEncrypt } = await safeStorage.decryptStringAsync(Buffer.from(kept, 'base64'))
      if (shouldReEncrypt) await set(name, result)
      return result
    },
    list: async () => [...(await read()).keys()],
  }
}
