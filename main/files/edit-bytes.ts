/** An edit of a file's bytes: decoded, edited, encoded, with all else byte for byte as it was (F-203, F-519 to F-523). */
import { LatheError } from '../../preload/contract/errors.ts'
import { typeOfContent } from './content-type.ts'
import { editText, type EditRequest, type LineRange, type Strategy } from './edit.ts'
import { keptLineEnds } from './line-ends.ts'
import { applyHunks, type HunkFault, type PatchHunk } from './patch.ts'
import type { Standing } from './read-state.ts'
import { decodeText, encodeText, isBinary, keepsEveryByte, type DecodedText } from './text.ts'

export type EditInput = { bytes: Uint8Array; request: EditRequest; standing: Standing }

export type EditedBytes = {
  bytes: Uint8Array
  strategy: Strategy
  count: number
  /** Lines that hold the first replacements now. */
  now: LineRange[]
}

const rangesMax = 20

/**
 * Throws as `editText` does, and `file.binary`, `file.encoding_unsupported`, `file.unencodable`. A file that is not
 * `seen` is edited only by an exact match that is unique or as frequent as expected, else `file.not_read` or
 * `file.stale` (F-521, K-09).
 */
export async function editBytes({ bytes, request, standing }: EditInput): Promise<EditedBytes> {
  const decoded = await editable(bytes)
  const edit = editAs(decoded.text, request, standing)
  return {
    bytes: await encodeText({ text: edit.text, encoding: decoded.encoding }),
    strategy: edit.strategy,
    count: edit.replaced.length,
    now: edit.now.slice(0, rangesMax),
  }
}

export type PatchInput = { bytes: Uint8Array; hunks: PatchHunk[] }
export type PatchedBytes = { bytes: Uint8Array; faults: HunkFault[]; exact: boolean }

/** Throws `file.binary`, `file.encoding_unsupported`, `file.unencodable`; hunks that do not fit are answered. */
export async function patchBytes({ bytes, hunks }: PatchInput): Promise<PatchedBytes> {
  const decoded = await editable(bytes)
  const { text, faults, exact } = applyHunks(decoded.text, hunks)
  return { bytes: await encodeText({ text, encoding: decoded.encoding }), faults, exact }
}

export type ReplaceInput = { bytes: Uint8Array; text: string }

/** All of a file's text as a person edited it, with whatever line ends; throws as `patchBytes` does. */
export async function replaceBytes({ bytes, text }: ReplaceInput): Promise<Uint8Array> {
  const decoded = await editable(bytes)
  return encodeText({ text: keptLineEnds(decoded.text, text), encoding: decoded.encoding })
}

/** Text that comes back byte for byte. */
async function editable(bytes: Uint8Array): Promise<DecodedText> {
  const type = typeOfContent(bytes, isBinary(bytes))
  if (type === 'application/pdf' || type === 'application/zip')
    throw new LatheError('document.not_editable', 'A document cannot be edited as text.')
  const decoded = await decodeText(bytes)
  if (!decoded) throw new LatheError('file.binary', 'The file is binary and cannot be edited as text.')
  if (!(await keepsEveryByte(bytes, decoded))) {
    throw new LatheError(
      'file.encoding_unsupported',
      `The file looks like ${decoded.encoding.name}, but would not come back byte for byte; it was not touched.`,
    )
  }
  return decoded
}

function editAs(text: string, request: EditRequest, standing: Standing): ReturnType<typeof editText> {
  if (standing === 'seen') return editText(text, request)
  try {
    return editText(text, request, (strategy, matches) => {
      const certain = strategy === 'exact' && (matches.length === 1 || matches.length === request.expected)
      if (!certain) throw unsure(standing)
    })
  } catch (error) {
    if (standing === 'stale' && error instanceof LatheError && error.code === 'edit.no_match') throw unsure(standing)
    throw error
  }
}

function unsure(standing: 'unseen' | 'stale'): LatheError {
  return standing === 'stale'
    ? new LatheError('file.stale', 'The file changed after it was read.')
    : new LatheError('file.not_read', 'The file was not read in this session.')
}
