/** Files as the person edits them: opened with what is needed to save them byte for byte, saved through the commit gate. */
import { access, constants } from 'node:fs/promises'
import { LatheError } from '../../preload/contract/errors.ts'
import { readWhole, type CommitGate } from './gate.ts'
import type { FilePath, Place } from './paths.ts'
import { decodeText, encodeText, keepsEveryByte, utf8 } from './text.ts'
import { hashOf } from './version.ts'
import type { FileWorkers } from './worker-pool.ts'

const encodingMs = 20_000

/** Why a text file cannot be saved as it is edited, in a sentence; null where it can. */
export async function whyReadOnly(path: FilePath, content: Uint8Array): Promise<string | null> {
  const writable = await access(path.real, constants.W_OK).then(
    () => true,
    () => false,
  )
  if (!writable) return 'The file may not be written.'
  const decoded = await decodeText(content)
  if (decoded && (await keepsEveryByte(content, decoded))) return null
  return 'Its encoding is not certain: saving it could change bytes that were not edited.'
}

type Saving = {
  gate: CommitGate
  workers: FileWorkers
  /** The changes of these ids need no further record. */
  recorded(changeIds: readonly string[]): Promise<void>
}

/**
 * Writes `text` over the version `base` of a file, null where there is none, and answers the new version. Encoding, mark
 * and line ends stay the file's own. Throws `file.stale` where another version is there, and what the gate throws, also where
 * `signal` is aborted before it writes.
 */
export async function saveText(
  { gate, workers, recorded }: Saving,
  place: Place,
  path: FilePath,
  { text, base }: { text: string; base: string | null },
  signal: AbortSignal,
): Promise<string> {
  if (path.kind !== 'file' && path.kind !== 'missing')
    throw new LatheError('file.not_regular', `${path.shown} is no file.`)
  const now = path.kind === 'missing' ? null : (await readWhole(path)).content
  if ((now && (await hashOf(now))) !== base) throw changed(path)
  const content = now
    ? await workers.run('replace', { bytes: now, text }, { size: now.length + text.length, timeoutMs: encodingMs })
    : await encodeText({ text, encoding: utf8 })
  const version = await hashOf(content)
  if (version === base) return version
  const author = { ...place, turnId: place.sessionId, by: 'person' as const }
  const changes = await gate.commit(place, [{ path, base, content }], author, signal).catch((error: unknown) => {
    throw error instanceof LatheError && error.code === 'file.changed_during_edit' ? changed(path) : error
  })
  await recorded(changes.map(({ id }) => id))
  return version
}

function changed({ shown }: FilePath): LatheError {
  return new LatheError(
    'file.stale',
    `${shown} was changed by somebody else since it was opened; nothing was written.`,
    {
      hint: 'Compare the two, then keep yours or take theirs.',
    },
  )
}
