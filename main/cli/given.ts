/** What the command line was given: the prompt, the folder, the files that go along. */
import { readFile, realpath, stat } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { text as readAll } from 'node:stream/consumers'
import { LatheError } from '../../preload/contract/errors.ts'
import { newId } from '../../preload/contract/ids.ts'
import type { Attachment } from '../../preload/contract/items.ts'
import { attachmentBytesMax } from '../../preload/contract/limits.ts'
import type { ClientContext, Handlers } from '../transport/handlers.ts'

const uploadPartBytes = 1024 * 1024

/** Wrong usage that only looking shows: exit 2, and no session is made (S-130). */
export class UsageError extends LatheError {
  constructor(message: string) {
    super('request.invalid', message)
  }
}

export type NamedBytes = { name: string; bytes: Buffer }

export async function promptOf(given: string): Promise<string> {
  const prompt = given === '-' ? await readAll(process.stdin) : given
  if (prompt.trim() === '') throw new UsageError('PROMPT is empty.')
  return prompt
}

export async function folderOf(given = process.cwd()): Promise<string> {
  const path = await realpath(resolve(given)).catch(() => null)
  if (path !== null && (await stat(path)).isDirectory()) return path
  throw new UsageError(`${given} is no folder.`)
}

export async function readAttachment(path: string): Promise<NamedBytes> {
  const file = await stat(path).catch(() => null)
  if (!file?.isFile()) throw new UsageError(`${path} cannot be attached: there is no such file.`)
  if (file.size > attachmentBytesMax) throw new UsageError(`${path} cannot be attached: it is larger than 50 MiB.`)
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${path} cannot be attached (${error.code}).`)
  })
  return { name: basename(path), bytes }
}

/** Uploads in parts; the last one answers what the host made of the file. */
export async function upload(
  { handlers, client }: { handlers: Handlers; client: ClientContext },
  { name, bytes }: NamedBytes,
): Promise<Attachment> {
  const uploadId = newId()
  for (let part = 0, at = 0; ; part++, at += uploadPartBytes) {
    const last = at + uploadPartBytes >= bytes.length
    const data = bytes.toString('base64', at, at + uploadPartBytes)
    const { attachment } = await handlers.attachments.upload(
      { uploadId, name, mediaType: 'application/octet-stream', part, last, data },
      client,
    )
    if (attachment) return attachment
    if (last) throw new LatheError('attachment.rejected', `${name} was not taken.`)
  }
}
