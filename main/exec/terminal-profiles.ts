/** What a person's terminal can be started with: their own shell, their profiles, the shells that are installed. */
import { userInfo } from 'node:os'
import { basename } from 'node:path'
import { LatheError } from '../../preload/contract/errors.ts'
import type { TerminalProfile } from '../../preload/contract/settings.ts'
import type { Env } from './environment.ts'
import { findProgram } from './find-program.ts'
import { findShell } from './shell.ts'

const shells = ['bash', 'zsh', 'fish', 'nu', 'sh', 'pwsh', 'powershell', 'cmd']

/** Those there are, the default first; names differ. `chosen` is the default's name, null for the person's own shell. */
export async function terminalProfiles(
  env: Env,
  own: readonly TerminalProfile[],
  chosen: string | null,
): Promise<TerminalProfile[]> {
  const found = await Promise.all(shells.map((name) => findProgram(name, env)))
  const installed = found.flatMap((file, at) => (file === null ? [] : [shellProfile(shells[at]!, file)]))
  const theirs = await personsShell(env)
  const all = [...own, theirs, ...installed]
  const named = all.filter(({ name }, at) => all.findIndex((other) => other.name === name) === at)
  // A profile that was taken away is no reason to have no terminal.
  const first = named.find(({ name }) => name === chosen) ?? named.find(({ name }) => name === theirs.name)!
  return [first, ...named.filter((profile) => profile !== first)]
}

/** Throws `request.invalid` naming those there are. */
export function profileNamed(profiles: readonly TerminalProfile[], name: string | undefined): TerminalProfile {
  const profile = name === undefined ? profiles[0] : profiles.find((one) => one.name === name)
  if (profile) return profile
  throw new LatheError('request.invalid', `There is no terminal profile "${name}".`, {
    hint: `There are: ${profiles.map((one) => one.name).join(', ')}.`,
  })
}

/** As the platform's own terminal would start it. */
async function personsShell(env: Env): Promise<TerminalProfile> {
  if (process.platform === 'win32') {
    const { name, file } = await findShell(env)
    return shellProfile(name, file)
  }
  const program = env['SHELL'] || userInfo().shell || '/bin/sh'
  return shellProfile(basename(program), program)
}

function shellProfile(name: string, program: string): TerminalProfile {
  return { name, program, args: process.platform === 'darwin' ? ['-l'] : [], env: {}, icon: 'terminal' }
}
