/** One file's before and after, made in a turn (F-901). Contents are blobs, referenced by hash; null means absent. */
export type FileChange = {
  id: string
  /** Relative to the workspace with forward slashes; absolute where outside. */
  path: string
  kind: 'created' | 'edited' | 'deleted' | 'renamed'
  /** Where a renamed file was: the change of that path, which deletes it, stands beside this one (F-906). */
  from?: string | undefined
  before: string | null
  after: string | null
  /** Lines added and removed; null for binary content or where no line diff was made. */
  added: number | null
  removed: number | null
  by: 'tool' | 'command' | 'agent' | 'person'
  /** It fell where another turn may have made it (F-903). */
  uncertain?: boolean | undefined
  /** Permission bits where they differ, or of a file that is gone; null where there is no file; `linkMode` of a link. */
  mode?: { before: number | null; after: number | null } | undefined
  /** Folders above it that were made for it, so that an undo removes no other (F-1009). */
  folders?: number | undefined
  callId?: string | undefined
}

/** In place of permission bits: the entry is a symbolic link, and its content where it leads. */
export const linkMode = 0o120777
