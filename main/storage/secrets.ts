import { chmod, mkdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { LatheError } from '../../preload/contract/errors.ts'
import { writePrivateFile } from '../platform/private-file.ts'

/** What the shell lends: the operating system's keychain, its calls asynchronous. */
export type Keychain = {
  get(name: string): Promise<string | null>
  set(name: string, value: string | null): Promise<void>
  list(): Promise<string[]>
}

/** Where secrets are kept (Z-110). No contract route answers a value (Z-112). */
export type Secrets = {
  get(name: string): Promise<string | null>
  /** Durable before it resolves; null deletes. */
  set(name: string, value: string | null): Promise<void>
  /** Names only. */
  list(): Promise<string[]>
  source(name: string): Promise<'keychain' | 'file' | 'none'>
  /** A sentence for Settings and `lathe doctor` where secrets lie in a file. */
  readonly warning: string | null
}

const warning =
  'No keychain was found, so keys are kept in secrets.json in the data folder, readable by your user account only.'

type SecretsOptions = {
  home: string
  keychain?: Keychain | undefined
  /** Awaited before a change resolves. */
  changed?(): Promise<void>
}

/** Secrets in the keychain, else in `secrets.json` of mode 0600 (Z-111). A file that is another user's is refused. */
export function createSecrets({ home, keychain, changed }: SecretsOptions): Secrets {
  const store = keychain ?? fileStore(home)
  return {
    get: (name) => store.get(name),
    set: async (name, value) => {
      await store.set(name, value)
      await changed?.()
    },
    list: () => store.list(),
    source: async (name) => ((await store.get(name)) === null ? 'none' : keychain ? 'keychain' : 'file'),
    warning: keychain ? null : warning,
  }
}

function fileStore(home: string): Keychain {
  const path = join(home, 'secrets.json')
  /** Changes follow one another: each reads what the one before wrote. */
  let changing: Promise<unknown> = Promise.resolve()

  async function read(): Promise<Map<string, string>> {
    const text = await readOwn(path)
    if (text === null) return new Map()
    try {
      return new Map(Object.entries(JSON.parse(text) as Record<string, string>))
    } catch {
      throw new LatheError('config.invalid', 'secrets.json in the data folder cannot be read.', {
        hint: 'Correct or remove the file, then enter the keys again.',
      })
    }
  }

  async function change(name: string, value: string | null): Promise<void> {
    const secrets = await read()
    if (value === null) secrets.delete(name)
    else secrets.set(name, value)
    await mkdir(home, { recursive: true, mode: 0o700 })
    await writePrivateFile(path, JSON.stringify(Object.fromEntries(secrets), null, 2))
  }

  return {
    get: async (name) => (await read()).get(name) ?? null,
    list: async () => [...(await read()).keys()],
    set(name, value) {
      const done = changing.then(() => change(name, value))
      changing = done.catch(() => undefined)
      return done
    },
  }
}

async function readOwn(path: string): Promise<string | null> {
  const file = await stat(path).catch(() => null)
  if (!file) return null
  if (process.getuid && file.uid !== process.getuid()) {
    throw new LatheError('config.invalid', 'secrets.json belongs to another user and is not used.', {
      hint: 'Remove the file or make it your own.',
    })
  }
  if (process.platform !== 'win32' && (file.mode & 0o077) !== 0) await chmod(path, 0o600)
  return await readFile(path, 'utf8')
}
