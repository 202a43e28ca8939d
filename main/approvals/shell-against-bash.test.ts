/** The judge against a real bash: what it saw in a command is held against what bash started. */
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { runCommand } from '../exec/command.ts'
import { commandsOf, home, judge, root, workspace } from './test-judge.ts'

/** Programs that only write down how they were started, so that what the judge saw is held against what bash did. */
describe.skipIf(process.platform === 'win32')('Z-260 real bash', () => {
  const stubs = join(root, 'stubs')
  const log = join(root, 'log')
  const names = ['git', 'rm', 'ls', 'x', 'cat']

  beforeAll(async () => {
    await mkdir(stubs)
    for (const name of names) {
      await writeFile(
        join(stubs, name),
        `#!/bin/sh\nargv=$(printf '%s\\037' ${name} "$@")\nprintf '%s\\036' "$argv" >> '${log}'\n`,
      )
      await chmod(join(stubs, name), 0o755)
    }
  })

  async function started(command: string): Promise<string[][]> {
    await rm(log, { force: true })
    await runCommand({
      file: '/bin/bash',
      args: ['--noprofile', '--norc', '-c', command],
      cwd: workspace,
      env: { PATH: stubs, HOME: home, v: 'w1 w2' },
      timeoutMs: 5_000,
      maxBytes: 100_000,
    }).catch(() => {})
    const text = await readFile(log, 'utf8').catch(() => '')
    return text
      .split('\x1e')
      .slice(0, -1)
      .map((entry) => entry.split('\x1f').slice(0, -1))
  }

  /** A null stands for any number of words. */
  function covers(words: (string | null)[], argv: string[]): boolean {
    if (words.length === 0) return argv.length === 0
    const [first, ...rest] = words
    if (first === null) return argv.some((_, at) => covers(rest, argv.slice(at))) || covers(rest, [])
    return argv[0] === first && covers(rest, argv.slice(1))
  }

  const word = fc.constantFrom(
    'a',
    '-b',
    '"c d"',
    "'e f'",
    'g\\ h',
    '"i"j',
    '$v',
    '"$v"',
    '*',
    '{k,l}',
    '~',
    '$(x m)',
    '"$(x n)"',
    '`x o`',
    '<(x p)',
    '2',
    'a=b',
    '"\\$q"',
    "'$r'",
    '#s',
    't#u',
    '""',
    '\\\n',
    '{}',
    '!',
    '${v:-w}',
    '-',
  )
  const simple = fc
    .tuple(
      fc.constantFrom(
        'git',
        'rm',
        'ls',
        'x',
        'cat',
        'env git',
        'command ls',
        'A=1 git',
        'LC_ALL=C git',
        '"git"',
        'g\\it',
        '! ls',
        'nice x',
      ),
      fc.array(word, { maxLength: 4 }),
    )
    .map(([name, words]) => [name, ...words].join(' '))
  const redirect = fc.constantFrom(
    '',
    '',
    '',
    ' > out',
    ' 2>&1',
    ' < out',
    ' >out y',
    ' 2>out',
    ' <<E\nz\nE\n',
    " <<'E'\n$(x q)\nE\n",
    ' <<E\n$(x q)\nE\n',
    ' <<< "z"',
    ' >out2',
    ' a2>out',
    ' <<-E\n\tz\n\tE\n',
  )
  const command = fc.letrec<{ line: string }>((tie) => ({
    line: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      fc.tuple(simple, redirect).map((parts) => parts.join('')),
      fc
        .tuple(
          tie('line'),
          fc.constantFrom(' && ', ' || ', '; ', ' | ', '\n', ' & ', '&&', ';', '|', ' # c\n', ' \\\n&& '),
          tie('line'),
        )
        .map((parts) => parts.join('')),
      tie('line').map((line) => `(${line})`),
      tie('line').map((line) => `{ ${line}\n}`),
      tie('line').map((line) => `if ${line}\nthen ls\nfi`),
      tie('line').map((line) => `for i in 1 2; do ${line}\ndone`),
      tie('line').map((line) => `f() { ${line}\n}; f`),
      tie('line').map((line) => `case a in a) ${line}\n;; esac`),
      tie('line').map((line) => `x "$(${line}\n)"`),
      tie('line').map((line) => `bash -c '${line.replaceAll("'", "'\\''")}'`),
    ),
  })).line

  test('no program is started with arguments that no effect shows', async () => {
    let understood = 0
    const runs = Number(process.env['LATHE_BASH_RUNS'] ?? 150)
    await fc.assert(
      fc.asyncProperty(command, async (line) => {
        const effects = await judge(line)
        if (
          commandsOf(effects).some((effect) => effect.opaque) ||
          effects.some((effect) => effect.kind === 'forbidden')
        )
          return
        understood += 1
        for (const argv of await started(line)) {
          const shown = commandsOf(effects).some((effect) => covers(effect.words, argv))
          if (!shown) throw new Error(`${JSON.stringify(line)} started ${JSON.stringify(argv)}`)
        }
      }),
      { numRuns: runs },
    )
    expect(understood).toBeGreaterThan(runs / 5)
  }, 3_600_000)
})
