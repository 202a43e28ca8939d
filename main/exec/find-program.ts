import { access, constants } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'

/** Absolute path of a program that can be started: of a name on the PATH of `env`, of a path as it is; null where it is not there. */
export async function findProgram(name: string, env: Record<string, string>): Promise<string | null> {
  const windows = process.platform === 'win32'
  if (isAbsolute(name)) return (await canStart(name)) ? name : null
  const path = Object.entries(env).find(([key]) => (windows ? key.toUpperCase() : key) === 'PATH')?.[1] ?? ''
  for (const folder of path.split(delimiter)) {
    if (folder === '') continue
    const file = join(folder, windows ? `${name}.exe` : name)
    if (await canStart(file)) return file
  }
  return null
}

function canStart(file: string): Promise<boolean> {
  return access(file, process.platform === 'win32' ? constants.F_OK : constants.X_OK).then(
    () => true,
    () => false,
  )
}
