/** Answers about files of a workspace: the tree, the viewer, quick open. Only folders the person opened are looked into. */
import { LatheError } from '../../../preload/contract/errors.ts'
import { editedBytesMax } from '../../../preload/contract/limits.ts'
import type { ExtraFolder } from '../../../preload/contract/session.ts'
import type { Drafts, StoredDraft } from '../../files/drafts.ts'
import type { FileIndex } from '../../files/file-index.ts'
import { historyFolders } from '../../files/never-entered.ts'
import type { FilePath, Paths, Place } from '../../files/paths.ts'
import type { RecentFiles } from '../../files/recent-files.ts'
import { readWhole, type CommitGate } from '../../files/gate.ts'
import { pictureBody } from '../../files/pictures.ts'
import { saveText } from '../../files/saving.ts'
import type { SearchProgram } from '../../files/search-program.ts'
import { listFolder, viewFile } from '../../files/tree.ts'
import type { FileWorkers } from '../../files/worker-pool.ts'
import { readDocument } from '../../tools/documents.ts'
import { whileMayAct } from '../../turns/requests.ts'
import { signalOf, type Handlers } from '../handlers.ts'

export type FileServices = {
  paths: Paths
  program: SearchProgram
  gate: CommitGate
  workers: FileWorkers
  drafts: Drafts
  /** Changes that no session records are done with (F-601 step 6). */
  recorded(changeIds: readonly string[]): Promise<void>
  knowsWorkspace(path: string): Promise<boolean>
  /** Folders that were added to a session (F-104). */
  extraFolders(sessionId: string): Promise<readonly ExtraFolder[]>
  /** Somebody looks at this workspace: its changes are to be told (F-1110). */
  watch(workspace: string): void
  index: FileIndex
  recent: RecentFiles
}

const quickOpenHits = 50
/** Of files too large for the editor, what the viewer shows. */
const beginningBytes = 2 * 1024 * 1024
/** Enough to tell what a file is. */
const headBytes = 4_100
const noFile = {
  text: '',
  bytes: 0,
  truncated: false,
  binary: false,
  mediaType: 'text/plain',
  version: null,
  readOnly: null,
}
/** The window's own requests belong to no session. */
const placeOf = (workspace: string): Place => ({ sessionId: 'window', workspace, extraFolders: [] })

export function fileAnswers(files: FileServices): Pick<Handlers, 'files'> {
  async function resolve(workspace: string, path: string): Promise<FilePath> {
    if (!(await files.knowsWorkspace(workspace))) throw new LatheError('access.denied', 'This folder is not open.')
    const found = await files.paths.resolve(placeOf(workspace), path)
    files.watch(workspace)
    if (!found.inside) throw new LatheError('path.outside_workspace', `${path} leads outside the workspace.`)
    return found
  }

  return {
    files: {
      list: async ({ workspace, path }) => {
        const folder = await resolve(workspace, path === '' ? '.' : path)
        const { entries } = await listFolder(folder)
        // Nobody works in the history's own folder, and a search never looks there (F-802).
        const shown = entries.filter(({ name }) => !historyFolders.includes(name))
        return shown.map(({ name, kind, bytes, ignored }) => ({
          name,
          path: path === '' ? name : `${path}/${name}`,
          kind,
          bytes,
          ignored,
        }))
      },
      read: async ({ workspace, path }) => {
        const found = await resolve(workspace, path)
        if (found.kind === 'missing') {
          // Edits of a file that is gone meanwhile are not lost with it.
          const draft = await files.drafts.get(workspace, path)
          if (draft) return { path, ...noFile, draft: shownDraft(draft) }
        }
        const isLarge = found.stats !== null && found.stats.size > editedBytesMax
        const file = await viewFile(found, isLarge ? beginningBytes : editedBytesMax)
        files.recent.note(workspace, found.shown)
        const draft = file.version === null ? null : await files.drafts.get(workspace, path)
        return { path, ...file, binary: file.text === null, draft: draft && shownDraft(draft) }
      },
      picture: async ({ workspace, path }) => pictureBody((await readWhole(await resolve(workspace, path))).content),
      document: async ({ workspace, path, fromPage = 1 }, client) => {
        const found = await resolve(workspace, path)
        const { mediaType, bytes } = await viewFile(found, headBytes)
        const document = await readDocument(files.workers, {
          shown: found.shown,
          type: mediaType,
          bytes,
          load: async () => (await readWhole(found)).content,
          pages: mediaType === 'application/pdf' && fromPage > 1 ? `${fromPage}-999999` : null,
          to: 'read',
          signal: signalOf(client),
        })
        if (!document) return null
        return { path, text: document.lines.map(({ text }) => text).join('\n'), pages: document.pages ?? null }
      },
      write: async ({ workspace, path, text, base, author }, { rights }) => {
        const file = await resolve(workspace, path)
        const signal = whileMayAct(rights)
        const version = await saveText(files, placeOf(workspace), file, { text, base }, signal)
        await files.drafts.set(workspace, path, null, author)
        return { version }
      },
      setDraft: async ({ workspace, path, draft, author }) => {
        await resolve(workspace, path)
        return { revision: await files.drafts.set(workspace, path, draft, author) }
      },
      drafts: ({ workspace }) => files.drafts.paths(workspace),
      place: async ({ workspace, path, sessionId }) => {
        if (!(await files.knowsWorkspace(workspace))) throw new LatheError('access.denied', 'This folder is not open.')
        const extraFolders = sessionId === undefined ? [] : await files.extraFolders(sessionId)
        const found = await files.paths.resolve({ ...placeOf(workspace), extraFolders }, path).catch(() => null)
        if (!found?.inside || (found.kind !== 'file' && found.kind !== 'folder')) return { path: null }
        return { path: found.kind === 'folder' ? `${found.shown}/` : found.shown }
      },
      find: async ({ workspace, query, folders = false }) => {
        const root = await resolve(workspace, '.')
        const recent = await files.recent.of(workspace)
        const found = await files.index.find(workspace, root, { text: query, folders, limit: quickOpenHits, recent })
        return found.map((path) => ({
          path,
          kind: path.endsWith('/') ? ('folder' as const) : ('file' as const),
        }))
      },
    },
  }
}

function shownDraft({ text, base, revision }: StoredDraft) {
  return { text, base, revision }
}
