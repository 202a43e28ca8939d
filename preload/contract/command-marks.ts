/**
 * Commands a shell ran in a terminal, by the marks it prints around them (OSC 133): where each prompt, output and end
 * stands, what was run and how it ended. Host and window follow the same marks with this, each in its own
 * emulator. A mark counts only with the secret that was given to this shell, so printed text cannot forge one.
 */
import { z } from 'zod'

/** Where a command stands, rows counted upwards from the last one of the normal screen, which is 0. */
export const PlacedCommand = z.object({
  promptRow: z.number().int(),
  /** Null while nothing was run at this prompt. */
  outputRow: z.number().int().nullable(),
  /** Null while it runs. */
  endRow: z.number().int().nullable(),
  /** How much of its last row, where it did not end with a line end. */
  endColumn: z.number().int(),
  /** As it was typed, at most 4,096 characters; null where the shell does not tell. */
  text: z.string().nullable(),
  startedAt: z.number().nullable(),
  durationMs: z.number().nullable(),
  exitCode: z.number().int().nullable(),
})
export type PlacedCommand = z.infer<typeof PlacedCommand>

/** What a new window needs to know of the marks before a snapshot. */
export const PlacedCommands = z.object({
  secret: z.string(),
  /** The shell's folder; null until it told. */
  folder: z.string().nullable(),
  /** Rows are true after this many characters of the snapshot. */
  at: z.number().int(),
  list: z.array(PlacedCommand),
})
export type PlacedCommands = z.infer<typeof PlacedCommands>

/** A row that an emulator keeps track of. */
export type Marker = { readonly line: number; readonly isDisposed: boolean; dispose(): void }

export type MarkedCommand<M extends Marker> = Omit<PlacedCommand, 'promptRow' | 'outputRow' | 'endRow'> & {
  prompt: M
  output: M | null
  end: M | null
}

const keptMax = 1_000
const textMax = 4_096
const folderMax = 4_096

/** The cursor's row, and its column in it. */
export type Here<M extends Marker> = { marker: M; column: number }

export class CommandMarks<M extends Marker> {
  readonly #secret: string
  readonly #here: () => Here<M> | null
  readonly #changed: (command: MarkedCommand<M> | null) => void
  #commands: MarkedCommand<M>[] = []
  #folder: string | null = null

  /** `here` marks the cursor's row; null where commands are not to be marked, as on the alternate screen. */
  constructor(
    secret: string,
    here: () => Here<M> | null,
    changed: (command: MarkedCommand<M> | null) => void = () => {},
  ) {
    this.#secret = secret
    this.#here = here
    this.#changed = changed
  }

  /**
   * Those of which something still stands in the scrollback, the oldest first; the last one may be a prompt at which
   * nothing was run.
   */
  get commands(): readonly MarkedCommand<M>[] {
    const last = this.#commands.at(-1)
    const gone = (command: MarkedCommand<M>): boolean =>
      command !== last && command.prompt.isDisposed && (command.end === null || command.end.isDisposed)
    if (this.#commands.some(gone)) this.#commands = this.#commands.filter((command) => !gone(command))
    return this.#commands
  }

  /** The shell's folder, by its last prompt. */
  get folder(): string | null {
    return this.#folder
  }

  /** What stands behind `OSC 133 ;`. Marks without the secret are nobody's. */
  take(data: string, now: number): void {
    const [kind, ...rest] = data.split(';')
    const fields = new Map(rest.filter((part) => part.includes('=')).map((part) => cut(part)))
    if (fields.get('aid') !== this.#secret) return
    if (kind === 'A') this.#prompt(fields.get('cwd'))
    else if (kind === 'C') this.#started(fields.get('cmdline'), now)
    else if (kind === 'D') this.#ended(rest[0], now)
  }

  #prompt(folder: string | undefined): void {
    if (folder !== undefined) this.#folder = decoded(folder).slice(0, folderMax)
    const last = this.#commands.at(-1)
    // A prompt at which nothing was run is drawn again: an empty line, Ctrl+C.
    if (last && last.output === null) {
      this.#commands.pop()
      last.prompt.dispose()
    }
    const prompt = this.#here()?.marker
    if (prompt)
      this.#commands.push({
        prompt,
        output: null,
        end: null,
        endColumn: 0,
        text: null,
        startedAt: null,
        durationMs: null,
        exitCode: null,
      })
    if (this.#commands.length > keptMax) this.#forget(this.#commands.shift()!)
    this.#changed(null)
  }

  #started(text: string | undefined, now: number): void {
    const command = this.#commands.at(-1)
    if (!command || command.output !== null) return
    const output = this.#here()?.marker
    if (!output) return
    command.output = output
    command.text = text === undefined ? null : decoded(text).slice(0, textMax)
    command.startedAt = now
    this.#changed(command)
  }

  #ended(code: string | undefined, now: number): void {
    const command = this.#commands.at(-1)
    if (!command || command.output === null || command.end !== null) return
    const here = this.#here()
    command.end = here?.marker ?? null
    command.endColumn = here?.column ?? 0
    command.exitCode = code !== undefined && /^\d{1,3}$/.test(code) ? Number(code) : null
    command.durationMs = command.startedAt === null ? null : Math.max(0, now - command.startedAt)
    this.#changed(command)
  }

  #forget({ prompt, output, end }: MarkedCommand<M>): void {
    for (const marker of [prompt, output, end]) marker?.dispose()
  }

  /** Where they stand in a normal screen of `length` rows. */
  placed(length: number): PlacedCommand[] {
    // What has scrolled out begins where the scrollback does.
    const row = (marker: M): number => length - 1 - (marker.isDisposed ? 0 : marker.line)
    return this.commands.map(({ prompt, output, end, ...facts }) => ({
      ...facts,
      promptRow: row(prompt),
      outputRow: output && row(output),
      endRow: end && row(end),
    }))
  }

  /** Begins with what a snapshot told; `mark` marks a row, or answers none where the snapshot is without it. */
  begin({ folder, list }: PlacedCommands, mark: (row: number) => M | undefined): void {
    this.clear()
    this.#folder = folder
    for (const { promptRow, outputRow, endRow, ...facts } of list) {
      const prompt = mark(promptRow)
      if (!prompt) continue
      const output = outputRow === null ? null : (mark(outputRow) ?? null)
      const end = endRow === null ? null : (mark(endRow) ?? null)
      const command = { ...facts, prompt, output, end }
      this.#commands.push(command)
      this.#changed(command)
    }
  }

  clear(): void {
    this.#commands.forEach((command) => this.#forget(command))
    this.#commands = []
  }
}

function cut(part: string): [string, string] {
  const at = part.indexOf('=')
  return [part.slice(0, at), part.slice(at + 1)]
}

/** Percent-encoded where it would end the mark. What is not well-formed stays as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
