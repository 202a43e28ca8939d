/** The command line's words and options, and what is said about wrong ones (exit 2). */
import { parseArgs } from 'node:util'
import { LatheError } from '../../preload/contract/errors.ts'
import { closeNames } from '../files/similarity.ts'
import { helpTopic, type HelpTopic } from './help.ts'

export type RunArguments = {
  command: 'run'
  json: boolean
  workspace: string | undefined
  session: string | undefined
  continue: boolean
  model: string | undefined
  agent: string | undefined
  approve: 'ask' | 'edits' | 'all' | 'none' | undefined
  attach: string[]
  /** Milliseconds. */
  timeout: number | undefined
  prompt: string
}
export type ServeArguments = {
  command: 'serve'
  json: boolean
  port: number
  workspace: string | undefined
  watchLink: boolean
}
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
export type DoctorArguments = { command: 'doctor'; json: boolean; fix: boolean; emptyCheckpoints: boolean }
export type Arguments =
  | RunArguments
  | ServeArguments
  | SessionsArguments
  | DoctorArguments
  | { command: 'help'; json: false; topic: HelpTopic }
  | { command: 'version'; json: false }

const json = { type: 'boolean' } as const
const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const

const commands = ['run', 'serve', 'sessions', 'doctor', 'help'] as const
const verbs = ['list', 'show', 'export', 'import', 'delete', 'search'] as const

/** Throws `request.invalid` with a sentence and the page that helps. */
export function parseArguments(args: readonly string[]): Arguments {
  const topic = helpTopic(args[0]) ?? 'lathe'
  try {
    return parse(args, topic)
  } catch (error) {
    if (!(error instanceof LatheError)) throw error
    const page = topic === 'lathe' ? 'lathe --help' : `lathe ${topic} --help`
    throw new LatheError(error.code, error.message, { hint: `See \`${page}\`.` })
  }
}

function parse([command, ...rest]: readonly string[], topic: HelpTopic): Arguments {
  if (command === undefined) throw wrong('A command is missing.')
  const options = [command, ...(rest.includes('--') ? rest.slice(0, rest.indexOf('--')) : rest)]
  if (options.includes('--help') || options.includes('-h')) return { command: 'help', json: false, topic }
  if (command === 'help') {
    const asked = rest[0] === undefined ? 'lathe' : helpTopic(rest[0])
    if (asked === null) throw wrong(`There is no command "${rest[0]}".${meant(rest[0]!, commands)}`)
    return { command, json: false, topic: asked }
  }
  if (command === '--version' || command === '-v') return { command: 'version', json: false }
  if (command === 'run') return parseRun(rest)
  if (command === 'serve') return parseServe(rest)
  if (command === 'sessions') return parseSessions(rest)
  if (command === 'doctor') {
    const { values, positionals } = read(rest, { json, fix: flag, 'empty-checkpoints': flag })
    none(positionals)
    return {
      command,
      json: values.json ?? false,
      fix: values.fix ?? false,
      emptyCheckpoints: values['empty-checkpoints'] ?? false,
    }
  }
  if (command.startsWith('-')) throw wrong(`Unknown option '${command}': a command comes first.`)
  // A sentence is meant for the agent.
  const said = /\s/.test(command) ? ` To ask the agent: lathe run "..."` : meant(command, commands)
  throw wrong(`There is no command "${command}".${said}`)
}

function parseRun(args: string[]): RunArguments {
  const { values, positionals } = read(args, {
    json,
    workspace: text,
    session: text,
    continue: flag,
    model: text,
    agent: text,
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
    agent: values.agent,
    approve: oneOf('--approve', values.approve, ['ask', 'edits', 'all', 'none']),
    attach: values.attach ?? [],
    timeout: values.timeout === undefined ? undefined : number('--timeout', values.timeout, 0.001, 7 * 86_400) * 1_000,
    prompt,
  }
}

function parseServe(args: string[]): ServeArguments {
  const { values, positionals } = read(args, { json, port: text, workspace: text, 'watch-link': flag })
  none(positionals)
  return {
    command: 'serve',
    json: values.json ?? false,
    port: whole('--port', values.port ?? '0', 0, 65_535),
    workspace: values.workspace,
    watchLink: values['watch-link'] ?? false,
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
      throw wrong(`VERB is missing: ${verbs.slice(0, -1).join(', ')} or ${verbs.at(-1)}.`)
    default:
      throw wrong(
        verb.startsWith('-')
          ? `Unknown option '${verb}': the verb comes first.`
          : `There is no "sessions ${verb}".${meant(verb, verbs)}`,
      )
  }
}

type Options = NonNullable<Parameters<typeof parseArgs>[0]>['options'] & {}

function read<const T extends Options>(args: string[], options: T) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true })
  } catch (error) {
    const message = (error as Error).message.split('. ')[0]!.replace(/\.?$/, '.')
    const unknown = /^Unknown option '-*([^']*)'/.exec(message)?.[1]
    const names = Object.keys(options).map((name) => `--${name}`)
    throw wrong(unknown === undefined ? message : `${message}${meant(`--${unknown}`, names)}`)
  }
}

/** The name a mistyped one probably stands for, as a sentence; empty where none is like it. */
function meant(given: string, names: readonly string[]): string {
  const [nearest] = closeNames(given, names, 1)
  return nearest === undefined ? '' : ` Did you mean ${nearest}?`
}

function oneOf<const T extends string>(name: string, value: string | undefined, allowed: readonly T[]): T | undefined {
  if (value === undefined || allowed.includes(value as T)) return value as T | undefined
  throw wrong(`${name} is one of ${allowed.join(', ')}, not "${value}".${meant(value, allowed)}`)
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
  if (more.length > 0)
    throw wrong(`Only one ${name} can be given${name === 'QUERY' ? '; put several words in quotes' : ''}.`)
  return value
}

function none(positionals: string[]): void {
  if (positionals.length > 0) throw wrong(`"${positionals[0]}" is one word too many.`)
}

function wrong(message: string): LatheError {
  return new LatheError('request.invalid', message)
}
