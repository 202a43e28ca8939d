/**
 * Files open in the editor: their text as it is edited, the version on disk it was made from, and whether both still
 * agree. A document outlives the tab that shows it, so that nothing typed depends on what is on screen. Edits go to the
 * host as a draft after a moment of quiet.
 */
import { createStore, type StoreApi } from 'zustand/vanilla'
import type { ErrorBody } from '../../preload/contract/errors.ts'
import { newId } from '../../preload/contract/ids.ts'
import type { FileBody } from '../../preload/contract/file-routes.ts'
import { client, failure } from '../state/link.ts'
import { monaco } from './monaco.ts'
import { noteUnsaved } from './unsaved.ts'

export type DocumentState = {
  unsaved: boolean
  saving: boolean
  /** What is on disk, where that is no longer what the edits were made on. */
  disk: { kind: 'same' } | { kind: 'changed'; version: string; text: string } | { kind: 'gone' }
  /** Unsaved edits of another window, which this one's would overwrite: these are not kept until the person chooses. */
  elsewhere: { text: string; revision: string } | null
  error: ErrorBody | null
}

/** What a reading found, and when it was asked for: what was saved since is newer. */
export type Reading = { body: FileBody; askedAt: number }

/** This window, to tell its own drafts from another window's. */
const source = newId()
const savedQuietMs = 700
/** Documents without unsaved edits are let go past these, the longest unused first. */
const keptMax = 20

const lf = (text: string) => text.replaceAll(/\r\n?/g, '\n')

export class FileDocument {
  readonly workspace: string
  readonly path: string
  readonly model: monaco.editor.ITextModel
  readonly state: StoreApi<DocumentState>
  #viewState: monaco.editor.ICodeEditorViewState | null = null
  #shown = 0
  #base: string | null
  /** The model's version that is what stands on disk. */
  #saved: number
  /** What was asked before this moment may be older than what was saved. */
  #savedAt = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #hasDraft: boolean
  /** The revision of the file's draft that was last seen or written here. */
  #draftRevision: string | null

  constructor(workspace: string, path: string, body: FileBody) {
    this.workspace = workspace
    this.path = path
    const uri = monaco.Uri.from({ scheme: 'file', path: `/${workspace}/${path}`.replaceAll(/[\\/]+/g, '/') })
    this.model = monaco.editor.createModel(body.text ?? '', undefined, uri)
    // Colours here mean what a word is; how deep a bracket stands is not among them.
    this.model.updateOptions({
      bracketColorizationOptions: { enabled: false, independentColorPoolPerBracketType: false },
    })
    this.#base = body.version
    this.#saved = this.model.getAlternativeVersionId()
    this.#hasDraft = body.draft !== null
    this.#draftRevision = body.draft?.revision ?? null
    this.state = createStore<DocumentState>()(() => ({
      unsaved: false,
      saving: false,
      disk: { kind: 'same' },
      elsewhere: null,
      error: null,
    }))
    if (body.draft) {
      this.#base = body.draft.base
      this.#replaceText(body.draft.text)
      this.#takeUnsaved()
      this.take(body, Infinity)
    }
    this.model.onDidChangeContent(() => {
      this.#takeUnsaved()
      this.#scheduleDraft()
    })
  }

  /** What a reading of the file that was asked for at `askedAt` found. Edits are never replaced. */
  take(body: FileBody, askedAt: number): void {
    const { saving, unsaved } = this.state.getState()
    if (saving || askedAt < this.#savedAt) return
    const { version } = body
    if (version === null) return this.gone()
    if (version === this.#base) return this.state.setState({ disk: { kind: 'same' } })
    const text = body.text ?? ''
    if (!unsaved || lf(text) === lf(this.model.getValue())) this.#adopt(text, version)
    else this.state.setState({ disk: { kind: 'changed', version, text } })
  }

  gone(): void {
    if (this.#base !== null) this.state.setState({ disk: { kind: 'gone' } })
  }

  async save(): Promise<void> {
    const { saving, unsaved, disk } = this.state.getState()
    if (saving || (!unsaved && disk.kind !== 'gone') || disk.kind === 'changed') return
    const { workspace, path, model } = this
    const saved = model.getAlternativeVersionId()
    clearTimeout(this.#timer)
    this.state.setState({ saving: true, error: null })
    try {
      const base = disk.kind === 'gone' ? null : this.#base
      const { version } = await client().files.write({
        requestId: newId(),
        workspace,
        path,
        text: model.getValue(),
        base,
        author: this.#author(),
      })
      this.#base = version
      this.#saved = saved
      this.#hasDraft = false
      this.#savedAt = performance.now()
      this.state.setState({ saving: false, disk: { kind: 'same' } })
    } catch (thrown) {
      const error = failure(thrown)
      this.state.setState({ saving: false, error: error.code === 'file.stale' ? null : error })
      if (error.code === 'file.stale') await this.#look()
    }
    this.#takeUnsaved()
    this.#scheduleDraft()
  }

  /** The edits stand: saving writes them over what is on disk. */
  async keepMine(): Promise<void> {
    const { disk } = this.state.getState()
    if (disk.kind === 'changed') {
      this.#base = disk.version
      this.state.setState({ disk: { kind: 'same' } })
    }
    await this.save()
  }

  /** What is on disk stands; the edits can still be had back by undoing. */
  takeTheirs(): void {
    const { disk } = this.state.getState()
    if (disk.kind === 'changed') this.#adopt(disk.text, disk.version)
  }

  /** Writes the draft now, if one waits. */
  async keepDraft(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const { unsaved, saving, elsewhere } = this.state.getState()
    if (saving || elsewhere || (!unsaved && !this.#hasDraft)) return
    const { workspace, path } = this
    const draft = unsaved ? { text: this.model.getValue(), base: this.#base } : null
    this.#hasDraft = unsaved
    try {
      this.#draftRevision = (await client().files.setDraft({ workspace, path, draft, author: this.#author() })).revision
    } catch (thrown) {
      // Kept here meanwhile; the next edit tries again.
      if (failure(thrown).code === 'file.stale') await this.#lookElsewhere()
    }
  }

  /** These edits stand, and take the place of the other window's. */
  async keepOverTheirs(): Promise<void> {
    this.#draftRevision = this.state.getState().elsewhere?.revision ?? null
    this.state.setState({ elsewhere: null })
    await this.keepDraft()
  }

  /** The other window's edits go on here; these can still be had back by undoing. */
  takeTheirEdits(): void {
    const { elsewhere } = this.state.getState()
    if (!elsewhere) return
    this.#draftRevision = elsewhere.revision
    this.state.setState({ elsewhere: null })
    this.#replaceText(elsewhere.text)
  }

  /** Whether an editor shows it: then it is not let go. */
  get isShown(): boolean {
    return this.#shown > 0
  }

  /** An editor shows it from now on, where it was left; the answered function ends that. */
  showIn(editor: monaco.editor.ICodeEditor): () => void {
    this.#shown += 1
    if (this.#viewState) editor.restoreViewState(this.#viewState)
    return () => {
      this.#shown -= 1
      this.#viewState = editor.saveViewState()
    }
  }

  dispose(): void {
    clearTimeout(this.#timer)
    this.model.dispose()
  }

  #author(): { source: string; over: string | null } {
    return { source, over: this.#draftRevision }
  }

  async #lookElsewhere(): Promise<void> {
    const { workspace, path } = this
    const body = await client()
      .files.read({ workspace, path })
      .catch(() => null)
    // Let go meanwhile: the next edit is kept again.
    if (!body?.draft) this.#draftRevision = null
    else if (lf(body.draft.text) === lf(this.model.getValue())) this.#draftRevision = body.draft.revision
    else this.state.setState({ elsewhere: { text: body.draft.text, revision: body.draft.revision } })
  }

  async #look(): Promise<void> {
    const askedAt = performance.now()
    const { workspace, path } = this
    await client()
      .files.read({ workspace, path })
      .then(
        (body) => this.take(body, askedAt),
        (thrown: unknown) => failure(thrown).code === 'file.not_found' && this.gone(),
      )
  }

  #adopt(text: string, version: string): void {
    this.#base = version
    this.#replaceText(text)
    this.#saved = this.model.getAlternativeVersionId()
    this.state.setState({ disk: { kind: 'same' }, error: null })
    this.#takeUnsaved()
    this.#scheduleDraft()
  }

  /** One edit of what differs, so that the caret and what is on screen stay, and it can be undone. */
  #replaceText(text: string): void {
    const { model } = this
    const wanted =
      model.getEndOfLineSequence() === monaco.editor.EndOfLineSequence.CRLF
        ? lf(text).replaceAll('\n', '\r\n')
        : lf(text)
    const now = model.getValue()
    const most = Math.min(now.length, wanted.length)
    let head = 0
    while (head < most && now.charCodeAt(head) === wanted.charCodeAt(head)) head += 1
    let tail = 0
    while (tail < most - head && now.charCodeAt(now.length - 1 - tail) === wanted.charCodeAt(wanted.length - 1 - tail))
      tail += 1
    if (head === now.length && head === wanted.length) return
    const from = model.getPositionAt(head)
    const to = model.getPositionAt(now.length - tail)
    const range = monaco.Range.fromPositions(from, to)
    // Positions never part a surrogate pair or a CRLF: what they moved over is put back.
    const before = now.slice(model.getOffsetAt(from), head)
    const after = now.slice(now.length - tail, model.getOffsetAt(to))
    model.pushStackElement()
    model.pushEditOperations(
      [],
      [{ range, text: before + wanted.slice(head, wanted.length - tail) + after }],
      () => null,
    )
    model.pushStackElement()
  }

  #takeUnsaved(): void {
    const unsaved = this.model.getAlternativeVersionId() !== this.#saved
    if (unsaved !== this.state.getState().unsaved) this.state.setState({ unsaved })
    noteUnsaved(this.workspace, this.path, unsaved)
  }

  #scheduleDraft(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.keepDraft(), savedQuietMs)
  }
}

const documents = new Map<string, FileDocument>()

/** The document of a file, made from what a reading found where there is none yet. */
export function documentOf(workspace: string, path: string, body: FileBody): FileDocument {
  const key = `${workspace}\n${path}`
  const document = documents.get(key) ?? new FileDocument(workspace, path, body)
  documents.delete(key)
  documents.set(key, document)
  for (const [name, one] of documents) {
    if (documents.size <= keptMax) break
    if (one === document || one.isShown || one.state.getState().unsaved) continue
    documents.delete(name)
    one.dispose()
  }
  return document
}

globalThis.addEventListener('pagehide', () => {
  for (const document of documents.values()) void document.keepDraft()
})
