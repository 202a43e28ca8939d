/**
 * Agents a person made: Markdown files with front matter, in the data folder or in a trusted workspace. An agent gives
 * instructions and narrows what its turns may do; nothing in its file can widen anything (C-21).
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { builtInAgent, type AgentEntry } from '../../preload/contract/agents.ts'
import { errorBody, LatheError, type ErrorBody } from '../../preload/contract/errors.ts'
import { agentDescriptionCharsMax, agentFileBytesMax, agentsMax } from '../../preload/contract/limits.ts'
import { AgentName, ApprovalMode } from '../../preload/contract/session.ts'
import { readWithin } from '../files/read-within.ts'
import { efforts } from '../models/config.ts'
import { refusedValue } from '../platform/refused-value.ts'

/** As its file says. */
export type Agent = {
  name: string
  origin: AgentEntry['origin']
  /** How its file is called in the workspace; null for the person's own. */
  place: string | null
  description: string
  model: string | null
  effort: string | null
  /** The widest mode its turns work in; null for the session's. */
  mode: ApprovalMode | null
  /** The only tools it is offered; null for all. */
  tools: readonly string[] | null
  instructions: string
}

/** The agent of a turn, read once, as the turn was admitted (T-18); or why it could not be, which fails the turn (T-160). */
export type ChosenAgent = Agent | { name: string; problem: ErrorBody }

export type AgentFilesPorts = {
  /** The data folder. */
  home: string
  /** Whether what lies in a workspace may speak to the model (Z-4). */
  isTrusted(workspace: string): Promise<boolean>
  /** Every tool there is, offered at the moment or not. */
  toolNames(): readonly string[]
}

type Folder = { origin: AgentEntry['origin']; path: string; root: string; place: string | null }

export class AgentFiles {
  readonly #ports: AgentFilesPorts

  constructor(ports: AgentFilesPorts) {
    this.#ports = ports
  }

  /** What can be chosen in `workspace`, by name; of one name the nearer. Broken ones too, with their problem. Never throws. */
  async list(workspace: string | null): Promise<AgentEntry[]> {
    const found = new Map<string, AgentEntry>()
    for (const folder of await this.#folders(workspace)) {
      const names = await readdir(folder.path).catch(() => [])
      const files = names.filter((name) => name.endsWith('.md')).sort()
      for (const file of files.slice(0, agentsMax)) {
        const name = file.slice(0, -3)
        if (!found.has(name)) found.set(name, await this.#entry(folder, name))
      }
    }
    return [...found.values()].sort((one, other) => (one.name < other.name ? -1 : 1))
  }

  /**
   * The nearer of that name. One that is there and cannot be used is never replaced by a farther one. Throws
   * `config.invalid`, naming it.
   */
  async read(name: string, workspace: string): Promise<Agent> {
    for (const folder of await this.#folders(workspace)) {
      try {
        return await this.#readIn(folder, name)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw unusable(name, sentence(error))
      }
    }
    throw new LatheError('config.invalid', `There is no agent "${name}" here.`, {
      hint: 'Choose another one, or put its file back.',
      reason: 'agent_missing',
      data: { agent: name },
    })
  }

  async #entry(folder: Folder, name: string): Promise<AgentEntry> {
    const shown = { name, origin: folder.origin, path: fileOf(folder, name), place: placeOf(folder, name) }
    const nothing = { description: '', model: null, effort: null, mode: null, tools: null }
    return this.#readIn(folder, name).then(
      ({ description, model, effort, mode, tools }) => {
        return { ...shown, description, model, effort, mode, tools: tools && [...tools], problem: null }
      },
      (error: unknown) => ({ ...shown, ...nothing, problem: sentence(error) }),
    )
  }

  async #readIn(folder: Folder, name: string): Promise<Agent> {
    const { bytes, size } = await readWithin(folder.root, fileOf(folder, name), agentFileBytesMax)
    if (!AgentName.safeParse(name).success)
      throw invalid('Its name may hold letters, digits, dashes and underscores, 64 at most.')
    if (name === builtInAgent) throw invalid('Its name is that of the built-in agent.')
    if (size > agentFileBytesMax) throw invalid(`It is larger than ${agentFileBytesMax / 1024} KiB.`)
    const { fields, instructions } = await parseAgent(textOf(bytes))
    const unknown = fields.tools?.find((tool) => !this.#ports.toolNames().includes(tool))
    if (unknown !== undefined) throw invalid(`tools: there is no tool "${unknown}".`)
    const { description, model = null, effort = null, mode = null, tools = null } = fields
    const { origin } = folder
    return { name, origin, place: placeOf(folder, name), description, model, effort, mode, tools, instructions }
  }

  async #folders(workspace: string | null): Promise<Folder[]> {
    const own = join(this.#ports.home, 'agents')
    const person: Folder = { origin: 'person', path: own, root: own, place: null }
    if (workspace === null || !(await this.#ports.isTrusted(workspace))) return [person]
    const place = '.lathe/agents'
    return [{ origin: 'workspace', path: join(workspace, place), root: workspace, place }, person]
  }
}

const Fields = z.strictObject({
  description: z.string().trim().min(1).max(agentDescriptionCharsMax),
  model: z.string().min(1).max(300).optional(),
  effort: z.enum(efforts).optional(),
  mode: ApprovalMode.optional(),
  tools: z.array(z.string().min(1).max(200)).max(200).optional(),
})
type Fields = z.infer<typeof Fields>

const frontMatter = /^---[ \t]*\n((?:.*\n)*?)---[ \t]*(?:\n|$)/

/** Front matter and what follows it. Throws `config.invalid` with what is wrong and where. */
export async function parseAgent(text: string): Promise<{ fields: Fields; instructions: string }> {
  const lines = text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n')
  const [whole, yaml] = frontMatter.exec(lines) ?? []
  if (whole === undefined || yaml === undefined)
    throw invalid('It does not begin with front matter between two lines of ---.')
  const read = Fields.safeParse((await parseYaml(yaml)) ?? {})
  if (!read.success) throw invalid(problemOf(read.error))
  return { fields: read.data, instructions: lines.slice(whole.length).trim() }
}

/** Plain YAML: no tags of its own, no key twice, few aliases (Z-213). */
async function parseYaml(text: string): Promise<unknown> {
  // Only who has made an agent pays for the parser.
  const { LineCounter, parseDocument } = await import('yaml')
  const lineCounter = new LineCounter()
  const document = parseDocument(text, {
    schema: 'core',
    merge: false,
    stringKeys: true,
    prettyErrors: false,
    lineCounter,
  })
  const [fault] = [...document.errors, ...document.warnings]
  // The front matter begins on the second line of the file.
  if (fault) throw invalid(`Line ${lineCounter.linePos(fault.pos[0]).line + 1}: ${fault.message.replace(/\.?$/, '.')}`)
  try {
    return document.toJS({ maxAliasCount: 100 })
  } catch (error) {
    throw invalid(`Its front matter cannot be used: ${(error as Error).message}.`)
  }
}

function problemOf(error: z.ZodError): string {
  const issue = error.issues[0]!
  const known = Object.keys(Fields.shape).join(', ')
  if (issue.code === 'unrecognized_keys') return `${issue.keys[0]} is not known; there are ${known}.`
  return issue.path.length > 0 ? refusedValue(error) : `Its front matter names ${known}.`
}

function textOf(bytes: Uint8Array): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    if (!text.includes('\0')) return text
  } catch {
    // Said below.
  }
  throw invalid('It is not UTF-8 text.')
}

function fileOf(folder: Folder, name: string): string {
  return join(folder.path, `${name}.md`)
}

function placeOf(folder: Folder, name: string): string | null {
  return folder.place === null ? null : `${folder.place}/${name}.md`
}

function invalid(message: string): LatheError {
  return new LatheError('config.invalid', message)
}

/** A refusal that names the agent; `data.agent` is what "Open the file" opens. */
export function unusable(name: string, why: string): LatheError {
  return new LatheError('config.invalid', `The agent "${name}" cannot be used. ${why}`, {
    hint: 'Open its file and mend it, then try again.',
    reason: 'agent_invalid',
    data: { agent: name },
  })
}

function sentence(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException
  if (error instanceof LatheError) return error.message
  return code === undefined ? errorBody(error).message : `It cannot be read (${code}).`
}
