/**
 * Whether git, run to look at a repository, starts no program of that repository's (Z-65). A repository names programs in
 * its own configuration (filters, textconv, pagers, helpers of remotes) and by the repositories inside it, so git counts as
 * only reading where nothing of that is there. What the person set for themselves, globally, is theirs.
 */
import { readdir, readFile, realpath } from 'node:fs/promises'
import { basename, dirname, join, sep } from 'node:path'
import { runCommand } from '../exec/command.ts'
import { isSecretName } from '../files/sensitive-paths.ts'

export type GitReadingPorts = {
  /** The whole environment git runs with. */
  env: Record<string, string>
  timeoutMs?: number
}

/** Set for a run of commands that only read: what of a repository would run is off, and nothing is fetched or written. */
export const readOnlyGitEnvironment: Record<string, string> = {
  GIT_OPTIONAL_LOCKS: '0',
  GIT_PAGER: 'cat',
  PAGER: 'cat',
  GIT_NO_LAZY_FETCH: '1',
  GIT_TERMINAL_PROMPT: '0',
  ...configured({
    'core.fsmonitor': 'false',
    'core.hooksPath': '/dev/null',
    // A git of its own would look into a repository inside, without any of these.
    'diff.submodule': 'short',
    'log.showSignature': 'false',
    'protocol.allow': 'never',
    'safe.bareRepository': 'explicit',
    'status.submoduleSummary': 'false',
  }),
}

/**
 * Keys of a repository's own configuration that start nothing and lead nowhere when git reads; any other, known or not,
 * makes it ask. `core.fsmonitor` and `core.hooksPath` are overruled while it runs.
 */
const harmlessKeys: readonly RegExp[] = [
  /^core\.(abbrev|autocrlf|bare|bigfilethreshold|checkstat|commentchar|commentstring|commitgraph|compression|editor|eol|filemode|fscache|fsmonitor|fsync|fsyncmethod|hidedotfiles|hookspath|ignorecase|ignorestat|logallrefupdates|longpaths|loosecompression|multipackindex|precomposeunicode|preloadindex|protecthfs|protectntfs|quotepath|repositoryformatversion|safecrlf|sharedrepository|sparsecheckout|sparsecheckoutcone|splitindex|symlinks|trustctime|untrackedcache|usereplacerefs|warnambiguousrefs|whitespace)$/,
  /^extensions\.(compatobjectformat|noop|noop-v1|objectformat|preciousobjects|refstorage|relativeworktrees|worktreeconfig)$/,
  /^(user|author|committer)\.(email|name|signingkey|useconfigonly)$/,
  /^(branch|advice|alias|commit|tag|pull|push|fetch|rebase|rerere|init|gc|pack|repack|index|maintenance|feature|color|column|apply|am|stash|clone|checkout|grep|help|gui|gitk|github|vscode-merge-base|credential|http|url)\./,
  /^remote\.(.+\.(url|pushurl|fetch|push|tagopt|mirror|prune|prunetags|skipdefaultupdate|skipfetchall|gh-resolved|followremotehead)|pushdefault)$/,
  // Its filter may be the person's; its extensions and transfers are programs.
  /^lfs\.(.+\.)?(url|pushurl|access|locksverify|repositoryformatversion|fetchinclude|fetchexclude|concurrenttransfers)$/,
  /^merge\.(conflictstyle|ff|log|renames|renamelimit|stat|autostash|branchdesc|verbosity|directoryrenames|defaulttoupstream)$/,
  /^diff\.(algorithm|colormoved|colormovedws|context|indentheuristic|interhunkcontext|mnemonicprefix|noprefix|relative|renamelimit|renames|statgraphwidth|statnamewidth|suppressblankempty|wserrorhighlight)$/,
  /^status\.(aheadbehind|branch|displaycommentprefix|relativepaths|renamelimit|renames|short|showstash|showuntrackedfiles)$/,
  /^log\.(abbrevcommit|date|decorate|diffmerges|excludedecoration|follow|graphcolors|initialdecorationset|showroot)$/,
  /^blame\.(blankboundary|coloring|date|showemail|showroot)$/,
]

const outputMax = 16 * 1024 * 1024
const standardMs = 5_000

/** For git run in `folder`. False where that is not sure, also where there is no repository, no git, or no answer in time. */
export async function gitOnlyReads(folder: string, workspace: string, ports: GitReadingPorts): Promise<boolean> {
  try {
    const ask = (...args: string[]) => answer(folder, args, ports)
    const [place, keys, modes] = await Promise.all([
      ask('rev-parse', '--path-format=absolute', '--show-toplevel', '--absolute-git-dir', '--git-common-dir'),
      ask('config', '--list', '--includes', '--name-only', '--show-scope', '-z'),
      ask('ls-files', '--format=%(objectmode)', '--full-name', ':/'),
    ])
    if (place === null || keys === null || modes === null) return false
    // A repository inside is looked at with its own configuration, which what is set here does not reach.
    if (/^160000$/m.test(modes)) return false
    return keysAreHarmless(keys) && (await isHere(place.trimEnd().split('\n'), workspace))
  } catch {
    return false
  }
}

/**
 * Whether a file with the name of a secret is or ever was tracked there, so that git may print it unnamed (Z-47). True
 * where that is not sure, also where the history is too long to be looked through in time.
 */
export async function gitKnowsSecrets(folder: string, ports: GitReadingPorts): Promise<boolean> {
  try {
    const names = await Promise.all([
      answer(folder, ['ls-files', '-z', '--full-name', ':/'], ports),
      // Every change of every commit, merges and what only the reflog still holds counted; a rename by both its names.
      answer(
        folder,
        'log --all --reflog --format= --name-only -z --root --diff-merges=separate --no-renames --no-relative'.split(
          ' ',
        ),
        ports,
      ),
    ])
    return names.some((list) => list === null || list.split(/[\0\n]/).some((name) => isSecretName(basename(name))))
  } catch {
    return true
  }
}

/** `scope NUL key NUL ...` as git lists it; the repository's are `local` and `worktree`, what they include counted. */
function keysAreHarmless(list: string): boolean {
  const parts = list.split('\0')
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [scope, key] = [parts[at]!, parts[at + 1]!]
    if (scope === 'system' || scope === 'global' || scope === 'command') continue
    if (!harmlessKeys.some((harmless) => harmless.test(key))) return false
  }
  return true
}

/** What it shows belongs to the workspace: its tree lies inside, and so does its store, unless it is a worktree of another. */
async function isHere([top = '', gitDir = '', commonDir = '']: string[], workspace: string): Promise<boolean> {
  const root = await realpath(workspace)
  const inside = (path: string) => path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)
  const [tree, store, common] = await Promise.all([realpath(top), realpath(gitDir), realpath(commonDir)])
  if (!inside(tree) || !(await holdsItself(store, common))) return false
  if (inside(store)) return inside(common)
  // The other store names this worktree as its own; a folder that only claims so is not named.
  const named = (await readFile(join(store, 'gitdir'), 'utf8')).trim()
  return (await realpath(named)) === join(tree, '.git') && common === dirname(dirname(store))
}

/** Nothing of a store leads elsewhere: not by a link, and not by naming the objects of another. */
async function holdsItself(store: string, common: string): Promise<boolean> {
  const objects = join(common, 'objects')
  const folders = [store, common, objects, join(objects, 'pack'), join(objects, 'info')]
  const entries = await Promise.all(folders.map((folder) => readdir(folder, { withFileTypes: true }).catch(() => [])))
  return !entries
    .flat()
    .some((entry) => entry.name === 'alternates' || (entry.isSymbolicLink() && entry.name !== 'hooks'))
}

/** What git says, or null where it fails or says too much. */
async function answer(folder: string, args: string[], { env, timeoutMs = standardMs }: GitReadingPorts) {
  const { code, stdout, truncated } = await runCommand({
    file: 'git',
    args,
    cwd: folder,
    env: { ...env, ...readOnlyGitEnvironment },
    timeoutMs,
    maxBytes: outputMax,
  })
  return code === 0 && !truncated ? stdout.toString('utf8') : null
}

function configured(values: Record<string, string>): Record<string, string> {
  const entries = Object.entries(values)
  return Object.fromEntries([
    ['GIT_CONFIG_COUNT', String(entries.length)],
    ...entries.flatMap(([key, value], at) => [
      [`GIT_CONFIG_KEY_${at}`, key],
      [`GIT_CONFIG_VALUE_${at}`, value],
    ]),
  ])
}
