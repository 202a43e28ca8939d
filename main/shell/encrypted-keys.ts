/** Keys in a file of the data folder, each encrypted by the operating system's keychain (Z-110). Knows no Electron. */
import { readFile } from 'node:fs/promises'
import { LatheError } from '../../preload/contract/errors.ts'
import { writePrivateFile } from '../platform/private-file.ts'
import type { Keychain } from '../storage/secrets.ts'

/** What encrypts, as Electron's `safeStorage` does. */
export type Cipher = {
  encrypt(text: string): Promise<Buffer>
  /** `stale` where its own key has changed since, so that the text is to be encrypted anew. */
  decrypt(bytes: Buffer): Promise<{ text: string; stale: boolean }>
}

/** Whether keys may be given to this keychain: not to one that only pretends (`basic_text`), nor to none (Z-110, Z-111). */
export function isKeychain(at: { platform: NodeJS.Platform; available: boolean; backend: string }): boolean {
  if (!at.available) return false
  return at.platform !== 'linux' || (at.backend !== 'basic_text' && at.backend !== 'unknown')
}

/** Reading throws `config.invalid` where the file cannot be read or a key not be decrypted. */
export function createEncryptedKeys(path: string, { encrypt, decrypt }: Cipher): Keychain {
  /** Changes follow one another: each reads what the one before wrote. */
  let changing: Promise<unknown> = Promise.resolve()

  async function read(): Promise<Map<string, string>> {
    const text = await readFile(path, 'utf8').catch(() => '{}')
    try {
      return new Map(Object.entries(JSON.parse(text) as Record<string, string>))
    } catch {
      throw new LatheError('config.invalid', 'keychain.json in the data folder cannot be read.', {
        hint: 'Remove the file, then enter the keys again.',
      })
    }
  }

  /** `instead` is what must be kept of it for the change to be made: one made meanwhile stays. */
  async function change(name: string, value: string | null, instead?: string): Promise<void> {
    const kept = await read()
    if (instead !== undefined && kept.get(name) !== instead) return
    if (value === null) kept.delete(name)
    else kept.set(name, (await encrypt(value)).toString('base64'))
    await writePrivateFile(path, JSON.stringify(Object.fromEntries(kept)))
  }

  function set(name: string, value: string | null, instead?: string): Promise<void> {
    const changed = changing.then(() => change(name, value, instead))
    changing = changed.catch(() => {})
    return changed
  }

  return {
    set: (name, value) => set(name, value),
    async get(name) {
      const kept = (await read()).get(name)
      if (kept === undefined) return null
      const { text, stale } = await decrypt(Buffer.from(kept, 'base64')).catch(() => {
        throw new LatheError('config.invalid', 'The system’s keychain cannot open a key that was kept with it.', {
          hint: 'Enter the key again in Settings, Models.',
        })
      })
      // The key is good without it.
      if (stale) await set(name, text, kept).catch(() => {})
      return text
    },
    list: async () => [...(await read()).keys()],
  }
}
