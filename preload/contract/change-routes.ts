/** What a turn did to files: shown, discussed, kept, put back. */
import { z } from 'zod'
import { Picture, PictureBody } from './file-routes.ts'
import { Id } from './ids.ts'
import { commentCharsMax, commentsMax } from './limits.ts'
import { act, done, inSession, route } from './route.ts'

/** A hunk-wise diff of one change, computed in a worker or by git (F-904). */
export const ChangeDiff = z.object({
  path: z.string(),
  kind: z.enum(['created', 'edited', 'deleted', 'renamed']),
  binary: z.boolean(),
  /** Unified diff text, three lines of context; null where only counts are given. */
  patch: z.string().nullable(),
  before: z.string().nullable(),
  after: z.string().nullable(),
  added: z.number().nullable(),
  removed: z.number().nullable(),
  note: z.string().nullable(),
  /** Where every side that is there is a picture (F-904); their bytes are `changes.picture`. */
  pictures: z.object({ before: Picture.nullable(), after: Picture.nullable() }).nullable(),
  /** The file differs now from the recorded after (F-910). */
  changedSince: z.boolean(),
  /** Hunks of `patch` that can be kept or undone one by one, by the line numbers of their headers (F-907). */
  hunks: z.array(
    z.object({
      id: z.string(),
      before: z.number().int(),
      after: z.number().int(),
      state: z.enum(['open', 'accepted', 'rejected']),
    }),
  ),
})
export type ChangeDiff = z.infer<typeof ChangeDiff>

/** What an undo or redo would do to each file, and what it did (F-1008, K-12). */
export const UndoPlan = z.object({
  turns: z.number().int(),
  files: z.array(
    z.object({
      path: z.string(),
      act: z.enum(['restore', 'delete', 'create']),
      state: z.enum(['ready', 'same', 'conflict', 'lost']),
    }),
  ),
})
export type UndoPlan = z.infer<typeof UndoPlan>

/** From a file as it is now to what it would become: a unified diff, or why there is none. */
export const UndoCompare = z.object({ patch: z.string().nullable(), note: z.string().nullable() })
export type UndoCompare = z.infer<typeof UndoCompare>

/** What the person says to lines of a change; it goes to the agent with their next message (F-912). */
export const Comment = z.object({
  id: Id,
  changeId: Id,
  path: z.string().max(4_096),
  side: z.enum(['before', 'after']),
  /** Lines of that side, from 1, both inclusive. */
  from: z.number().int().min(1),
  to: z.number().int().min(1),
  quoted: z.string().max(commentCharsMax),
  text: z.string().max(commentCharsMax),
})
export type Comment = z.infer<typeof Comment>
export const Comments = z.array(Comment).max(commentsMax)

export const changeRoutes = {
  changes: {
    diff: route.input(z.object({ ...inSession, changeId: Id })).output(ChangeDiff),
    /** From the recorded after to the file as it is now (F-910). */
    compare: route.input(z.object({ ...inSession, changeId: Id })).output(ChangeDiff),
    /**
     * Files that checkpoints leave out, ignored or over 10 MiB, each null where there are too many to count; null where no
     * checkpoints are kept (F-1006, F-1007).
     */
    uncovered: route
      .input(z.object({ ...inSession }))
      .output(z.object({ ignored: z.number().int().nullable(), large: z.number().int().nullable() }).nullable()),
    /** The picture a change began or ended with. Throws `file.too_large`, `file.not_found`. */
    picture: route
      .input(z.object({ ...inSession, changeId: Id, side: z.enum(['before', 'after']) }))
      .output(PictureBody),
    /** Keeps a hunk, or the whole file where `hunkId` is null, or makes it open again; changes no file (F-908). */
    review: route
      .input(z.object({ ...act, ...inSession, changeId: Id, hunkId: z.string().max(64).nullable(), keep: z.boolean() }))
      .output(done),
    /** Puts a hunk, or the whole file, back. Throws `changes.hunk_conflict` with both texts (F-908). */
    reject: route
      .input(z.object({ ...act, ...inSession, changeId: Id, hunkId: z.string().max(64).nullable() }))
      .output(done),
  },
  undo: {
    /** With `andLater` the turn and all after it. `redo` plans the way forward of what was undone. */
    preview: route
      .input(z.object({ ...inSession, turnId: Id, andLater: z.boolean(), redo: z.boolean() }))
      .output(UndoPlan),
    /** What the undo or redo would change in one file as it is now (F-1008). */
    compare: route
      .input(
        z.object({ ...inSession, turnId: Id, andLater: z.boolean(), redo: z.boolean(), path: z.string().max(4_096) }),
      )
      .output(UndoCompare),
    /** Throws `workspace.busy` while a turn runs in the workspace (F-1012). `force` names conflicts to overwrite. */
    apply: route
      .input(
        z.object({
          ...act,
          ...inSession,
          turnId: Id,
          andLater: z.boolean(),
          redo: z.boolean(),
          force: z.array(z.string().max(4_096)).max(10_000),
        }),
      )
      .output(UndoPlan),
  },
}
