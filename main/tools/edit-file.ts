import { z } from 'zod'
import { LatheError } from '../../preload/contract/errors.ts'
import type { Differ } from '../files/diff.ts'
import type { EditRequest } from '../files/edit.ts'
import type { EditedBytes } from '../files/edit-bytes.ts'
import { readWhole, type CommitGate } from '../files/gate.ts'
import { notFound, type FilePath, type Paths } from '../files/paths.ts'
import { notRead, stale, type FileStates, type Standing } from '../files/read-state.ts'
import { decodeText, encodeText, utf8 } from '../files/text.ts'
import { hashOf } from '../files/version.ts'
import type { FileWorkers } from '../files/worker-pool.ts'
import type { Blobs } from '../storage/blobs.ts'
import { changePreview } from './change-preview.ts'
import { isOpenToAll, JudgedPaths, placeOf, titled, whereItLeads, writeEffect } from './file-effects.ts'
import type { Tool, ToolContext } from './tool.ts'

export type EditFileDeps = {
  paths: Paths
  states: FileStates
  gate: CommitGate
  blobs: Blobs
  differ: Differ
  workers: FileWorkers
}

const input = z.object({
  path: z.string().describe('Path of the file'),
  old_text: z
    .string()
    .describe(
      'Text to replace, exactly as it stands in the file, with enough lines around it to be unique. Empty: create the file or fill a blank one',
    ),
  new_text: z.string().describe('Text to put in its place'),
  replace_all: z.boolean().optional().describe('Replace every match'),
  occurrence: z.int().min(1).optional().describe('Replace only the n-th match, from 1'),
  line_hint: z.int().min(1).optional().describe('Replace the match at or nearest to this line'),
  expected_replacements: z.int().min(1).optional().describe('Refuse unless exactly so many would be replaced'),
})
type Input = z.infer<typeof input>

const editTimeMs = 30_000

/** One small exact change of a file (F-510 to F-523). */
export function createEditFileTool(deps: EditFileDeps): Tool<Input> {
  const paths = new JudgedPaths(deps.paths)
  return {
    name: 'edit_file',
    description:
      'Replaces one text in a file by another. old_text must fit exactly one place unless replace_all, occurrence or line_hint (one of them) says which; copy it from read_file without the line numbers. Line ends and encoding of the file are kept.',
    input,
    concurrent: false,
    title: ({ path }) => titled('Edit', path),

    async plan(input, context) {
      checkChoosers(input)
      const file = await paths.judge(context, input.path)
      deps.paths.checkWritable(file)
      const title = titled(file.kind === 'missing' ? 'Create' : 'Edit', file.shown)
      // A file that may not be read unasked is not searched either: the answer would tell of its content.
      const detail = isOpenToAll(file)
        ? await previewOf(file, input, context)
        : await changePreview(
            deps.differ,
            whereItLeads(file),
            Buffer.from(input.old_text),
            Buffer.from(input.new_text),
            context.signal,
          )
      return { effects: [writeEffect(file)], preview: { title, detail, detailKind: 'diff' } }
    },

    async run(input, context) {
      checkChoosers(input)
      const file = await paths.use(context, input.path)
      deps.paths.checkWritable(file)
      const before = await contentOf(file, input)
      if (before === null || input.old_text === '') return fill(file, before, input, context)

      let edited = await edit(file, before, input, context)
      const again = async (current: Uint8Array): Promise<Uint8Array> =>
        (edited = await edit(file, current, input, context)).bytes
      const changes = await deps.gate.commit(
        placeOf(context),
        [{ path: file, base: edited.base, content: edited.bytes, again }],
        authorOf(context),
        context.signal,
      )
      const text = `${warningOf(edited.standing)}${outcomeOf(file, edited)}`
      return {
        text,
        isError: false,
        summary: outcomeOf(file, edited),
        view: { path: file.shown, line: edited.now[0]?.first },
        changes,
      }
    },
  }

  async function previewOf(file: FilePath, input: Input, context: ToolContext): Promise<string> {
    const before = await contentOf(file, input)
    const after =
      before === null || input.old_text === ''
        ? await filled(file, before, input)
        : (await edit(file, before, input, context)).bytes
    return changePreview(deps.differ, whereItLeads(file), before, after, context.signal)
  }

  /** The file as it is now, null where there is none; a missing file can only be created (F-510). */
  async function contentOf(file: FilePath, { old_text }: Input): Promise<Uint8Array | null> {
    if (file.kind !== 'missing') return (await readWhole(file)).content
    if (old_text !== '') throw await notFound(file)
    return null
  }

  async function edit(
    file: FilePath,
    bytes: Uint8Array,
    input: Input,
    { sessionId, signal }: ToolContext,
  ): Promise<EditedBytes & { base: string; standing: Standing }> {
    const base = await hashOf(bytes)
    const standing = await deps.states.standing(sessionId, file.key, base)
    try {
      const edited = await deps.workers.run(
        'edit',
        { bytes, request: requestOf(input), standing },
        { size: bytes.length, timeoutMs: editTimeMs, signal },
      )
      return { ...edited, base, standing }
    } catch (error) {
      if (!(error instanceof LatheError)) throw error
      if (error.code === 'file.not_read') throw notRead(file.shown)
      if (error.code !== 'file.stale') throw error
      const state = await deps.states.get(sessionId, file.key)
      throw await stale(file.shown, state ? await deps.states.seenContent(state.version, deps.blobs) : null, bytes)
    }
  }

  async function fill(file: FilePath, before: Uint8Array | null, input: Input, context: ToolContext) {
    const content = await filled(file, before, input)
    const changes = await deps.gate.commit(
      placeOf(context),
      [{ path: file, base: before && (await hashOf(before)), content }],
      authorOf(context),
      context.signal,
    )
    const text = `${before === null ? 'Created' : 'Filled'} ${file.shown}, ${content.length.toLocaleString('en')} bytes.`
    return { text, isError: false, summary: text, view: { path: file.shown, line: 1 }, changes }
  }
}

/** The new content of a missing or blank file; any other is `edit.not_empty` (F-510). */
async function filled(file: FilePath, before: Uint8Array | null, { new_text }: Input): Promise<Uint8Array> {
  if (before === null) return encodeText({ text: new_text, encoding: utf8 })
  const decoded = await decodeText(before)
  if (!decoded || decoded.text.trim() !== '') {
    throw new LatheError('edit.not_empty', `${file.shown} has content, so old_text cannot be empty.`, {
      hint: 'Give the text to replace, or replace the whole file with write_file.',
    })
  }
  if (decoded.text === new_text) throw new LatheError('edit.no_change', 'The file already has this content.')
  return encodeText({ text: new_text, encoding: decoded.encoding })
}

function checkChoosers({ replace_all, occurrence, line_hint }: Input): void {
  const chosen = [replace_all === true, occurrence !== undefined, line_hint !== undefined].filter(Boolean).length
  if (chosen > 1)
    throw new LatheError('tool.invalid_arguments', 'Give at most one of replace_all, occurrence and line_hint.')
}

function requestOf(input: Input): EditRequest {
  return {
    oldText: input.old_text,
    newText: input.new_text,
    replaceAll: input.replace_all,
    occurrence: input.occurrence,
    lineHint: input.line_hint,
    expected: input.expected_replacements,
  }
}

function authorOf({ sessionId, turnId, callId }: ToolContext) {
  return { sessionId, turnId, callId, by: 'tool' as const }
}

/** What to beware of where the file was not known as it is (F-521). */
function warningOf(standing: Standing): string {
  if (standing === 'unseen') return 'Warning: this file was not read in this session before the edit.\n'
  return standing === 'stale'
    ? 'Note: this file changed after it was read; the text to replace was still there once. Read it again before further edits.\n'
    : ''
}

/** How many, where they stand now, and how they were found if not exactly (F-523). */
function outcomeOf(file: FilePath, { count, now, strategy }: EditedBytes): string {
  const ranges = now.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`))
  const lines = `${ranges.length === 1 && now[0]!.first === now[0]!.last ? 'line' : 'lines'} ${ranges.join(', ')}${count > now.length ? ', ...' : ''}`
  return `Edited ${file.shown}: ${count} ${count === 1 ? 'replacement' : 'replacements'}, now ${lines}.${strategy === 'exact' ? '' : ` Matched by ${strategy}.`}`
}
