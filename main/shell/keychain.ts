/** The operating system's keychain, through Electron's asynchronous calls (Z-110). */
import { join } from 'node:path'
import { safeStorage } from 'electron'
import type { Keychain } from '../storage/secrets.ts'
import { createEncryptedKeys, isKeychain } from './encrypted-keys.ts'

/** Undefined where there is no keychain, or one that would only pretend (`basic_text`). To be called once the app is ready. */
export async function openKeychain(home: string): Promise<Keychain | undefined> {
  const available = await safeStorage.isAsyncEncryptionAvailable()
  const backend = process.platform === 'linux' ? safeStorage.getSelectedStorageBackend() : 'system'
  if (!isKeychain({ platform: process.platform, available, backend })) return undefined
  return createEncryptedKeys(join(home, 'keychain.json'), {
    encrypt: (text) => safeStorage.encryptStringAsync(text),
    async decrypt(bytes) {
      const { result, shouldReEncrypt } = await safeStorage.decryptStringAsync(bytes)
      return { text: result, stale: shouldReEncrypt }
    },
  })
}
