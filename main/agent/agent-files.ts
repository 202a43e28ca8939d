/**
 * Agents a person made: Markdown files with front matter, in the data folder or in a trusted workspace. An agent gives
 * instructions and narrows what its turns may do; nothing in its file can widen anything (C-21).
 */
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { builtInAgent, type AgentEntry } from '../../preload/contract/agents.ts'
import { errorBody, LatheError, type ErrorBody } from '../../preload/contract/errors.ts'
import { agentDescriptionCharsMax, agentFileBytesMax, agentsMax } from '../../preload/contract/limits.ts'
import { AgentName, ApprovalMode } from '../../preload/contract/session.ts'
import { readWithin } from '../files/read-within.ts'
import { efforts } from '../models/config.ts'
import { allOf, listed, ofEachValue, refusedValue } from '../platform/refused-value.ts'

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
        if (!isMissing(error)) throw unusable(name, sentence(error))
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
    const path = fileOf(folder, name)
    const { bytes, size } = await readWithin(folder.root, path, agentFileBytesMax).catch((error) =>
      unlessLink(path, error),
    )
    if (size > agentFileBytesMax) throw invalid(`It is larger than ${agentFileBytesMax / 1024} KiB.`)
    const misnamed = misnaming(name)
    const { fields, instructions } = await parseAgent(textOf(bytes), this.#ports.toolNames()).catch(
      (error: unknown) => {
        throw misnamed === null ? error : invalid(`${misnamed} ${sentence(error)}`)
      },
    )
    if (misnamed !== null) throw invalid(misnamed)
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

function misnaming(name: string): string | null {
  if (name === builtInAgent) return 'Its name is that of the built-in agent.'
  return AgentName.safeParse(name).success
    ? null
    : 'Its name may hold letters, digits, dashes and underscores, 64 at most.'
}

function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')
}

/** A link that leads nowhere is a file that cannot be used, and not one that is not there. */
async function unlessLink(path: string, error: NodeJS.ErrnoException): Promise<never> {
  if (error.code === 'ENOENT' && (await lstat(path).catch(() => null)))
    throw invalid('It is a link to a file that is not there.')
  throw error
}

const Fields = z.strictObject({
  description: z.string().trim().min(1).max(agentDescriptionCharsMax),
  model: z.string().min(1).max(300).optional(),
  effort: z.enum(efforts).optional(),
  mode: ApprovalMode.optional(),
  tools: z.array(z.string().min(1).max(200)).max(200).optional(),
})
/** Names of tools are those of `tools`. */
const fieldsOf = (tools: readonly string[]) =>
  Fields.extend({
    tools: Fields.shape.tools.superRefine((named, context) => {
      const unknown = [...new Set(named)].filter((tool) => !tools.includes(tool)).map((tool) => `"${tool}"`)
      if (unknown.length > 0) context.addIssue(`names ${listed(unknown)}, and there is no such tool`)
    }),
  })
type Fields = z.infer<typeof Fields>

const frontMatter = /^---[ \t]*\n((?:.*\n)*?)---[ \t]*(?:\n|$)/

/** Front matter and what follows it; `tools` are those there are. Throws `config.invalid` with all that is wrong and where. */
export async function parseAgent(
  text: string,
  tools: readonly string[],
): Promise<{ fields: Fields; instructions: string }> {
  const lines = text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n')
  const [whole, yaml] = frontMatter.exec(lines) ?? []
  if (whole === undefined || yaml === undefined)
    throw invalid('It does not begin with front matter between two lines of ---.')
  const read = fieldsOf(tools).safeParse((await parseYaml(yaml)) ?? {})
  if (!read.success) throw invalid(problemsOf(read.error))
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
  const faults = [...document.errors, ...document.warnings].map(
    // The front matter begins on the second line of the file.
    ({ pos, message }) => `Line ${lineCounter.linePos(pos[0]).line + 1}: ${message.replace(/\.?$/, '.')}`,
  )
  if (faults.length > 0) throw invalid(allOf(faults))
  try {
    return document.toJS({ maxAliasCount: 100 })
  } catch (error) {
    throw invalid(`Its front matter cannot be used: ${(error as Error).message}.`)
  }
}

function problemsOf({ issues }: z.ZodError): string {
  const known = Object.keys(Fields.shape).join(', ')
  return allOf(
    ofEachValue(issues).map((issue) => {
      if (issue.code === 'unrecognized_keys')
        return `${listed(issue.keys)} ${issue.keys.length === 1 ? 'is' : 'are'} not known; there are ${known}.`
      return issue.path.length > 0 ? refusedValue({ issues: [issue] }) : `Its front matter names ${known}.`
    }),
  )
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
