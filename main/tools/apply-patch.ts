import { z } from 'zod'
import { LatheError } from '../../preload/contract/errors.ts'
import type { Differ } from '../files/diff.ts'
import { readWhole, type CommitGate, type WriteRequest } from '../files/gate.ts'
import { parsePatch, type FilePatch } from '../files/patch.ts'
import { notFound, swapped, type FilePath, type Paths } from '../files/paths.ts'
import { notRead, stale, type FileStates } from '../files/read-state.ts'
import { renamed, uncounted } from '../files/renames.ts'
import { encodeText, utf8 } from '../files/text.ts'
import { hashOf } from '../files/version.ts'
import type { FileWorkers } from '../files/worker-pool.ts'
import type { Blobs } from '../storage/blobs.ts'
import { changePreview } from './change-preview.ts'
import { isOpenToAll, placeOf, readEffect, whereItLeads, writeEffect } from './file-effects.ts'
import type { Effect, Tool, ToolContext } from './tool.ts'

export type ApplyPatchDeps = {
  paths: Paths
  states: FileStates
  gate: CommitGate
  blobs: Blobs
  differ: Differ
  workers: FileWorkers
}

const input = z.object({
  patch: z.string().min(1).describe('The patch, from "*** Begin Patch" to "*** End Patch"'),
  dry_run: z.boolean().optional().describe('Check it and show the diff; write nothing'),
})
type Input = z.infer<typeof input>

const description = `Changes several places or files at once, all or nothing. Format:
*** Begin Patch
*** Add File: PATH            (every line of it begins with +)
*** Delete File: PATH
*** Update File: PATH
*** Move to: PATH             (optional)
@@ a line that stands before the place   (optional, to tell equal places apart)
 kept line
-old line
+new line
*** End of File               (optional: the hunk is at the end of the file)
*** End Patch
Give about three kept lines around each change, copied from read_file without the line numbers.`

const patchTimeMs = 30_000
const shownFaultsMax = 6_000

/** A file as the patch leaves it; null content deletes it. */
type Written = {
  file: FilePath
  base: string | null
  before: Uint8Array | null
  after: Uint8Array | null
  mode?: number
  movedFrom?: string
  again?: WriteRequest['again']
}
type Fault = { code: LatheError['code']; text: string }

/** Several files, all or nothing (section 7). */
export function createApplyPatchTool(deps: ApplyPatchDeps): Tool<Input> {
  const judged = new WeakMap<ToolContext, FilePath[]>()
  return {
    name: 'apply_patch',
    description,
    input,
    concurrent: false,
    title: ({ patch }) => titleOf(patch),

    async plan({ patch, dry_run }, context) {
      const files = parsePatch(patch)
      const paths = await resolveAll(files, context)
      judged.set(context, paths)
      const effects = files.flatMap((file): Effect[] => {
        const [path, target] = pathsOf(file, paths)
        if (dry_run) return [readEffect(path), ...(target ? [readEffect(target)] : [])]
        const change = file.act === 'delete' ? 'delete' : target ? 'move' : undefined
        return [
          { ...writeEffect(path), ...(change ? { change } : {}) } as Effect,
          ...(target ? [writeEffect(target)] : []),
        ]
      })
      // Files that may not be read unasked are not fitted either: the answer would tell of their content.
      const open = paths.every(isOpenToAll)
      return {
        effects,
        preview: {
          title: titleOf(patch),
          detail: open ? await diffOf(await fitAll(files, paths, context), context) : patch.slice(0, 64_000),
          detailKind: 'diff',
        },
      }
    },

    async run({ patch, dry_run }, context) {
      const files = parsePatch(patch)
      const paths = await resolveAll(files, context)
      const before = judged.get(context)
      for (const [at, path] of paths.entries()) if (before?.[at] && before[at].real !== path.real) throw swapped(path)
      const written = await fitAll(files, paths, context)
      if (dry_run) {
        return {
          text: `The patch fits; nothing was written.\n${await diffOf(written, context)}`,
          isError: false,
          summary: 'The patch fits; nothing was written.',
        }
      }
      const requests = written.map(({ file, base, after, mode, again }) => ({
        path: file,
        base,
        content: after,
        mode,
        ...(again ? { again } : {}),
      }))
      const author = {
        sessionId: context.sessionId,
        turnId: context.turnId,
        callId: context.callId,
        by: 'tool' as const,
      }
      const made = await deps.gate.commit(placeOf(context), requests, author, context.signal)
      const changes = await Promise.all(
        made.map(async (change, at) => {
          const { movedFrom, after } = written[at]!
          if (movedFrom !== undefined) return renamed(change, movedFrom, written[at - 1]!.before, after)
          return written[at + 1]?.movedFrom === undefined ? change : uncounted(change)
        }),
      )
      const text = [`Applied the patch to ${counted(written.length)}:`, ...written.map(outcomeOf)].join('\n')
      return { text, isError: false, summary: text, view: { path: written[0]!.file.shown, line: 1 }, changes }
    },
  }

  /** Each path of the patch once, in its order, a move's target after its source. Throws where one stands twice (F-704). */
  async function resolveAll(files: readonly FilePatch[], context: ToolContext): Promise<FilePath[]> {
    const paths: FilePath[] = []
    for (const file of files) {
      for (const given of [file.path, ...(file.act === 'update' && file.moveTo !== null ? [file.moveTo] : [])]) {
        const path = await deps.paths.resolve(placeOf(context), given)
        if (paths.some(({ key }) => key === path.key))
          throw new LatheError(
            'tool.invalid_arguments',
            `${path.shown} stands in the patch twice; give all its hunks under one header.`,
          )
        paths.push(path)
      }
    }
    return paths
  }

  /** Every file as the patch would leave it. Throws one error that lists all faults (F-705). */
  async function fitAll(
    files: readonly FilePatch[],
    paths: readonly FilePath[],
    context: ToolContext,
  ): Promise<Written[]> {
    const written: Written[] = []
    const faults: Fault[] = []
    for (const file of files) {
      const [path, target] = pathsOf(file, paths)
      try {
        for (const one of [path, ...(target ? [target] : [])]) deps.paths.checkWritable(one)
        written.push(...(await fit(file, path, target, context, faults)))
      } catch (error) {
        if (!(error instanceof LatheError)) throw error
        faults.push({ code: error.code, text: error.message })
      }
    }
    if (faults.length === 0) return written
    throw new LatheError(
      faults[0]!.code,
      `The patch was not applied; no file was changed.\n${faults
        .map(({ text }) => text)
        .join('\n\n')
        .slice(0, shownFaultsMax)}`,
      { hint: 'Read these places again with read_file and force, and send a smaller patch.' },
    )
  }

  async function fit(
    file: FilePatch,
    path: FilePath,
    target: FilePath | undefined,
    context: ToolContext,
    faults: Fault[],
  ): Promise<Written[]> {
    if (file.act === 'add') {
      if (path.kind !== 'missing')
        throw new LatheError('edit.not_empty', `${path.shown}: it is to be added, but is there already.`)
      return [{ file: path, base: null, before: null, after: await encodeText({ text: file.content, encoding: utf8 }) }]
    }
    if (path.kind === 'missing') throw await notFound(path)
    if (target && target.kind !== 'missing')
      throw new LatheError('edit.not_empty', `${target.shown}: a file is to be moved there, but one is there already.`)
    const { content, stats } = await readWhole(path)
    const base = await hashOf(content)
    if (file.act === 'delete') {
      if ((await deps.states.standing(context.sessionId, path.key, base)) === 'stale')
        throw await staleOf(path, content, context)
      return [{ file: path, base, before: content, after: null }]
    }
    const again = async (current: Uint8Array): Promise<Uint8Array> => {
      const late: Fault[] = []
      const after = await patched(file, path, current, context, late)
      if (late.length > 0) throw new LatheError(late[0]!.code, late[0]!.text)
      return after
    }
    const after = await patched(file, path, content, context, faults)
    if (!target) return [{ file: path, base, before: content, after, again }]
    return [
      { file: path, base, before: content, after: null },
      { file: target, base: null, before: null, after, mode: stats.mode & 0o7777, movedFrom: path.shown },
    ]
  }

  /** The bytes with all hunks in; what does not fit is added to `faults`. */
  async function patched(
    file: Extract<FilePatch, { act: 'update' }>,
    path: FilePath,
    bytes: Uint8Array,
    context: ToolContext,
    faults: Fault[],
  ): Promise<Uint8Array> {
    const job = { size: bytes.length, timeoutMs: patchTimeMs, signal: context.signal }
    const made = await deps.workers.run('patch', { bytes, hunks: file.hunks }, job)
    const standing = await deps.states.standing(context.sessionId, path.key, await hashOf(bytes))
    // As for edits: an unread or changed file only where every line stands there exactly (F-521).
    const sure = made.exact && made.faults.length === 0
    if (standing === 'stale' && !sure) throw await staleOf(path, bytes, context)
    if (standing === 'unseen' && !sure && made.faults.length === 0) throw notRead(path.shown)
    for (const { hunk, code, expected, found } of made.faults) {
      faults.push({ code, text: `${path.shown}, hunk ${hunk}: these lines are not there once:\n${expected}\n${found}` })
    }
    return made.bytes
  }

  async function staleOf(path: FilePath, now: Uint8Array, { sessionId }: ToolContext): Promise<LatheError> {
    const state = await deps.states.get(sessionId, path.key)
    return stale(path.shown, state ? await deps.states.seenContent(state.version, deps.blobs) : null, now)
  }

  async function diffOf(written: readonly Written[], { signal }: ToolContext): Promise<string> {
    const diffs: string[] = []
    for (const { file, before, after } of written)
      diffs.push(await changePreview(deps.differ, whereItLeads(file), before, after, signal))
    return diffs.join('')
  }
}

function pathsOf(file: FilePatch, paths: readonly FilePath[]): [FilePath, FilePath | undefined] {
  const at = paths.findIndex(({ given }) => given === file.path)
  return [paths[at]!, file.act === 'update' && file.moveTo !== null ? paths[at + 1] : undefined]
}

function outcomeOf({ file, before, after }: Written): string {
  return `${before === null ? 'A' : after === null ? 'D' : 'M'} ${file.shown}`
}

function titleOf(patch: string): string {
  const names = [...patch.matchAll(/^\*\*\* (?:Add|Delete|Update) File: (.+)$/gm)].map((match) => match[1]!.trim())
  return names.length === 1 ? `Patch ${names[0]}`.slice(0, 80) : `Patch ${counted(names.length)}`
}

function counted(files: number): string {
  return files === 1 ? '1 file' : `${files} files`
}
