/** The command line's words and options, and what is said about wrong ones (exit 2). */
import { parseArgs } from 'node:util'
import { LatheError } from '../../preload/contract/errors.ts'

export const usage = `Usage: lathe COMMAND

  lathe run [--workspace DIR] [--session ID | --continue] [--model PROVIDER/MODEL]
            [--approve ask|edits|all|none] [--attach FILE]... [--timeout SECONDS]
            [--json] PROMPT         run one turn; PROMPT '-' reads stdin, '!LINE' runs your own command
  lathe serve [--port N] [--workspace DIR] [--json]
                                    serve the window to a browser on this machine
  lathe sessions list [--workspace DIR] [--archived] [--limit N] [--json]
  lathe sessions show ID [--items N] [--json]
  lathe sessions export ID [--format md|json|html] [--out FILE] [--exact] [--json]
  lathe sessions import FILE [--copy] [--json]
  lathe sessions delete ID... [--purge] [--json]
  lathe sessions search QUERY [--limit N] [--json]
  lathe doctor [--empty-checkpoints] [--json]
                                    check the installation, with a fix for each fault

Exit: 0 completed, 1 failed, 2 wrong usage, 3 an approval or answer was needed and nobody could give it, 130 stopped.
LATHE_HOME is the data folder; config.json in it names the providers.`

export type RunArguments = {
  command: 'run'
  json: boolean
  workspace: string | undefined
  session: string | undefined
  continue: boolean
  model: string | undefined
  approve: 'ask' | 'edits' | 'all' | 'none' | undefined
  attach: string[]
  /** Milliseconds. */
  timeout: number | undefined
  prompt: string
}
export type ServeArguments = { command: 'serve'; json: boolean; port: number; workspace: string | undefined }
export type SessionsArguments =
  | { command: 'list'; json: boolean; workspace: string | undefined; archived: boolean; limit: number }
  | { command: 'show'; json: boolean; id: string; items: number | undefined }
  | {
      command: 'export'
      json: boolean
      id: string
      format: 'md' | 'json' | 'html'
      out: string | undefined
      exact: boolean
    }
  | { command: 'import'; json: boolean; file: string; copy: boolean }
  | { command: 'delete'; json: boolean; ids: string[]; purge: boolean }
  | { command: 'search'; json: boolean; query: string; limit: number }
export type DoctorArguments = { command: 'doctor'; json: boolean; emptyCheckpoints: boolean }
export type Arguments =
  | RunArguments
  | ServeArguments
  | SessionsArguments
  | DoctorArguments
  | { command: 'help' | 'version'; json: false }

const json = { type: 'boolean' } as const
const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const

/** Throws `request.invalid` with a sentence and how to see the usage. */
export function parseArguments(args: readonly string[]): Arguments {
  const [command, ...rest] = args
  if (command === undefined) throw wrong('A command is missing.')
  const options = args.includes('--') ? args.slice(0, args.indexOf('--')) : args
  if (command === 'help' || options.includes('--help') || options.includes('-h'))
    return { command: 'help', json: false }
  if (command === '--version' || command === '-v') return { command: 'version', json: false }
  if (command === 'run') return parseRun(rest)
  if (command === 'serve') return parseServe(rest)
  if (command === 'sessions') return parseSessions(rest)
  if (command === 'doctor') {
    const { values, positionals } = read(rest, { json, 'empty-checkpoints': flag })
    none(positionals)
    return { command, json: values.json ?? false, emptyCheckpoints: values['empty-checkpoints'] ?? false }
  }
  throw wrong(`There is no command "${command}".`)
}

function parseRun(args: string[]): RunArguments {
  const { values, positionals } = read(args, {
    json,
    workspace: text,
    session: text,
    continue: flag,
    model: text,
    approve: text,
    attach: { type: 'string', multiple: true },
    timeout: text,
  })
  const [prompt, ...more] = positionals
  if (prompt === undefined) throw wrong('PROMPT is missing.')
  if (more.length > 0) throw wrong('PROMPT must be one argument; put it in quotes.')
  if (values.session !== undefined && values.continue) throw wrong('--session and --continue exclude each other.')
  return {
    command: 'run',
    json: values.json ?? false,
    workspace: values.workspace,
    session: values.session,
    continue: values.continue ?? false,
    model: values.model,
    approve: oneOf('--approve', values.approve, ['ask', 'edits', 'all', 'none']),
    attach: values.attach ?? [],
    timeout: values.timeout === undefined ? undefined : number('--timeout', values.timeout, 0.001, 7 * 86_400) * 1_000,
    prompt,
  }
}

function parseServe(args: string[]): ServeArguments {
  const { values, positionals } = read(args, { json, port: text, workspace: text })
  none(positionals)
  return {
    command: 'serve',
    json: values.json ?? false,
    port: whole('--port', values.port ?? '0', 0, 65_535),
    workspace: values.workspace,
  }
}

function parseSessions([verb, ...args]: string[]): SessionsArguments {
  switch (verb) {
    case 'list': {
      const { values, positionals } = read(args, { json, workspace: text, archived: flag, limit: text })
      none(positionals)
      return {
        command: 'list',
        json: values.json ?? false,
        workspace: values.workspace,
        archived: values.archived ?? false,
        limit: whole('--limit', values.limit ?? '100', 1, 100_000),
      }
    }
    case 'show': {
      const { values, positionals } = read(args, { json, items: text })
      return {
        command: 'show',
        json: values.json ?? false,
        id: only('ID', positionals),
        items: values.items === undefined ? undefined : whole('--items', values.items, 1, 1_000_000),
      }
    }
    case 'import': {
      const { values, positionals } = read(args, { json, copy: flag })
      return {
        command: 'import',
        json: values.json ?? false,
        file: only('FILE', positionals),
        copy: values.copy ?? false,
      }
    }
    case 'export': {
      const { values, positionals } = read(args, { json, format: text, out: text, exact: flag })
      const format = oneOf('--format', values.format, ['md', 'json', 'html']) ?? 'md'
      if (values.exact && format !== 'json') throw wrong('--exact is for --format json.')
      return {
        command: 'export',
        json: values.json ?? false,
        id: only('ID', positionals),
        format,
        out: values.out,
        exact: values.exact ?? false,
      }
    }
    case 'delete': {
      const { values, positionals } = read(args, { json, purge: flag })
      if (positionals.length === 0) throw wrong('ID is missing.')
      return { command: 'delete', json: values.json ?? false, ids: positionals, purge: values.purge ?? false }
    }
    case 'search': {
      const { values, positionals } = read(args, { json, limit: text })
      return {
        command: 'search',
        json: values.json ?? false,
        query: only('QUERY', positionals),
        limit: whole('--limit', values.limit ?? '20', 1, 100),
      }
    }
    case undefined:
      throw wrong('What of sessions? list, show, export, import, delete or search.')
    default:
      throw wrong(`There is no "sessions ${verb}".`)
  }
}

type Options = NonNullable<Parameters<typeof parseArgs>[0]>['options'] & {}

function read<const T extends Options>(args: string[], options: T) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true })
  } catch (error) {
    throw wrong((error as Error).message.split('. ')[0]!.replace(/\.?$/, '.'))
  }
}

function oneOf<const T extends string>(name: string, value: string | undefined, allowed: readonly T[]): T | undefined {
  if (value === undefined || allowed.includes(value as T)) return value as T | undefined
  throw wrong(`${name} is one of ${allowed.join(', ')}, not "${value}".`)
}

function number(name: string, value: string, least: number, most: number): number {
  const given = Number(value)
  if (value.trim() !== '' && given >= least && given <= most) return given
  throw wrong(`${name} is a number from ${least} to ${most}, not "${value}".`)
}

function whole(name: string, value: string, least: number, most: number): number {
  const given = number(name, value, least, most)
  if (Number.isInteger(given)) return given
  throw wrong(`${name} is a whole number, not "${value}".`)
}

function only(name: string, positionals: string[]): string {
  const [value, ...more] = positionals
  if (value === undefined) throw wrong(`${name} is missing.`)
  if (more.length > 0) throw wrong(`Only one ${name} can be given.`)
  return value
}

function none(positionals: string[]): void {
  if (positionals.length > 0) throw wrong(`"${positionals[0]}" is one word too many.`)
}

function wrong(message: string): LatheError {
  return new LatheError('request.invalid', message, { hint: 'See `lathe --help`.' })
}
