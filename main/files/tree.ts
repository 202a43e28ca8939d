/** What the Files tab shows: one folder at a time, and a file's content (F-311, F-1303). */
import { lstat, readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { LatheError } from '../../preload/contract/errors.ts'
import { typeOfContent } from './content-type.ts'
import { comparePaths } from './file-search.ts'
import { IgnoreRules } from './ignore-rules.ts'
import { notFound, openChecked, type FilePath } from './paths.ts'
import { whyReadOnly } from './saving.ts'
import { decodeAs, encodingOf, isBinary } from './text.ts'
import { hashOf } from './version.ts'

export type TreeEntry = {
  name: string
  kind: 'file' | 'folder' | 'link' | 'other'
  bytes: number | null
  /** Where a link says it leads. */
  target: string | null
  /** Left out of searches by an ignore file or by name (F-802); shown dimmed. */
  ignored: boolean
}

/** Entries of one folder that are listed at most. */
const entriesMax = 10_000
const statsAtOnce = 64

/** Folders first, each group by name. Throws `file.not_found`, or `file.not_regular` where it is no folder. */
export async function listFolder(
  folder: FilePath,
  globalIgnoreFile: string | null = null,
): Promise<{ entries: TreeEntry[]; truncated: boolean }> {
  if (folder.kind === 'missing') throw await notFound(folder)
  if (folder.kind !== 'folder') throw new LatheError('file.not_regular', `${folder.shown} is not a folder.`)
  const [listed, rules] = await Promise.all([
    readdir(folder.real, { withFileTypes: true }),
    IgnoreRules.for(folder.real, globalIgnoreFile),
  ])
  listed.sort((a, b) => Number(b.isDirectory()) - Number(a.isDirectory()) || comparePaths(a.name, b.name))
  const kept = listed.slice(0, entriesMax)
  const entries: TreeEntry[] = []
  for (let at = 0; at < kept.length; at += statsAtOnce) {
    entries.push(
      ...(await Promise.all(
        kept.slice(at, at + statsAtOnce).map(async (entry): Promise<TreeEntry> => {
          const path = join(folder.real, entry.name)
          const kind = entry.isDirectory()
            ? 'folder'
            : entry.isFile()
              ? 'file'
              : entry.isSymbolicLink()
                ? 'link'
                : 'other'
          const bytes =
            kind === 'file'
              ? await lstat(path).then(
                  ({ size }) => size,
                  () => null,
                )
              : null
          const target = kind === 'link' ? await readlink(path).catch(() => null) : null
          return { name: entry.name, kind, bytes, target, ignored: rules.ignores(path, kind === 'folder') }
        }),
      )),
    )
  }
  return { entries, truncated: listed.length > kept.length }
}

export type ViewedFile = {
  text: string | null
  bytes: number
  /** Only the beginning is given. */
  truncated: boolean
  mediaType: string | null
  /** Hash of the bytes, where all of a text file is given. */
  version: string | null
  /** Why the text cannot be saved after an edit; null where it can. */
  readOnly: string | null
}

const viewedBytesMax = 16 * 1024 * 1024

/** A file as the viewer shows it: its text up to a number of bytes, or what it is. Never changes what a session has seen. */
export async function viewFile(path: FilePath, bytesMax = viewedBytesMax): Promise<ViewedFile> {
  const handle = await openChecked(path)
  try {
    const bytes = (await handle.stat()).size
    const length = Math.min(bytes, bytesMax)
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, 0)
    const content = buffer.subarray(0, bytesRead)
    const type = typeOfContent(content, isBinary(content))
    const encoding = type === null ? await encodingOf(content) : null
    if (!encoding)
      return { text: null, bytes, truncated: false, mediaType: type, version: null, readOnly: 'It is no text.' }
    const truncated = bytes > bytesRead
    return {
      text: await decodeAs(content.subarray(encoding.mark.length), encoding),
      bytes,
      truncated,
      mediaType: 'text/plain',
      version: truncated ? null : await hashOf(content),
      readOnly: truncated ? 'Only its beginning is shown.' : await whyReadOnly(path, content),
    }
  } finally {
    await handle.close()
  }
}
