/**
 * What is being written in each session: text, attachments, what is edited or recalled. The draft is kept by the host
 * after half a second of quiet, never replaces what is being typed, and goes only when a message was accepted (S-101).
 */
import { createStore, type StoreApi } from 'zustand/vanilla'
import { newId } from '../../preload/contract/ids.ts'
import { commentsMax, draftQuietMs } from '../../preload/contract/limits.ts'
import type { Attachment, Mention } from '../../preload/contract/items.ts'
import { askedMentions, joinMessages, movedBy } from '../../preload/contract/mentions.ts'
import type { Comment } from '../../preload/contract/change-routes.ts'
import type { Message } from '../state/session-controller.ts'
import type { SessionClient } from '../state/session-client.ts'
import type { SessionState } from '../state/session-state.ts'
import { openSession, type Session } from '../state/session-store.ts'
import { link } from '../state/link.ts'
import { type Chip, pastedName, refusalOf, uploadFile } from './attachments.ts'
import { withComments } from './comments.ts'
import { editWritten, insertMention, standing, withoutMention } from './mentions.ts'
import type { Recall } from './recall.ts'

/** What the text in the composer is, if it is not a new message. */
export type Editing =
  | { kind: 'steer'; id: string }
  | { kind: 'followUp'; id: string; revision: number }
  /** A message that was sent: it is sent again in its place, and what came after it is set aside (S-79). */
  | { kind: 'message'; id: string; turnId: string | null }

export type ComposerState = {
  text: string
  chips: Chip[]
  /** What was said to lines of changes; it goes with the next message, not with one that is edited. */
  comments: Comment[]
  /** What is mentioned in the text. Those whose words do not stand in it just now do not count. */
  mentions: Mention[]
  editing: Editing | null
  /** What was being written when editing began. */
  setAside: Pick<ComposerState, 'text' | 'chips' | 'mentions'> | null
  recall: Recall | null
  /** Earlier prompts are on their way; resolves, false where they cannot be had, once the text is what was asked for. */
  recalling: Promise<boolean> | null
  /** Said above the text until the next key: a refusal, an unknown command. */
  remark: { text: string; sendAsText?: boolean; untilThere?: boolean } | null
  /** Rises when text is put in from outside, so that the caret goes to its end. */
  placed: number
}

export type ComposerStore = {
  readonly store: StoreApi<ComposerState>
  /** Changes the text as a person does, the caret being there after it. Answers where it goes where more went than they deleted (S-112). */
  type(text: string, caret?: number): number | null
  /** Mentions at the end of the text. */
  mention(target: Omit<Mention, 'at'>): void
  removeMention(mention: Mention): void
  /** Puts text in from outside, caret at its end. */
  place(text: string, more?: Partial<ComposerState>): void
  addFiles(files: readonly File[]): void
  /** Text as a chip, which can be turned back into text; `name` where it was not pasted. */
  addPaste(text: string, name?: string): void
  removeChip(id: string): void
  /** Adds a comment, or replaces the one of the same id. */
  putComment(comment: Comment): void
  removeComment(id: string): void
  /** Turns a pasted text's chip back into text. */
  inlinePaste(id: string): void
  /** The message as it would be sent; null while a file is still on its way. */
  message(): Message | null
  /** Empties it for the next message; the stored draft stays until the host took this one. */
  clear(): void
  beginEdit(editing: Editing, message: Message): void
  endEdit(): void
  /** Text and files that come back: before what has been typed meanwhile, a blank line between (T-125). */
  restore(message: Message): void
  /** Writes the draft now. */
  save(): Promise<void>
  dispose(): void
}

/** This window, to tell its own drafts from another window's. */
const source = newId().slice(-12)

const empty = {
  text: '',
  chips: [],
  comments: [],
  mentions: [],
  editing: null,
  setAside: null,
  recall: null,
  recalling: null,
  remark: null,
}

export function createComposer(
  sessionId: string,
  session: StoreApi<SessionState>,
  client: Pick<SessionClient, 'session' | 'attachments'>,
): ComposerStore {
  const store = createStore<ComposerState>()(() => ({ ...empty, placed: 0 }))
  const uploads = new Map<string, AbortController>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let saved = ''
  let touched = false

  /** Refused and unanswered messages belong to the draft until the host has them (T-3). */
  function draft(): Message & { comments: Comment[] } {
    const { text, chips, mentions, comments, setAside } = store.getState()
    const { unsent } = session.getState()
    const own = setAside ?? { text, chips, mentions }
    return { ...joinMessages([...unsent, messageOf(own)]), comments }
  }

  function scheduleSave(): void {
    touched = true
    clearTimeout(timer)
    timer = setTimeout(() => void save(), draftQuietMs)
  }

  async function save(): Promise<void> {
    clearTimeout(timer)
    const now = draft()
    const key = JSON.stringify(now)
    if (key === saved) return
    saved = key
    try {
      await client.session.setDraft({ sessionId, ...now, source })
    } catch {
      // Kept here meanwhile; the next change, or the end of the page, tries again.
      saved = ''
    }
  }

  async function load(): Promise<void> {
    try {
      const { text, attachments, mentions = [], comments = [] } = await client.session.draft({ sessionId })
      const now = store.getState()
      if (touched && !isEmpty(now)) return
      if (session.getState().unsent.length > 0 || now.editing) return
      saved = JSON.stringify({ text, attachments, mentions, comments })
      touched = false
      store.setState({ text, chips: attachments.map(readyChip), mentions, comments, placed: now.placed + 1 })
    } catch {
      // A draft that cannot be read leaves an empty composer, which works.
    }
  }

  function setChip(id: string, state: Chip['state']): void {
    store.setState(({ chips: before, remark }) => {
      const chips = before.map((chip) => (chip.id === id ? { ...chip, state } : chip))
      const waits = chips.some((chip) => chip.state.kind === 'sending')
      return { chips, remark: remark?.untilThere && !waits ? null : remark }
    })
  }

  function add(file: Blob, name: string, pasted: string | null): void {
    // A draft that arrives while the file is on its way does not take its place.
    touched = true
    const { chips } = store.getState()
    const mediaType = file.type || 'application/octet-stream'
    const refusal = refusalOf(file, chips)
    const chip: Chip = {
      id: newId(),
      name,
      mediaType,
      bytes: file.size,
      pasted,
      state: refusal ? { kind: 'refused', reason: refusal } : { kind: 'sending', share: 0 },
    }
    store.setState({ chips: [...chips, chip] })
    if (refusal) return
    const ended = new AbortController()
    uploads.set(chip.id, ended)
    uploadFile(
      client.attachments.upload,
      file,
      { name, mediaType },
      (share) => setChip(chip.id, { kind: 'sending', share }),
      ended.signal,
    )
      .then(
        (attachment) => {
          setChip(chip.id, { kind: 'ready', attachment })
          scheduleSave()
        },
        (thrown: unknown) => {
          if (!ended.signal.aborted)
            setChip(chip.id, {
              kind: 'refused',
              reason: thrown instanceof Error ? thrown.message : 'It could not be added.',
            })
        },
      )
      .finally(() => uploads.delete(chip.id))
  }

  const unfollow = session.subscribe((now, before) => {
    if (now.unsent !== before.unsent) scheduleSave()
    // Another window's draft shows where nothing is being written (S-101).
    const { draftRevision } = now
    if (draftRevision && draftRevision !== before.draftRevision && draftRevision.source !== source) {
      if (isEmpty(store.getState())) void load()
    }
  })
  const leaving = () => void save()
  globalThis.addEventListener?.('pagehide', leaving)
  void load()

  const composer: ComposerStore = {
    store,
    type(after, caret = after.length) {
      const { recall, ...before } = store.getState()
      const { text, mentions, caret: moved } = editWritten(before, after, caret)
      store.setState({ text, mentions, remark: null, recall: recall && text === '' ? null : recall })
      scheduleSave()
      return moved
    },
    mention(target) {
      const { text, mentions } = store.getState()
      const words = text === '' || /\s$/.test(text) ? text : `${text} `
      const { length } = words
      const put = insertMention({ text: words, mentions }, { query: '', from: length, to: length }, target)
      composer.place(put.text, { mentions: put.mentions })
    },
    removeMention(mention) {
      const { text, mentions } = withoutMention(store.getState(), mention)
      composer.place(text, { mentions })
    },
    place(text, more = {}) {
      store.setState(({ placed }) => ({ text, remark: null, ...more, placed: placed + 1 }))
      scheduleSave()
    },
    addFiles(files) {
      for (const file of files) add(file, file.name || 'image', null)
    },
    addPaste(text, name = pastedName(text)) {
      add(new Blob([text], { type: 'text/plain' }), `${name}.txt`, text)
    },
    removeChip(id) {
      uploads.get(id)?.abort()
      store.setState(({ chips }) => ({ chips: chips.filter((chip) => chip.id !== id), remark: null }))
      scheduleSave()
    },
    inlinePaste(id) {
      const chip = store.getState().chips.find((one) => one.id === id)
      if (chip?.pasted == null) return
      composer.removeChip(id)
      const { text } = store.getState()
      composer.place(text === '' ? chip.pasted : `${text.trimEnd()}\n${chip.pasted}`)
    },
    putComment(comment) {
      store.setState(({ comments, remark }) => {
        const others = comments.filter(({ id }) => id !== comment.id)
        return others.length < commentsMax
          ? { comments: [...others, comment], remark }
          : { comments, remark: { text: `At most ${commentsMax} comments wait for one message.` } }
      })
      scheduleSave()
    },
    removeComment(id) {
      store.setState(({ comments }) => ({ comments: comments.filter((one) => one.id !== id) }))
      scheduleSave()
    },
    message() {
      const { text, chips, mentions, comments, editing } = store.getState()
      if (chips.some((chip) => chip.state.kind === 'sending')) return null
      const own = messageOf({ text, chips, mentions })
      if (editing || comments.length === 0) return own
      const cut = text.length - text.trimStart().length
      return { ...own, text: withComments(text, comments), mentions: movedBy(own.mentions ?? [], -cut) }
    },
    clear() {
      store.setState(({ placed }) => ({ ...empty, placed: placed + 1 }))
      scheduleSave()
    },
    beginEdit(editing, { text, attachments, mentions }) {
      const { setAside, text: own, chips, mentions: ownMentions } = store.getState()
      composer.place(text, {
        editing,
        chips: attachments.map(readyChip),
        mentions: askedMentions(mentions) ?? [],
        setAside: setAside ?? { text: own, chips, mentions: ownMentions },
        recall: null,
      })
    },
    endEdit() {
      const { setAside } = store.getState()
      const { text, chips, mentions } = setAside ?? { text: '', chips: [], mentions: [] }
      composer.place(text, { editing: null, setAside: null, chips, mentions })
    },
    restore(message) {
      const { text: own, chips, mentions: ownMentions } = store.getState()
      const { text, mentions } = joinMessages([message, { text: own, attachments: [], mentions: ownMentions }])
      composer.place(text, {
        chips: [...message.attachments.map(readyChip), ...chips],
        mentions: askedMentions(mentions) ?? [],
      })
    },
    save,
    dispose() {
      void save()
      unfollow()
      for (const upload of uploads.values()) upload.abort()
      globalThis.removeEventListener?.('pagehide', leaving)
    },
  }
  return composer
}

function isEmpty({ text, chips, comments }: ComposerState): boolean {
  return text === '' && chips.length === 0 && comments.length === 0
}

function messageOf({ text, chips, mentions }: Pick<ComposerState, 'text' | 'chips' | 'mentions'>): Message {
  const stand = standing(text, mentions)
  return { text, attachments: readyOf(chips), mentions: stand.length > 0 ? stand : undefined }
}

function readyOf(chips: readonly Chip[]): Attachment[] {
  return chips.flatMap((chip) => (chip.state.kind === 'ready' ? [chip.state.attachment] : []))
}

function readyChip(attachment: Attachment): Chip {
  const { name, mediaType, bytes } = attachment
  return { id: newId(), name, mediaType, bytes, pasted: null, state: { kind: 'ready', attachment } }
}

const composers = new WeakMap<Session, ComposerStore>()

/** The composer of a session; it lives as long as the session is open, so nothing typed depends on what is on screen. */
export function composerOf(sessionId: string): ComposerStore {
  const session = openSession(sessionId)
  let composer = composers.get(session)
  if (!composer) {
    composer = createComposer(sessionId, session.store, link().client)
    composers.set(session, composer)
    session.closed.addEventListener('abort', composer.dispose)
  }
  return composer
}
