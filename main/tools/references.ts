/** References to stored text, `exec:ID`, `output:HASH` and `attachment:ID`, where a tool takes a path (F-101, F-310). */
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LatheError } from '../../preload/contract/errors.ts'
import type { FilePath, Paths } from '../files/paths.ts'
import type { ToolContext } from './tool.ts'

const referenceForm = /^(exec|output|attachment):[A-Za-z0-9_-]{1,64}$/

/** Who asks: a call of a session, or of a subagent. */
type Asking = Pick<ToolContext, 'sessionId' | 'parent'>

/** Bytes behind a reference, or null where it does not occur in the session. */
export type ReadReference = (asking: Asking, reference: string) => Promise<Uint8Array | null>

/** By its exact form; a file of such a name is reached with `./`. */
export function isReference(path: string): boolean {
  return referenceForm.test(path)
}

export async function bytesOf(read: ReadReference, asking: Asking, reference: string): Promise<Uint8Array> {
  const bytes = await read(asking, reference)
  if (!bytes) throw new LatheError('file.not_found', `There is no ${reference} in this session.`)
  return bytes
}

/** For programs that can only search files: a file with the bytes, there while `work` runs, shown as the reference. */
export async function withFileOf<T>(
  paths: Paths,
  reference: string,
  bytes: Uint8Array,
  work: (file: FilePath) => Promise<T>,
): Promise<T> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'lathe-reference-')))
  try {
    await writeFile(join(folder, 'text'), bytes)
    const file = await paths.resolve({ sessionId: 'reference', workspace: folder, extraFolders: [] }, 'text')
    return await work({ ...file, shown: reference })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
