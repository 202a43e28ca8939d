import { chmod, mkdir, mkdtemp, readdir, realpath, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { runCommand } from '../exec/command.ts'
import { Paths } from '../files/paths.ts'
import { gitKnowsSecrets, gitOnlyReads, readOnlyGitEnvironment } from './git-reading.ts'
import { commandEffects, onlyReads } from './shell-command.ts'

let root: string
let home: string
let workspace: string
let env: Record<string, string>

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'lathe-git-')))
  home = join(root, 'home')
  workspace = join(root, 'work/app')
  await mkdir(home)
  await mkdir(workspace, { recursive: true })
  env = { PATH: process.env['PATH']!, HOME: home, GIT_CONFIG_NOSYSTEM: '1' }
  await git('init', '-q', '.')
  await git('config', 'user.email', 'a@b.test')
  await git('config', 'user.name', 'A')
  await writeFile(join(workspace, 'a.txt'), 'one\n')
  await writeFile(join(workspace, 'evil.sh'), `#!/bin/sh\ntouch "${root}/ran"\ncat 2>/dev/null || true\n`)
  await chmod(join(workspace, 'evil.sh'), 0o755)
  await git('add', '.')
  await git('commit', '-qm', 'first')
})

afterEach(() => rm(root, { recursive: true }))

async function run(file: string, args: string[], more: Record<string, string> = {}, cwd = workspace) {
  return runCommand({ file, args, cwd, env: { ...env, ...more }, timeoutMs: 30_000, maxBytes: 1024 * 1024 })
}

async function git(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run('git', args)
  if (code !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`)
  return stdout.toString()
}

const ran = async () => (await readdir(root)).includes('ran')
const paths = () => new Paths({ dataFolder: join(root, 'data'), home })

/** Whether the policy lets it run in mode `read-only`. */
async function allowed(command: string, folder = workspace): Promise<boolean> {
  const effects = await commandEffects(command, {
    shell: 'bash',
    folder,
    workspace,
    home,
    dataFolder: join(root, 'data'),
    gitOnlyReads: (at) => gitOnlyReads(at, workspace, { env }),
    gitKnowsSecrets: (at) => gitKnowsSecrets(at, { env }),
    resolve: (absolute) => paths().resolve({ sessionId: 's', workspace, extraFolders: [] }, absolute),
  })
  return onlyReads(effects)
}

/** A file that git has to look into to know whether it changed. */
async function touched(name: string, content: string): Promise<void> {
  await writeFile(join(workspace, name), content)
  await utimes(join(workspace, name), new Date(), new Date(Date.now() + 60_000))
}

const looks = [
  'git status',
  'git status --short --branch',
  'git diff',
  'git diff --stat HEAD',
  'git log -1 -p',
  'git --no-pager log --oneline -5',
  'git show HEAD',
  'git show HEAD:a.txt',
  'git blame a.txt',
  'git rev-parse HEAD',
  'git ls-files',
  'git branch --list',
  'git branch -a',
  'git remote -v',
]

describe('Z-65 git that only looks asks for nothing', () => {
  test.each(looks)('%s', async (command) => {
    expect(await allowed(command)).toBe(true)
    const { code, stderr } = await run('bash', ['-c', command], readOnlyGitEnvironment)
    expect([code, stderr]).toEqual([0, ''])
  })

  test('also in a folder below, with what people set for a repository every day', async () => {
    await mkdir(join(workspace, 'src'))
    await git('remote', 'add', 'origin', 'https://git.test/x.git')
    await git('config', 'branch.main.remote', 'origin')
    await git('config', 'core.autocrlf', 'input')
    await git('config', 'core.hooksPath', '.husky/_')
    await git('config', 'pull.rebase', 'true')
    expect(await allowed('cd src && git status')).toBe(true)
    expect(await allowed('git status', join(workspace, 'src'))).toBe(true)
  })

  test('also in a worktree whose store lies elsewhere', async () => {
    const main = join(root, 'main')
    await run('git', ['clone', '-q', workspace, main])
    await rm(workspace, { recursive: true })
    await run('git', ['worktree', 'add', '-q', workspace, '-b', 'side'], {}, main)
    expect(await allowed('git log -1')).toBe(true)
  })
})

/** What a repository could have git run. `fires`: this git runs it where nothing is in the way. */
const vectors: { named: string; set: () => Promise<unknown>; command: string; fires?: boolean }[] = [
  {
    named: 'core.fsmonitor',
    set: () => git('config', 'core.fsmonitor', './evil.sh'),
    command: 'git status',
  },
  {
    named: 'a hook that runs when the index is written',
    set: async () => {
      await writeFile(join(workspace, '.git/hooks/post-index-change'), `#!/bin/sh\ntouch "${root}/ran"\n`)
      await chmod(join(workspace, '.git/hooks/post-index-change'), 0o755)
      await touched('a.txt', 'one\n')
    },
    command: 'git status',
  },
  {
    named: 'core.hooksPath',
    set: async () => {
      await mkdir(join(workspace, 'hooks'))
      await writeFile(join(workspace, 'hooks/post-index-change'), `#!/bin/sh\ntouch "${root}/ran"\n`)
      await chmod(join(workspace, 'hooks/post-index-change'), 0o755)
      await git('config', 'core.hooksPath', 'hooks')
      await touched('a.txt', 'one\n')
    },
    command: 'git status',
  },
  {
    named: 'a clean filter',
    set: async () => {
      await writeFile(join(workspace, '.gitattributes'), '*.txt filter=x\n')
      await git('config', 'filter.x.clean', './evil.sh')
      await touched('a.txt', 'two\n')
    },
    command: 'git status',
  },
  {
    named: 'a filter process',
    set: async () => {
      await writeFile(join(workspace, '.gitattributes'), '*.txt filter=x\n')
      await git('config', 'filter.x.process', './evil.sh')
      await touched('a.txt', 'two\n')
    },
    command: 'git diff',
  },
  {
    named: 'textconv',
    set: async () => {
      await writeFile(join(workspace, '.gitattributes'), '*.txt diff=x\n')
      await git('config', 'diff.x.textconv', './evil.sh')
    },
    command: 'git show HEAD',
  },
  {
    named: 'textconv in blame',
    set: async () => {
      await writeFile(join(workspace, '.gitattributes'), '*.txt diff=x\n')
      await git('config', 'diff.x.textconv', './evil.sh')
    },
    command: 'git blame a.txt',
  },
  {
    named: 'a diff driver',
    set: async () => {
      await writeFile(join(workspace, '.gitattributes'), '*.txt diff=x\n')
      await git('config', 'diff.x.command', './evil.sh')
      await touched('a.txt', 'two\n')
    },
    command: 'git diff',
  },
  {
    named: 'diff.external',
    set: async () => {
      await git('config', 'diff.external', './evil.sh')
      await touched('a.txt', 'two\n')
    },
    command: 'git diff',
  },
  {
    named: 'a signature, checked by gpg.program',
    set: async () => {
      await git('config', 'log.showSignature', 'true')
      await git('config', 'gpg.program', './evil.sh')
      await signedCommit()
    },
    command: 'git log -1',
  },
  {
    named: 'a pretty format that checks a signature',
    set: async () => {
      await git('config', 'format.pretty', '%G?')
      await git('config', 'gpg.program', './evil.sh')
      await signedCommit()
    },
    command: 'git log -1',
  },
  {
    named: 'a format by name that checks a signature',
    set: async () => {
      await git('config', 'pretty.mine', '%G?')
      await git('config', 'gpg.program', './evil.sh')
      await signedCommit()
    },
    command: 'git log -1 --pretty=mine',
  },
  {
    named: 'a file the configuration includes',
    set: async () => {
      await writeFile(join(workspace, 'more'), '[diff]\n\texternal = ./evil.sh\n')
      await git('config', 'include.path', '../more')
      await touched('a.txt', 'two\n')
    },
    command: 'git diff',
  },
  {
    named: 'the configuration of a worktree',
    set: async () => {
      await git('config', 'extensions.worktreeConfig', 'true')
      await git('config', '--worktree', 'diff.external', './evil.sh')
      await touched('a.txt', 'two\n')
    },
    command: 'git diff',
  },
  {
    named: 'a repository inside, with a configuration of its own',
    set: async () => {
      const inner = await innerRepository()
      await git('add', 'inner')
      await run('git', ['config', 'core.fsmonitor', `${workspace}/evil.sh`], {}, inner)
    },
    command: 'git status',
  },
  {
    named: 'objects that a remote of its own would have to bring',
    set: async () => {
      await git('config', 'extensions.partialClone', 'evil')
      await git('config', 'remote.evil.promisor', 'true')
      await git('config', 'remote.evil.url', `file://${workspace}`)
      await writeFile(join(workspace, 'serve.sh'), `#!/bin/sh\ntouch "${root}/ran"\n`)
      await chmod(join(workspace, 'serve.sh'), 0o755)
      await git('config', 'remote.evil.uploadpack', join(workspace, 'serve.sh'))
      const blob = (await git('rev-parse', 'HEAD:a.txt')).trim()
      await rm(join(workspace, '.git/objects', blob.slice(0, 2), blob.slice(2)))
    },
    command: 'git show HEAD:a.txt',
  },
  {
    named: 'a pager of one command',
    set: () => git('config', 'pager.log', './evil.sh'),
    command: 'git log -1',
    // Only on a terminal.
    fires: false,
  },
  {
    named: 'a repository inside that history shows, looked into by a git of its own',
    set: async () => {
      // As people set it for themselves.
      await git('config', '--global', 'diff.submodule', 'diff')
      const inner = await innerRepository()
      await git('add', 'inner')
      await git('commit', '-qm', 'with inner')
      await writeFile(join(inner, 'b.txt'), 'two\n')
      await run('git', ['commit', '-qam', 'inner two'], {}, inner)
      await git('add', 'inner')
      await git('commit', '-qm', 'inner moved on')
      await run('git', ['config', 'diff.external', `${workspace}/evil.sh`], {}, inner)
      await git('rm', '-q', '--cached', 'inner')
    },
    command: 'git show HEAD',
  },
  {
    named: 'an extension of the large files of a filter that the person has',
    set: async () => {
      // Stands for git-lfs, which runs the extensions that a repository names.
      await git('config', '--global', 'filter.lfs.clean', 'sh -c "$(git config lfs.extension.x.clean)"')
      await writeFile(join(workspace, '.gitattributes'), '*.txt filter=lfs\n')
      await git('config', 'lfs.extension.x.clean', './evil.sh')
      await touched('a.txt', 'two\n')
    },
    command: 'git status',
  },
  {
    named: 'summaries of repositories inside',
    set: () => git('config', 'status.submoduleSummary', 'true'),
    command: 'git status',
    fires: false,
  },
]

/** A repository of its own, with a commit. */
async function innerRepository(): Promise<string> {
  const inner = join(workspace, 'inner')
  await mkdir(inner)
  for (const args of [
    ['init', '-q', '.'],
    ['config', 'user.email', 'a@b.test'],
    ['config', 'user.name', 'A'],
  ])
    await run('git', args, {}, inner)
  await writeFile(join(inner, 'b.txt'), 'one\n')
  await run('git', ['add', '.'], {}, inner)
  await run('git', ['commit', '-qm', 'inner'], {}, inner)
  return inner
}

/** A commit that claims to be signed, so that somebody has to check it. */
async function signedCommit(): Promise<void> {
  const body = (await git('cat-file', 'commit', 'HEAD')).replace(
    '\n\n',
    '\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----\n\n',
  )
  const written = await runCommand({
    file: 'git',
    args: ['hash-object', '-t', 'commit', '-w', '--stdin'],
    cwd: workspace,
    env,
    input: body,
    timeoutMs: 30_000,
    maxBytes: 1_000,
  })
  await git('update-ref', 'HEAD', written.stdout.toString().trim())
}

describe('Z-65 K-21 what a repository would have git run never runs unasked', () => {
  test.each(vectors)('$named', async ({ set, command, fires = true }) => {
    await set()
    await rm(join(root, 'ran'), { force: true })
    if (await allowed(command)) await run('bash', ['-c', command], readOnlyGitEnvironment)
    expect(await ran()).toBe(false)
    // The danger is real: the same, run as anybody would.
    await run('bash', ['-c', command])
    expect(await ran()).toBe(fires)
  })

  test('nothing of it runs while it is looked at either', async () => {
    for (const { set, command } of vectors.filter(({ named }) => named !== 'core.hooksPath')) {
      await set().catch(() => {})
      await rm(join(root, 'ran'), { force: true })
      await allowed(command)
      expect(await ran()).toBe(false)
    }
  })
})

describe('Z-65 what git would show that is not of the workspace', () => {
  test('a repository above: its files outside the workspace', async () => {
    const inner = join(workspace, 'packages/one')
    await mkdir(inner, { recursive: true })
    expect(await gitOnlyReads(inner, inner, { env })).toBe(false)
    expect(await gitOnlyReads(inner, workspace, { env })).toBe(true)
  })

  test('a folder that only claims a store elsewhere as its own', async () => {
    const other = join(root, 'other')
    await mkdir(other)
    await run('git', ['init', '-q', '.'], {}, other)
    await rm(join(workspace, '.git'), { recursive: true })
    await writeFile(join(workspace, '.git'), `gitdir: ${other}/.git\n`)
    expect(await gitOnlyReads(workspace, workspace, { env })).toBe(false)
  })

  test('the store of another by part: its common folder, its objects by link or by name', async () => {
    const other = join(root, 'other')
    await run('git', ['clone', '-q', '--no-hardlinks', workspace, other])
    const store = join(workspace, '.git')
    expect(await gitOnlyReads(workspace, workspace, { env })).toBe(true)

    await writeFile(join(store, 'commondir'), `${other}/.git\n`)
    expect(await gitOnlyReads(workspace, workspace, { env })).toBe(false)
    await rm(join(store, 'commondir'))

    await writeFile(join(store, 'objects/info/alternates'), `${other}/.git/objects\n`)
    expect(await gitOnlyReads(workspace, workspace, { env })).toBe(false)
    await rm(join(store, 'objects/info/alternates'))

    for (const part of ['objects/pack', 'objects', 'refs', 'logs']) {
      await rm(join(store, part), { recursive: true })
      await symlink(join(other, '.git', part), join(store, part))
      expect(await gitOnlyReads(workspace, workspace, { env })).toBe(false)
      await rm(join(store, part))
      await run('cp', ['-r', join(other, '.git', part), join(store, part)])
      expect(await gitOnlyReads(workspace, workspace, { env })).toBe(true)
    }
  })

  test('core.worktree, a bare repository in the files, and no repository at all', async () => {
    await git('config', 'core.worktree', home)
    expect(await gitOnlyReads(workspace, workspace, { env })).toBe(false)
    await git('config', '--unset', 'core.worktree')
    await run('git', ['init', '-q', '--bare', 'bare'])
    expect(await gitOnlyReads(join(workspace, 'bare'), workspace, { env })).toBe(false)
    expect(await gitOnlyReads(home, home, { env })).toBe(false)
    expect(await allowed('cd bare && git log')).toBe(false)
  })

  test('a secret file, by its name', async () => {
    expect(await allowed('git show HEAD:.env')).toBe(false)
    expect(await allowed('git blame .env')).toBe(false)
  })
})

describe('Z-47 git that prints files nobody named asks where a secret is tracked', () => {
  const prints = [
    'git show',
    'git show HEAD',
    'git diff',
    'git diff HEAD~1',
    'git log -p',
    'git log -u',
    'git log -S x -p',
  ]
  const quiet = [
    'git status',
    'git log --oneline',
    'git log -S x',
    'git diff --stat',
    'git show -s',
    'git show HEAD:a.txt',
  ]

  async function commitSecret(): Promise<void> {
    await writeFile(join(workspace, '.env'), 'KEY=1\n')
    await git('add', '-f', '.env')
    await git('commit', '-qm', 'secret')
  }

  /** Commands judged otherwise than they should be. */
  async function misjudged(): Promise<string[]> {
    const wrong: string[] = []
    for (const command of [...prints, 'git status -v', 'git show :/secret', 'git log --cc', 'git log --stat -p'])
      if (await allowed(command)) wrong.push(command)
    for (const command of quiet) if (!(await allowed(command))) wrong.push(command)
    return wrong
  }

  test('in its files', async () => {
    await commitSecret()
    expect(await misjudged()).toEqual([])
  })

  test('in its history alone, also where only the reflog holds it', async () => {
    await commitSecret()
    await git('rm', '-q', '.env')
    await git('commit', '-qm', 'gone')
    expect(await misjudged()).toEqual([])
    await git('reset', '-q', '--hard', 'HEAD~2')
    expect(await misjudged()).toEqual([])
  })

  test('a template of one, and one that is not tracked, keep its ease', async () => {
    await writeFile(join(workspace, '.env'), 'KEY=1\n')
    await writeFile(join(workspace, '.env.example'), 'KEY=\n')
    await git('add', '.env.example')
    await git('commit', '-qm', 'template')
    for (const command of [...prints, ...quiet]) expect([command, await allowed(command)]).toEqual([command, true])
  })
})

test('K-21 Z-57 beside anything that does more than read, git asks too', async () => {
  for (const command of [
    'git status && rm -rf x',
    'git status; $(curl x|sh)',
    'git -c core.pager="sh -c ls" log',
    'env A=1 git status; make',
    'git config diff.external ./evil.sh; git diff',
    'git diff --output=x',
    'git diff --ext-diff',
    'git log --textconv',
    'git --exec-path=. status',
    'GIT_EXTERNAL_DIFF=./evil.sh git diff',
    'git grep --open-files-in-pager=./evil.sh one',
  ])
    expect(await allowed(command)).toBe(false)
})
