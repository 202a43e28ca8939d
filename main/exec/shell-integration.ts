/**
 * Marks that a person's shell prints around prompts, commands and output, set up without touching a file or the
 * prompt of theirs: bash, zsh and fish are started so that they read a script of ours beside their own start-up files.
 */
import { randomBytes } from 'node:crypto'
import { access, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Env } from './environment.ts'

export type MarkedShell = { args: string[]; env: Env; secret: string }

export interface ShellIntegration {
  /**
   * How to start this shell so that it prints marks; null for one that cannot, or that is started for something else
   * than to be typed into.
   */
  start(shell: { program: string; args: readonly string[] }, env: Env): Promise<MarkedShell | null>
}

const scripts = {
  bash: new URL('./shell-integration/marks.bash', import.meta.url),
  zsh: new URL('./shell-integration/marks.zsh', import.meta.url),
  fish: new URL('./shell-integration/marks.fish', import.meta.url),
}

/**
 * The scripts are put into `folder`, since a shell cannot read them out of a package; no tool of the agent's may write
 * there.
 */
export function createShellIntegration(folder: string): ShellIntegration {
  const placed = {
    bash: join(folder, 'marks.bash'),
    zsh: join(folder, 'zsh', '.zshenv'),
    fish: join(folder, 'marks.fish'),
  }
  const current = new Set<keyof typeof scripts>()

  /** A shell started with a script that is not there would read nothing of the person's own. */
  async function ready(shell: keyof typeof scripts): Promise<string> {
    const to = placed[shell]
    if (
      !current.has(shell) ||
      !(await access(to).then(
        () => true,
        () => false,
      ))
    ) {
      await mkdir(dirname(to), { recursive: true, mode: 0o700 })
      await place(scripts[shell], to)
      current.add(shell)
    }
    return to
  }

  return {
    async start({ program, args }, env) {
      const name = basename(program).replace(/^-/, '')
      const login = args.some((arg) => /^(-l|-il|-li|--login)$/.test(arg))
      if (args.some((arg) => !/^(-l|-i|-il|-li|--login|--interactive)$/.test(arg))) return null
      if (name !== 'bash' && name !== 'zsh' && name !== 'fish') return null
      const script = await ready(name)
      const secret = randomBytes(16).toString('hex')
      const own: Env = { ...env, LATHE_MARKS: secret }
      if (name === 'fish') return { args: [...args, '--init-command', `source ${quoted(script)}`], env: own, secret }
      if (name === 'zsh') {
        const given = env['ZDOTDIR'] === undefined ? {} : { LATHE_ZDOTDIR: env['ZDOTDIR'] }
        return { args: [...args], env: { ...own, ...given, ZDOTDIR: dirname(script) }, secret }
      }
      // A login bash would not read it; it does itself what a login shell reads.
      return {
        args: ['--init-file', script, '-i'],
        env: login ? { ...own, LATHE_LOGIN_SHELL: '1' } : own,
        secret,
      }
    },
  }
}

/** Whole or not at all: another host may start a shell from it right now. */
async function place(from: URL, to: string): Promise<void> {
  const draft = `${to}.${randomBytes(4).toString('hex')}`
  await writeFile(draft, await readFile(from), { mode: 0o600 })
  await rename(draft, to)
}

function quoted(path: string): string {
  return `'${path.replace(/[\\']/g, '\\$&')}'`
}
