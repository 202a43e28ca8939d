/** Files of a workspace, as they are shown and edited, and files that are attached. */
import { z } from 'zod'
import { BlobHash, Id } from './ids.ts'
import { Attachment } from './items.ts'
import { editedBytesMax } from './limits.ts'
import { act, inSession, Path, route } from './route.ts'

const EditedText = z.string().max(editedBytesMax)
/** The window that edits, and the revision of the file's draft that it knows; null where it knows of none. */
const DraftAuthor = z.object({ source: Id, over: Id.nullable() })

export const TreeNode = z.object({
  name: z.string(),
  path: z.string(),
  kind: z.enum(['file', 'folder', 'link', 'other']),
  bytes: z.number().nullable(),
  ignored: z.boolean(),
})
export type TreeNode = z.infer<typeof TreeNode>
export const FileBody = z.object({
  path: z.string(),
  text: z.string().nullable(),
  bytes: z.number(),
  truncated: z.boolean(),
  binary: z.boolean(),
  mediaType: z.string().nullable(),
  /** Hash of the bytes `text` was read from; null where it is not all of them. What is saved names it. */
  version: z.string().nullable(),
  /** Why the editor shows it without changing it; null where it can be edited. */
  readOnly: z.string().nullable(),
  /**
   * Edits that were not saved yet, and the version they were made on; null there: a file that is not on disk. `revision`
   * is new with each change of the draft, whichever window made it.
   */
  draft: z.object({ text: z.string(), base: z.string().nullable(), revision: Id }).nullable(),
})
export type FileBody = z.infer<typeof FileBody>

/** A picture that can be shown, by its content; its size in pixels where its header tells it. */
export const Picture = z.object({
  mediaType: z.string(),
  bytes: z.number().int(),
  width: z.number().int().nullable(),
  height: z.number().int().nullable(),
})
export type Picture = z.infer<typeof Picture>
export const PictureBody = z.object({ data: z.base64(), mediaType: z.string() })

/** A PDF or Office document as text, as the agent reads it (F-401). */
export const DocumentBody = z.object({
  path: z.string(),
  text: z.string(),
  /** PDF: the pages the text is of, from 1, and how many there are. */
  pages: z.object({ first: z.number().int(), last: z.number().int(), count: z.number().int() }).nullable(),
})
export type DocumentBody = z.infer<typeof DocumentBody>

export const fileRoutes = {
  attachments: {
    /** Bytes come in base64 parts of at most 1 MiB; the last one answers the attachment. */
    upload: route
      .input(
        z.object({
          uploadId: Id,
          name: z.string().max(255),
          mediaType: z.string().max(200),
          part: z.number().int().nonnegative(),
          last: z.boolean(),
          data: z.string().max(1_500_000),
        }),
      )
      .output(z.object({ attachment: Attachment.nullable() })),
    /** A stored body, base64, for previews and downloads; by session and hash, never by path (S-117). */
    read: route
      .input(z.object({ ...inSession, hash: BlobHash }))
      .output(z.object({ data: z.string(), mediaType: z.string() })),
  },
  files: {
    list: route.input(z.object({ workspace: Path, path: z.string().max(4_096) })).output(z.array(TreeNode)),
    read: route.input(z.object({ workspace: Path, path: Path })).output(FileBody),
    /** A document's text, of a PDF 20 pages from `fromPage` on; null where the file is none. Throws `document.*`. */
    document: route
      .input(z.object({ workspace: Path, path: Path, fromPage: z.number().int().min(1).max(999_999).optional() }))
      .output(DocumentBody.nullable()),
    /** A file that is a picture. Throws `file.too_large`, `file.not_found`. */
    picture: route.input(z.object({ workspace: Path, path: Path })).output(PictureBody),
    /**
     * Saves what the person edited, through the commit gate: encoding, byte order mark and line ends stay the file's own.
     * Throws `file.stale` where the file is not `base` any more, null being one that is not there.
     */
    write: route
      .input(
        z.object({
          ...act,
          workspace: Path,
          path: Path,
          text: EditedText,
          base: z.string().max(100).nullable(),
          author: DraftAuthor,
        }),
      )
      .output(z.object({ version: z.string() })),
    /**
     * Keeps unsaved edits over reloads and restarts; null lets them go. Throws `file.stale` where another window's edits,
     * which this one has not seen, would be overwritten.
     */
    setDraft: route
      .input(
        z.object({
          workspace: Path,
          path: Path,
          draft: z.object({ text: EditedText, base: z.string().max(100).nullable() }).nullable(),
          author: DraftAuthor,
        }),
      )
      .output(z.object({ revision: Id.nullable() })),
    /** Paths of the files with unsaved edits. */
    drafts: route.input(z.object({ workspace: Path })).output(z.array(z.string())),
    /**
     * What a path of this machine is called in the workspace, folders ending in `/`, and in full in a folder added to the
     * session; null where it leads elsewhere, links followed (S-114).
     */
    place: route
      .input(z.object({ workspace: Path, path: Path, sessionId: Id.optional() }))
      .output(z.object({ path: z.string().nullable() })),
    /** With `folders` those too, ending in `/`. */
    find: route
      .input(z.object({ workspace: Path, query: z.string().max(200), folders: z.boolean().optional() }))
      .output(z.array(z.object({ path: z.string(), kind: z.enum(['file', 'folder']) }))),
  },
}
