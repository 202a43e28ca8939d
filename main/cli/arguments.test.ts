import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { LatheError } from '../../preload/contract/errors.ts'
import { parseArguments } from './arguments.ts'
import { exitCodes } from './exit-codes.ts'
import { helpPage } from './help.ts'

test('run takes its options in any order, and a prompt that is a dash or looks like an option after --', () => {
  expect(
    parseArguments([
      'run',
      '--json',
      '--attach',
      'a',
      'fix it',
      '--attach',
      'b',
      '--timeout',
      '1.5',
      '--approve',
      'none',
    ]),
  ).toMatchObject({
    command: 'run',
    json: true,
    attach: ['a', 'b'],
    timeout: 1_500,
    approve: 'none',
    prompt: 'fix it',
    continue: false,
  })
  expect(parseArguments(['run', '-'])).toMatchObject({ prompt: '-' })
  expect(parseArguments(['run', '--', '--help'])).toMatchObject({ command: 'run', prompt: '--help' })
  expect(parseArguments(['run', '--help'])).toMatchObject({ command: 'help' })
})

test('S-131 each command has a help page of its own, which names every option it takes', () => {
  for (const [words, topic] of [
    [['--help'], 'lathe'],
    [['help'], 'lathe'],
    [['run', 'fix it', '-h'], 'run'],
    [['serve', '--help'], 'serve'],
    [['sessions', 'list', '--help'], 'sessions'],
    [['help', 'doctor'], 'doctor'],
  ] as const) {
    expect(parseArguments(words)).toEqual({ command: 'help', json: false, topic })
  }
  const options = {
    run: ['workspace', 'session', 'continue', 'model', 'approve', 'attach', 'timeout', 'json'],
    serve: ['port', 'workspace', 'json'],
    sessions: ['workspace', 'archived', 'limit', 'items', 'format', 'out', 'exact', 'copy', 'purge', 'json'],
    doctor: ['fix', 'empty-checkpoints', 'json'],
  }
  for (const [topic, names] of Object.entries(options)) {
    const page = helpPage(topic as keyof typeof options)
    for (const name of names) expect(page).toContain(`--${name}`)
    expect(page).toContain('Exit codes')
    for (const line of page.split('\n')) expect(line.length).toBeLessThanOrEqual(120)
  }
  for (const code of Object.values(exitCodes)) expect(helpPage('lathe')).toMatch(new RegExp(`^  ${code} `, 'm'))
})

test('S-125 --session and --continue together, and every other wrong use, is request.invalid in one sentence', () => {
  for (const [words, sentence] of [
    [['run', '--session', 'x', '--continue', 'p'], '--session and --continue exclude each other.'],
    [['run'], 'PROMPT is missing.'],
    [['run', 'fix', 'it'], 'PROMPT must be one argument; put it in quotes.'],
    [['run', '--approve', 'yes', 'p'], '--approve is one of ask, edits, all, none, not "yes".'],
    [['run', '--approve', 'edit', 'p'], 'not "edit". Did you mean edits?'],
    [['run', '--timeout', '0', 'p'], /^--timeout is a number/],
    [['run', '--tiemout', '5', 'p'], "Unknown option '--tiemout'. Did you mean --timeout?"],
    [['run', '--workspce=x', 'p'], "Unknown option '--workspce'. Did you mean --workspace?"],
    [['sessions', 'list', '--archive'], "Unknown option '--archive'. Did you mean --archived?"],
    [['doctor', '--zzz'], "Unknown option '--zzz'."],
    [['serve', '-p', '1'], "Unknown option '-p'."],
    [['run', '--model'], /--model/],
    [['serve', '--port', '80000'], /^--port is a number from 0 to 65535/],
    [['serve', '--port', '1.5'], '--port is a whole number, not "1.5".'],
    [['serve', 'now'], '"now" is one word too many.'],
    [['sessions'], 'VERB is missing: list, show, export, import, delete or search.'],
    [['sessions', 'shwo'], 'There is no "sessions shwo". Did you mean show?'],
    [['sessions', '--json', 'list'], "Unknown option '--json': the verb comes first."],
    [['sessions', 'search', 'two', 'words'], 'Only one QUERY can be given; put several words in quotes.'],
    [['sessions', 'show'], 'ID is missing.'],
    [['sessions', 'export', 'x', '--exact'], '--exact is for --format json.'],
    [['rnu'], 'There is no command "rnu". Did you mean run?'],
    [['help', 'sesions'], 'There is no command "sesions". Did you mean sessions?'],
    [['--json', 'run', 'p'], "Unknown option '--json': a command comes first."],
    [['fix the test'], 'There is no command "fix the test". To ask the agent: lathe run "..."'],
    [[], 'A command is missing.'],
  ] as const) {
    expect(() => parseArguments(words)).toThrow(
      expect.objectContaining({
        code: 'request.invalid',
        hint: expect.stringMatching(/^See `lathe( \w+)? --help`\.$/),
      }),
    )
    expect(() => parseArguments(words)).toThrow(sentence)
  }
})

test('any words are either arguments or request.invalid', () => {
  const word = fc.oneof(
    fc.constantFrom(
      'run',
      'serve',
      'sessions',
      'doctor',
      'list',
      '--json',
      '--port',
      '--',
      '-',
      '--limit=3',
      '--session',
    ),
    fc.string(),
  )
  fc.assert(
    fc.property(fc.array(word, { maxLength: 6 }), (words) => {
      expect(commandOrCode(words)).toMatch(
        /^(request.invalid|run|serve|doctor|list|show|export|delete|search|help|version)$/,
      )
    }),
  )
})

function commandOrCode(words: string[]): string {
  try {
    return parseArguments(words).command
  } catch (error) {
    return (error as LatheError).code
  }
}
