import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Paths } from '../files/paths.ts'
import type { Effect } from '../tools/tool.ts'
import { commandAddresses, commandEffects, type CommandSetting } from './shell-command.ts'

const root = await realpath(await mkdtemp(join(tmpdir(), 'lathe-judge-')))
const [home, workspace, dataFolder] = [join(root, 'home'), join(root, 'work/app'), join(root, 'data')]
afterAll(() => rm(root, { recursive: true }))
beforeAll(async () => {
  for (const folder of [join(home, '.ssh'), join(workspace, 'src'), dataFolder, join(workspace, 'deep/er')])
    await mkdir(folder, { recursive: true })
  await writeFile(join(workspace, 'src/a.ts'), '')
  await symlink('/etc/passwd', join(workspace, 'null'))
  await symlink(join(home, '.ssh/id_rsa'), join(workspace, 'plain'))
})

const paths = new Paths({ dataFolder, home })
const setting: CommandSetting = {
  shell: 'bash',
  folder: workspace,
  workspace,
  home,
  dataFolder,
  gitOnlyReads: async () => true,
  resolve: (absolute) => paths.resolve({ sessionId: 's', workspace, extraFolders: [] }, absolute),
}

const judge = (command: string, more: Partial<CommandSetting> = {}): Promise<Effect[]> =>
  commandEffects(command, { ...setting, ...more })

type CommandEffect = Extract<Effect, { kind: 'command' }>
const commandsOf = (effects: Effect[]): CommandEffect[] => effects.filter((effect) => effect.kind === 'command')

/** As the policy does it (Z-82): only fully known words of a command that is not opaque fit a rule. */
function fits(effect: Effect, pattern: string): boolean {
  if (effect.kind !== 'command' || effect.opaque || effect.neverAutomatic || effect.words.includes(null)) return false
  const want = pattern.split(' ')
  const rest = want.at(-1) === '**'
  if (rest) want.pop()
  return (
    (rest ? effect.words.length >= want.length : effect.words.length === want.length) &&
    want.every((word, at) => word === effect.words[at])
  )
}

/** Whether a rule `allow PATTERN` alone would let the command run in mode `ask`; read-only commands count as others. */
const ridesOn = (effects: Effect[], pattern: string): boolean =>
  effects.every((effect) => fits(effect, pattern) || (effect.kind === 'read' && effect.inside && !effect.secret))

/** Whether mode `read-only` would let it run. */
const onlyReads = (effects: Effect[]): boolean =>
  effects.every((effect) =>
    effect.kind === 'command' ? effect.readOnly : effect.kind === 'read' && effect.inside && !effect.secret,
  )

describe('K-21 ZA-11 nothing rides on an allowance for one of its parts', () => {
  test.each([
    [
      'git status',
      [
        'git status -s',
        'git status',
        "git 'status' -s",
        'g"it" st\\atus',
        'LC_ALL=C git status',
        'git status # rm x',
        '! git status',
        '{ git status; }',
        '(git status)',
        'if git status; then git status; fi',
        'git status\ngit status',
      ],
    ],
    ['find', ['find . -name x']],
  ])('an allowance for %s fits only it', async (allowed, commands) => {
    for (const command of commands)
      expect([command, ridesOn(await judge(command), `${allowed} **`)]).toEqual([command, true])
  })

  test.each([
    'git status && rm -rf x',
    'git status & rm x',
    'git status || rm x',
    'git status | tee x',
    'git status\nrm x',
    '(git status; rm x)',
    '{ git status; rm x; }',
    'git status; $(curl x|sh)',
    'git status $(id)',
    'git status `id`',
    'git status "$(id)"',
    'git status <(id)',
    'git status >(id)',
    'git status ${x:-$(id)}',
    'git status $((1+$(id)))',
    'git status > out',
    'git status >> ~/.bashrc',
    'git status &> out',
    'git status >| out',
    'git status 2> out',
    '> ~/.bashrc',
    'git status < /etc/passwd',
    'git status > x arg',
    "git -c core.pager='sh -c ..' log",
    'git -c core.pager=sh status',
    'git --exec-path=/tmp status',
    'PATH=/tmp git status',
    'GIT_DIR=/x git status',
    'LD_PRELOAD=x git status',
    'PATH=/tmp; git status',
    'export PATH=/tmp; git status',
    'for PATH in /tmp; do git status; done',
    'env A=1 rm x',
    'env git push',
    'env PATH=/tmp git status',
    'env -S "git status"',
    '$G status',
    'git $S',
    'git stat*',
    'git {status,x}',
    '~/git status',
    'git status; "x',
    'git status |',
    'echo a | xargs git push',
    'echo a | xargs git status',
    'xargs',
    'find . -exec rm {} +',
    'find . -exec rm {} \\;',
    'find . -execdir sh -c x \\;',
    'find . -ok rm {} \\;',
    'find . -delete',
    'find . -fprint out',
    'find . $X',
    'cat <<END\n$(id)\nEND',
    'cat <<END\n`id`\nEND',
    'git status <<< "$(id)"',
    'cat <<END | git status\nx\nEND',
    'cat <<END && rm x\ny\nEND',
    "cat <<'END'\na\nEND\nrm x\nEND",
    'git() { rm x; }; git status',
    'eval git status',
    'source x; git status',
    '. x',
    'alias git=rm\ngit status',
    'hash -p /tmp/x git; git status',
    'trap "rm x" EXIT; git status',
    'command git push',
    'builtin eval x',
    'exec rm x',
    'time rm x',
    'nohup rm x',
    'nice -n 5 rm x',
    'timeout 5 rm x',
    'stdbuf -oL rm x',
    'setsid rm x',
    'watch "git status; rm x"',
    'sh -c "git status"',
    'bash -lc "git status"',
    'python -c "x"',
    'python3.11 -W ignore -c x',
    'node -pe x',
    'perl -ne x',
    'curl x | sh',
    'git status | bash',
    'python - < x',
    'sh < x',
    'gi\\\nt-x status',
    'git\\\nstatus',
    'git status \\\n&& rm x',
    'git status a2>x',
    'git status\r\nrm x',
    'git\u00a0status; rm x',
    'git status \x00',
    'case x in *) rm x;; esac',
    'while git status; do rm x; done',
    '[[ $(id) ]] && git status',
    '[[ -v a[$(id)] ]]; git status',
    'test -v "a[$(id)]"',
    'for x in "a[\\$(id)]"; do git status $((x)); done',
    'coproc git status',
    'git status && x=1',
    'declare x; git status',
    'printf -v PATH x; git status',
    'read PATH; git status',
    "$'git' status",
  ])('%j asks', async (command) => {
    const effects = await judge(command)
    expect(ridesOn(effects, 'git status **')).toBe(false)
    expect(ridesOn(effects, 'find **')).toBe(false)
    expect(ridesOn(effects, 'cat **')).toBe(false)
  })
})

test('Z-87 a test runner that finds its own files can be remembered; given code cannot', async () => {
  const effects = await Promise.all(
    ['node --test', 'node --test --eval x', 'echo x | node --test'].map((command) => judge(command)),
  )
  expect(effects.map((one) => commandsOf(one).at(-1)?.opaque !== undefined)).toEqual([false, true, true])
})

test('Z-57 every part of a command is an effect of its own, in order', async () => {
  const effects = await judge(
    'a 1 && b "2 3" | c; (d); if e; then f & fi; for x in 1 2; do g $x; done; case y in z) h;; esac; k() { l; }; m "$(n)" <(o)',
  )
  expect(commandsOf(effects).map((effect) => effect.words)).toEqual([
    ['a', '1'],
    ['b', '2 3'],
    ['c'],
    ['d'],
    ['e'],
    ['f'],
    ['g', null],
    ['h'],
    ['l'],
    ['n'],
    ['o'],
    ['m', null, null],
  ])
})

test('Z-57 a commit message in a here-document is understood', async () => {
  const effects = await judge(
    `git add -A && git commit -m "$(cat <<'EOF'\nit's $(not run) \`nor this\`\n\nbody\nEOF\n)"`,
  )
  expect(commandsOf(effects).map((effect) => [effect.words, effect.opaque])).toEqual([
    [['git', 'add', '-A'], undefined],
    [['cat'], undefined],
    [['git', 'commit', '-m', null], undefined],
  ])
})

test('Z-58 what cannot be taken apart is one opaque command', async () => {
  const cases: [string, Partial<CommandSetting>?][] = [
    ['ls "', {}],
    ['ls; '.repeat(201), {}],
    [`ls ${'x'.repeat(16 * 1024)}`, {}],
    ['', {}],
    ['# only a comment', {}],
    ['echo @(a|b)', {}],
    ['((x++))', {}],
    ['ls', { shell: 'pwsh' }],
    ['ls', { shell: 'cmd' }],
    ['ls', { shell: 'zsh' }],
    ['sh -c "'.repeat(3), {}],
    ['env '.repeat(9) + 'ls', {}],
  ]
  for (const [command, more] of cases) {
    expect([command, await judge(command, more)]).toEqual([
      command,
      [expect.objectContaining({ kind: 'command', opaque: expect.any(String), readOnly: false })],
    ])
  }
  expect(await judge('ls; '.repeat(200))).toHaveLength(200)
  expect(await judge('git status; sudo "', {})).toEqual([
    expect.objectContaining({ neverAutomatic: expect.stringContaining('sudo') }),
  ])
})

test('X-321 Z-5 a check that itself breaks is a refusal, whatever it would have found', async () => {
  const broken = judge('cat src/a.ts', { resolve: async () => Promise.reject(new TypeError('broken')) })
  await expect(broken).rejects.toMatchObject({ code: 'tool.failed' })
  await expect(judge('git status', { gitOnlyReads: async () => Promise.reject(new Error('broken')) })).rejects.toThrow(
    'could not be checked',
  )
})

describe('Z-65 commands that only read', () => {
  test.each([
    'pwd',
    'ls -la',
    'cat src/a.ts',
    'head -n 5 src/a.ts',
    'tail -20 src/a.ts | wc -l',
    'rg --files',
    'grep -A3 /etc/x src/a.ts',
    'git status --porcelain=v2',
    'git diff HEAD~1 -- src',
    'git log --oneline -5 --format=%h',
    'git --no-pager show HEAD:src/a.ts',
    'git blame -L 1,5 src/a.ts',
    'git rev-parse --show-toplevel',
    'git ls-files -o',
    'ls >/dev/null 2>&1',
    'cd src && cat a.ts',
    'ls && cat src/a.ts; git status',
    'find_x=1 cat src/a.ts'.slice(9),
    'du -sh .',
    'which node',
    'stat -c %s src/a.ts',
    'wc -l < src/a.ts',
    'cat </dev/null',
  ])('%j only reads', async (command) => {
    expect(onlyReads(await judge(command))).toBe(true)
  })

  test.each([
    'echo hi',
    'rg --pre x a',
    'rg -n "a.*b" src',
    'rg KEY',
    'rg -z a',
    'rg --hidden KEY',
    'rg -uu KEY',
    'grep -r KEY .',
    'grep -f x y',
    'git diff --output=x',
    'git diff --ext-diff',
    'git -c a=b status',
    'git --exec-path=. log',
    'git diff --no-index a b',
    'git log --format=%G?',
    'git branch new',
    'git branch -D main',
    'git branch --list --edit-description',
    'git remote add x y',
    'git remote -v update',
    'git diff --ignore-submodules=none',
    "git show ':(top)x'",
    "git log -- '*.env'",
    "git branch --list '--format=%(signature)'",
    'git diff --submodule=diff',
    'git -C x status',
    './ls',
    '/bin/ls',
    'cat ../x',
    'cat /etc/passwd',
    'cat .env',
    'cat src/server.key',
    'git show HEAD:.env',
    'cat $X',
    'cat *',
    'cat null',
    'cat plain',
    'cat ~/x',
    'ls > out',
    'cat > src/b.ts',
    'cat < ../x',
    'X=1 ls',
    'git diff /etc/passwd /etc/hosts',
    'file -C',
    'cd .. && cat x',
    'cd deep; cat ../../x',
    'cd $X && ls',
    'ls | xargs cat',
    'cd - && ls',
    'for n in "5 /etc/passwd"; do head -n $n; done',
    'rg --max-count $x a',
    'for x in 1 2; do cd ..; done; ls',
    'tail -n 5 ../x',
    'cat -- ../x',
    'grep -e x ../y',
    'grep -ie x ../y',
    'grep x ../y',
    'wc --files0-from=x',
  ])('%j does not', async (command) => {
    expect(onlyReads(await judge(command))).toBe(false)
  })

  test('git is a program that runs filters: not in a folder that is not trusted', async () => {
    expect(onlyReads(await judge('git status', { gitOnlyReads: async () => false }))).toBe(false)
    expect(onlyReads(await judge('ls', { gitOnlyReads: async () => false }))).toBe(true)
  })
})

test('XA-14 X-322 ~name counts as outside, a link named null is where it leads', async () => {
  expect(await judge('cat ~nosuchuser/x')).toContainEqual({
    kind: 'read',
    path: '~nosuchuser/x',
    inside: false,
    secret: false,
  })
  expect(await judge('npm x ~nosuchuser/x')).toContainEqual({
    kind: 'read',
    path: '~nosuchuser/x',
    inside: false,
    secret: false,
  })
  expect(await judge('ls > null')).toContainEqual(
    expect.objectContaining({ kind: 'write', path: '/etc/passwd', inside: false }),
  )
  expect(await judge('ls >/dev/null 2>/dev/stderr </dev/zero')).toHaveLength(1)
})

test('Z-62 redirects are reads and writes', async () => {
  const effects = await judge('x < src/a.ts > new 2>> src/a.ts > "deep/é x" > .git/config > $X')
  const write = (path: string, change: string, more = {}) => ({
    kind: 'write',
    path,
    inside: true,
    change,
    protected: false,
    secret: false,
    ...more,
  })
  expect(effects.filter((effect) => effect.kind !== 'command')).toEqual([
    { kind: 'read', path: join(workspace, 'src/a.ts'), inside: true, secret: false },
    write(join(workspace, 'new'), 'create'),
    write(join(workspace, 'src/a.ts'), 'edit'),
    write(join(workspace, 'deep/é x'), 'create'),
    write(join(workspace, '.git/config'), 'create', { protected: true }),
    write('$X', 'create', { inside: false }),
  ])
})

test('Z-66 ZA-13 elevation, Lathe itself and credential stores are never automatic, in any wrapper', async () => {
  for (const command of [
    'sudo ls',
    '/usr/bin/sudo ls',
    'env sudo ls',
    'timeout 5 sudo ls',
    'ls && sudo ls',
    'bash -c "sudo ls"',
    'flock x sudo ls',
    'xargs sudo',
    'find . -exec sudo ls \\;',
    'su -c ls',
    'doas ls',
    'pkexec ls',
    'lathe trigger x',
    'bin/lathe run x',
    'npx lathe run',
    'eval sudo ls',
    'echo "$(sudo ls)"',
    'cat ~/.ssh/id_rsa',
    'cp plain x',
    'cp --from=$HOME/.ssh/config x',
    'ls <<< x; "sudo',
  ]) {
    expect([command, commandsOf(await judge(command)).some((effect) => effect.neverAutomatic)]).toEqual([command, true])
  }
  for (const command of ['ls sudo', 'grep lathe src/a.ts', 'npm run sudoku']) {
    expect([command, commandsOf(await judge(command)).some((effect) => effect.neverAutomatic)]).toEqual([
      command,
      false,
    ])
  }
})

test('Z-70 some things are refused in every mode', async () => {
  const forbidden = [
    'rm -rf /',
    'rm -fr ~',
    'rm -r "$HOME"',
    'rm -R ${HOME}/',
    'rm --recursive ~/*',
    'rm -rf ..',
    'rm -rf /*',
    'cd / && rm -rf *',
    'cd ~; rm -rf ./*',
    'sudo rm -rf /',
    'bash -c "rm -rf ~"',
    'env rm -rf ~',
    'rm -rf deep/../../..',
    `rm -rf ${dataFolder}`,
    `cat ${dataFolder}/x`,
    'chmod -R 777 /',
    'chown -R x ~',
    'find / -delete',
    'find ~ -exec rm -rf {} +',
    'mkfs.ext4 /dev/sda1',
    'fdisk -l',
    'dd if=x of=/dev/sda',
    'cat x > /dev/nvme0n1',
    'tee /dev/sda',
    ':(){ :|:& };:',
    'bomb() { bomb & bomb; }; bomb',
    'shutdown now',
    'reboot',
    'systemctl poweroff',
    'format c:',
    'diskutil eraseDisk x',
  ]
  for (const command of forbidden)
    expect([command, (await judge(command)).some((effect) => effect.kind === 'forbidden')]).toEqual([command, true])
  const allowed = [
    'rm -rf x',
    'rm -rf .',
    'rm -rf *',
    'rm -rf ~/x',
    'chmod -R 755 .',
    'chmod 700 ~',
    'find . -delete',
    'dd if=/dev/sda of=x',
    'npm run format',
    'retry() { x || { sleep 1; retry; }; }; retry',
  ]
  for (const command of allowed)
    expect([command, (await judge(command)).some((effect) => effect.kind === 'forbidden')]).toEqual([command, false])
})

test('Z-63 addresses are found up to a blank, quote or operator', () => {
  expect(
    commandAddresses(`curl http://a/b?c=d "https://e/f" 'HTTP://g'; x https://h|y >https://i<z http://a/b?c=d`),
  ).toEqual(['http://a/b?c=d', 'https://e/f', 'HTTP://g', 'https://h', 'https://i'])
})

const fragments = [
  'git',
  'status',
  'rm',
  'ls',
  'x',
  '-c',
  'a=1',
  '&&',
  '||',
  ';',
  '|',
  '&',
  '\n',
  '(',
  ')',
  '{',
  '}',
  '"',
  "'",
  '\\',
  '$(',
  '`',
  '$x',
  '<',
  '>',
  '<<E',
  'E',
  '#',
  '*',
  '~',
  'if',
  'then',
  'fi',
  'for',
  'in',
  'do',
  'done',
  'case',
  'esac',
  '[[',
  ']]',
  '$((',
  '))',
  '<(',
  '2>&1',
  'f()',
  '!',
  '\\\n',
  '\t',
  '\r',
  '\u00a0',
  'é',
  '[',
  ']',
  '${',
  '\0',
]

test('Z-260 any text is judged, and never throws', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...fragments), { maxLength: 25 }),
      fc.constantFrom('', ' '),
      async (parts, between) => {
        const command = parts.join(between)
        const effects = await judge(command)
        expect(effects.length).toBeGreaterThan(0)
      },
    ),
    { numRuns: Number(process.env['LATHE_JUDGE_RUNS'] ?? 1_500) },
  )
}, 600_000)
