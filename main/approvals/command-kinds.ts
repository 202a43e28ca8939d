/**
 * What is known of programs by their names: which only read and with which options (Z-65), which start another program
 * (Z-60), which take code, which change what later commands mean. What is not listed is an ordinary command.
 */

/** Options a program may be given; anything else is not known to be harmless. */
export type Options = {
  /** Letters without a value, which may be joined. */
  flags?: string
  /** Letters with a value, joined to it or before it. */
  valued?: string
  /** Letters whose value, if any, is joined to them. */
  attached?: string
  /** Long names, with or without a joined value. */
  long?: string
  /** Long names with a value, joined by `=` or before it. */
  longValued?: string
  /** `-5` is a number. */
  numeric?: boolean
}

const gitShared: Options = {
  flags: 'psuRabwzcmrtiEFPgqv0',
  valued: 'nSGL',
  attached: 'UMCBDl',
  numeric: true,
  long: 'stat shortstat numstat name-only name-status summary patch no-patch raw oneline graph all decorate no-decorate cached staged merge-base color no-color word-diff patch-with-stat abbrev-commit no-abbrev-commit first-parent merges no-merges reverse follow full-history simplify-by-decoration date-order topo-order author-date-order branches tags remotes ignore-space-change ignore-all-space ignore-blank-lines ignore-space-at-eol minimal patience histogram no-ext-diff no-textconv no-renames find-renames find-copies exit-code quiet check full-index binary no-prefix relative function-context pickaxe-all pickaxe-regex left-right cherry-pick cherry-mark walk-reflogs no-notes boundary compact-summary dirstat cumulative text source abbrev diff-filter color-words encoding decorate-refs unified word-diff-regex format pretty date',
  longValued:
    'max-count skip since until after before author committer grep inter-hunk-context diff-algorithm src-prefix dst-prefix line-prefix',
}

/** Programs that only read, with the options known to only read (Z-65). Recursive `grep` would read secret files unasked. */
export const readOnlyCommands: Record<string, Options> = {
  pwd: { flags: 'LP' },
  ls: {
    flags: 'aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1',
    valued: 'IwT',
    long: 'all almost-all author escape directory classify file-type human-readable si inode kibibytes dereference numeric-uid-gid literal hide-control-chars show-control-chars quote-name reverse recursive size context zero full-time group-directories-first no-group color hyperlink format sort time time-style block-size indicator-style quoting-style',
    longValued: 'hide ignore tabsize width',
  },
  cat: {
    flags: 'AbeEnstTuv',
    long: 'show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting',
  },
  head: {
    flags: 'qvz',
    valued: 'nc',
    numeric: true,
    long: 'quiet silent verbose zero-terminated',
    longValued: 'lines bytes',
  },
  tail: {
    flags: 'fFqvzr',
    valued: 'ncs',
    numeric: true,
    long: 'follow retry quiet silent verbose zero-terminated',
    longValued: 'lines bytes sleep-interval pid',
  },
  wc: { flags: 'clmLw', long: 'bytes chars lines max-line-length words' },
  stat: { flags: 'fLtxsrnq', valued: 'c', long: 'dereference file-system terse', longValued: 'format printf' },
  file: { flags: 'bhikLNnprv0', valued: 'F', long: 'brief mime mime-type mime-encoding dereference no-dereference' },
  du: {
    flags: 'abcDhHklLmPsSx0',
    valued: 'dBt',
    long: 'all apparent-size bytes total summarize human-readable si one-file-system separate-dirs time time-style',
    longValued: 'max-depth block-size exclude threshold',
  },
  which: { flags: 'as' },
  rg: {
    flags: 'cFHhilnNoPqsSvwxUp0I',
    valued: 'ABCEejmMrTtd',
    long: 'count count-matches fixed-strings files files-with-matches files-without-match heading no-heading ignore-case invert-match json line-number no-line-number line-regexp word-regexp multiline only-matching pcre2 pretty quiet smart-case case-sensitive stats trim vimgrep with-filename no-filename column null',
    longValued:
      'after-context before-context context color colors encoding engine max-columns max-count max-depth max-filesize regexp replace sort sortr threads type type-not',
  },
  grep: {
    flags: 'abcEFGHhIiLlnoPqsUvVwxyZzT',
    valued: 'ABCem',
    numeric: true,
    long: 'extended-regexp fixed-strings basic-regexp perl-regexp ignore-case no-ignore-case invert-match word-regexp line-regexp count files-with-matches files-without-match only-matching quiet silent no-messages line-number with-filename no-filename byte-offset null text initial-tab color colour',
    longValued: 'regexp after-context before-context context max-count label binary-files',
  },
}

/** `git NAME`, directly or behind `--no-pager`; any other global option may run a program. */
export const readOnlyGit: Record<string, Options> = {
  branch: {
    flags: 'arvq',
    long: 'list all remotes verbose quiet show-current contains no-contains merged no-merged points-at sort ignore-case abbrev no-abbrev no-color color column no-column',
  },
  remote: { flags: 'v', long: 'verbose' },
  status: {
    flags: 'sbvz',
    attached: 'u',
    long: 'short branch porcelain long verbose ignored untracked-files no-ahead-behind ahead-behind show-stash column no-renames renames find-renames',
  },
  diff: gitShared,
  log: gitShared,
  show: gitShared,
  blame: {
    flags: 'lstefnwcb',
    attached: 'MC',
    valued: 'L',
    long: 'porcelain line-porcelain incremental show-name show-number show-email root date abbrev color-lines color-by-age no-progress',
    longValued: 'since',
  },
  'rev-parse': {
    flags: 'q',
    long: 'show-toplevel abbrev-ref short verify quiet git-dir is-inside-work-tree absolute-git-dir git-common-dir show-prefix show-cdup symbolic-full-name all branches tags is-bare-repository show-current',
  },
  'ls-files': {
    flags: 'cdomikstuvzrf',
    valued: 'x',
    long: 'cached deleted others ignored stage unmerged killed modified exclude-standard error-unmatch full-name directory no-empty-directory deduplicate eol abbrev format',
    longValued: 'exclude',
  },
}

const patchOptions =
  'p u U c L patch unified patch-with-stat binary check word-diff word-diff-regex color-words function-context'.split(
    ' ',
  )
const summaries =
  's no-patch quiet stat shortstat numstat name-only name-status summary raw compact-summary dirstat cumulative'.split(
    ' ',
  )

/** Whether `git NAME` with these options may print what stands in files, also in files nobody named (Z-47). */
export function gitPrintsContents(subcommand: string, seen: ReadonlySet<string>): boolean {
  if (subcommand === 'status') return seen.has('v') || seen.has('verbose')
  if (subcommand !== 'diff' && subcommand !== 'show' && subcommand !== 'log') return false
  if (patchOptions.some((option) => seen.has(option))) return true
  return subcommand !== 'log' && !summaries.some((option) => seen.has(option))
}

/** Programs whose operands are another program and its arguments (Z-60), with the options that stand before it. */
export const wrappers: Record<string, Options & { operands?: number }> = {
  env: { flags: 'i0v', valued: 'u', long: 'ignore-environment null debug unset' },
  command: { flags: 'p' },
  builtin: {},
  exec: { flags: 'cl', valued: 'a' },
  time: { flags: 'pva', valued: 'fo', long: 'portability verbose append', longValued: 'format output' },
  nice: { valued: 'n', numeric: true, longValued: 'adjustment' },
  nohup: {},
  timeout: {
    flags: 'v',
    valued: 'ks',
    long: 'foreground preserve-status verbose',
    longValued: 'kill-after signal',
    operands: 1,
  },
  stdbuf: { valued: 'ioe', longValued: 'input output error' },
  setsid: { flags: 'cfw', long: 'ctty fork wait' },
  xargs: {
    flags: '0rtpx',
    valued: 'adEILnPs',
    attached: 'eil',
    long: 'null no-run-if-empty verbose interactive exit open-tty',
    longValued: 'arg-file delimiter max-lines max-args max-procs max-chars replace eof process-slot-var',
  },
  sudo: {
    flags: 'AbEHikKnPSsv',
    valued: 'CDghpRrTtuU',
    long: 'askpass background preserve-env set-home login non-interactive stdin shell',
    longValued: 'user group host prompt chdir chroot close-from',
  },
  doas: { flags: 'Lns', valued: 'aCu' },
}

/** Wrappers not listed above; where their program begins is not known, so its name is looked for anywhere. */
export const looseWrappers = new Set([
  'ionice',
  'chrt',
  'taskset',
  'flock',
  'strace',
  'ltrace',
  'unbuffer',
  'caffeinate',
  'chroot',
  'unshare',
  'nsenter',
  'setarch',
  'busybox',
  'toybox',
  'fakeroot',
  'script',
  'systemd-run',
  'dbus-run-session',
  'xvfb-run',
  'parallel',
  'ssh',
  'entr',
  'docker',
  'podman',
  'npx',
  'bunx',
  'su',
  'pkexec',
  'runas',
])

/** Gain of privilege, and Lathe itself: always asked, in any wrapper (Z-66). */
export const neverAutomaticCommands = new Set(['sudo', 'doas', 'su', 'pkexec', 'runas', 'lathe'])

/** Letters and long options that take code, and those that take another value before the script. */
export type Interpreter = {
  code: string
  long?: RegExp
  valued?: string
  longValued?: RegExp
  /** Options that make it run files it finds itself, so that it needs no script: the workspace's tests. */
  ownFiles?: RegExp
}

const shell: Interpreter = {
  code: 'c',
  long: /^--(init-command|command)\b/,
  valued: 'oO',
  longValued: /^--(rcfile|init-file)$/,
}
const script: Interpreter = {
  code: 'ep',
  long: /^--(eval|print)\b/,
  valued: 'rC',
  longValued: /^--(require|import|loader|env-file|conditions)$/,
  ownFiles: /^--test$/,
}
const powershell: Interpreter = { code: 'cCeE' }

/** Interpreters given code are always asked for; without a script file they read it from their input (Z-60). */
export const interpreters: Record<string, Interpreter> = {
  ...Object.fromEntries(
    ['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash', 'fish', 'csh', 'tcsh'].map((name) => [name, shell]),
  ),
  ...Object.fromEntries(['node', 'bun', 'deno'].map((name) => [name, script])),
  python: { code: 'c', valued: 'WX' },
  pypy: { code: 'c', valued: 'WX' },
  perl: { code: 'eE', valued: 'IMm' },
  ruby: { code: 'e', valued: 'Ir' },
  php: { code: 'rBRE', long: /^--(run|process-code)\b/, valued: 'dc' },
  lua: { code: 'e', valued: 'l' },
  osascript: { code: 'e', valued: 'l' },
  pwsh: powershell,
  powershell,
}

/** Shells whose code is read like the command itself. */
export const posixShells = new Set(['sh', 'bash', 'dash'])

/** Builtins that change what later words or names mean, or run text; what follows cannot be judged by its words. */
export const meaningChanging = new Set([
  '.',
  'source',
  'eval',
  'trap',
  'alias',
  'unalias',
  'enable',
  'hash',
  'bind',
  'complete',
  'compgen',
  'compopt',
  'let',
  'read',
  'readarray',
  'mapfile',
  'declare',
  'typeset',
  'export',
  'unset',
  'local',
  'readonly',
  'set',
  'shopt',
  'coproc',
  'fc',
  'history',
  'getopts',
  'pushd',
  'popd',
  'dirs',
])

/** Assignments before a command that do not keep a rule from matching (Z-61). */
export const harmlessVariable = /^(LANG|LC_[A-Z]+|TZ|CI|TERM|NO_COLOR|FORCE_COLOR)$/
