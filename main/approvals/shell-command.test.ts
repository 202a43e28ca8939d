import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { commandAddresses, type CommandSetting } from './shell-command.ts'
import { commandsOf, judge, workspace } from './test-judge.ts'

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
