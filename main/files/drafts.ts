/** Edits of files that were not saved yet: they outlive the window and the host (S-101 for files). */
import { createHash } from 'node:crypto'
import { LatheError } from '../../preload/contract/errors.ts'
import { newId } from '../../preload/contract/ids.ts'

export type Draft = {
  text: string
  /** Version the edits were made on; null where there was no file. */
  base: string | null
}
/** `revision` is new with each change, `source` the window that made it. */
export type StoredDraft = Draft & { revision: string; source: string }
/** Who changes a draft, and the revision of it that they know; null where they know of none. */
export type DraftAuthor = { source: string; over: string | null }

type Values = { value(name: string): Promise<unknown>; setValue(name: string, value: unknown): Promise<void> }
type Known = { workspace: string; path: string }

const listName = 'files.drafts'
/** The oldest is let go past these; a person who edits so many files at once has saved most of them. */
const draftsMax = 200

export class Drafts {
  readonly #values: Values
  /** One change of the list at a time. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(values: Values) {
    this.#values = values
  }

  async get(workspace: string, path: string): Promise<StoredDraft | null> {
    const found = (await this.#values.value(bodyName({ workspace, path }))) as StoredDraft | null
    return found && typeof found.text === 'string' && typeof found.revision === 'string' ? found : null
  }

  /**
   * Keeps edits, or with null lets them go; answers the new revision. Two windows may edit one file: what another one
   * wrote, and this one has not seen, is not overwritten. Throws `file.stale` there; letting go leaves it as it is.
   */
  set(workspace: string, path: string, draft: Draft | null, author: DraftAuthor): Promise<string | null> {
    const next = this.#last.then(async () => {
      const file = { workspace, path }
      const now = await this.get(workspace, path)
      if (now && now.source !== author.source && now.revision !== author.over) {
        if (!draft) return now.revision
        throw new LatheError('file.stale', `Another window has unsaved edits of ${path} too.`, {
          hint: 'Compare the two, then keep yours or take theirs.',
        })
      }
      const stored = draft && { ...draft, revision: newId(), source: author.source }
      await this.#values.setValue(bodyName(file), stored)
      const list = await this.#list()
      const others = list.filter((one) => one.workspace !== workspace || one.path !== path)
      const known = !draft ? others : others.length < list.length ? [...list] : [...list, file]
      for (const dropped of known.splice(0, Math.max(0, known.length - draftsMax)))
        await this.#values.setValue(bodyName(dropped), null)
      if (known.length !== list.length) await this.#values.setValue(listName, known)
      return stored?.revision ?? null
    })
    this.#last = next.catch(() => {})
    return next
  }

  /** Paths of the files of a workspace that have edits, the first begun first. */
  async paths(workspace: string): Promise<string[]> {
    const list = await this.#list()
    return list.filter((one) => one.workspace === workspace).map(({ path }) => path)
  }

  async #list(): Promise<Known[]> {
    const list = await this.#values.value(listName)
    return Array.isArray(list) ? (list as Known[]) : []
  }
}

function bodyName({ workspace, path }: Known): string {
  return `files.draft.${createHash('sha256').update(`${workspace}\0${path}`).digest('hex')}`
}
