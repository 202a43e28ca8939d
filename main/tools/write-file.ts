import { z } from 'zod'
import type { Differ } from '../files/diff.ts'
import { readWhole, type CommitGate } from '../files/gate.ts'
import { notRead, stale, type FileStates } from '../files/read-state.ts'
import type { FilePath, Paths } from '../files/paths.ts'
import { countLines, decodeText, encodeText, lineEndsOf, utf8 } from '../files/text.ts'
import { hashOf } from '../files/version.ts'
import type { Blobs } from '../storage/blobs.ts'
import { isOpenToAll, JudgedPaths, placeOf, titled, whereItLeads, writeEffect } from './file-effects.ts'
import { changePreview } from './change-preview.ts'
import type { Tool, ToolContext } from './tool.ts'

export type WriteFileDeps = { paths: Paths; states: FileStates; gate: CommitGate; blobs: Blobs; differ: Differ }

const input = z.object({
  path: z.string().describe('Path of the file'),
  content: z.string().describe('The whole new content'),
})
type Input = z.infer<typeof input>

/** Makes a file or replaces it whole (F-501 to F-503). */
export function createWriteFileTool(deps: WriteFileDeps): Tool<Input> {
  const paths = new JudgedPaths(deps.paths)
  return {
    name: 'write_file',
    description:
      'Makes a file, with its folders, or replaces the whole content of one that was read before. For a change of a part use edit_file.',
    input,
    concurrent: false,
    title: ({ path }) => titled('Write', path),

    async plan({ path, content }, context) {
      const file = await paths.judge(context, path)
      deps.paths.checkWritable(file)
      const before = file.kind === 'file' && isOpenToAll(file) ? (await readWhole(file)).content : null
      const after = await contentFor(before, content)
      return {
        effects: [writeEffect(file)],
        preview: {
          title: titled(file.kind === 'missing' ? 'Create' : 'Replace', file.shown),
          detail: await changePreview(deps.differ, whereItLeads(file), before, after, context.signal),
          detailKind: 'diff',
        },
      }
    },

    async run({ path, content }, context) {
      const file = await paths.use(context, path)
      deps.paths.checkWritable(file)
      const before = file.kind === 'missing' ? null : (await readWhole(file)).content
      const base = before && (await hashOf(before))
      if (before && before.length > 0) await checkSeen(file, before, base!, context)
      const after = await contentFor(before, content)
      if (before && Buffer.compare(before, after) === 0) {
        const text = `No change: ${file.shown} already has this content.`
        return { text, isError: false, summary: text, view: { path: file.shown } }
      }
      const changes = await deps.gate.commit(
        placeOf(context),
        [{ path: file, base, content: after }],
        { sessionId: context.sessionId, turnId: context.turnId, callId: context.callId, by: 'tool' },
        context.signal,
      )
      const text = `${before ? 'Replaced' : 'Created'} ${file.shown}: ${countLines(content)} lines, ${after.length.toLocaleString('en')} bytes.`
      return { text, isError: false, summary: text, view: { path: file.shown, line: 1 }, changes }
    },
  }

  /** Nothing that the session has not seen is replaced whole (F-502). */
  async function checkSeen(
    file: FilePath,
    now: Uint8Array,
    version: string,
    { sessionId }: ToolContext,
  ): Promise<void> {
    const state = await deps.states.get(sessionId, file.key)
    if (!state) throw notRead(file.shown)
    if (state.version !== version)
      throw await stale(file.shown, await deps.states.seenContent(state.version, deps.blobs), now)
  }
}

/** Bytes of the content: in the encoding, mark and line ends of the file it replaces, where those were uniform (F-501). */
async function contentFor(before: Uint8Array | null, content: string): Promise<Uint8Array> {
  const old = before && (await decodeText(before))
  if (!old || before.length === 0) return encodeText({ text: content, encoding: utf8 })
  const ends = { crlf: '\r\n', lf: '\n', cr: '\r', mixed: null, none: null }[lineEndsOf(old.text)]
  const text = ends === null ? content : content.replace(/\r\n|\n/g, ends)
  return encodeText({ text: old.encoding.mark.length > 0 ? text.replace(/^\ufeff/, '') : text, encoding: old.encoding })
}
