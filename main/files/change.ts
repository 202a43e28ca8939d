/** One file's before and after, made in a turn (F-901). Contents are blobs, referenced by hash; null means absent. */
export type FileChange = {
  id: string
  /** Relative to the workspace with forward slashes; absolute where outside. */
  path: string
  kind: 'created' | 'edited' | 'deleted' | 'renamed'
  before: string | null
  after: string | null
  /** Lines added and removed; null for binary content or where no line diff was made. */
  added: number | null
  removed: number | null
  by: 'tool' | 'command' | 'agent' | 'person'
  callId?: string | undefined
}
