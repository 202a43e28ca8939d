/** Answers about what turns did to files: diffs, keeping and undoing hunks, undo and redo of turns. */
import { LatheError } from '../../../preload/contract/errors.ts'
import type { ChangeDiff, UndoCompare, UndoPlan } from '../../../preload/contract/change-routes.ts'
import type { ChangedFile, SessionView } from '../../../preload/contract/session.ts'
import { linkMode, type FileChange } from '../../files/change.ts'
import { rejectChange, reviewHunks } from '../../files/changes.ts'
import { patchText, type Differ, type FileDiff } from '../../files/diff.ts'
import { readEntry, type CommitGate } from '../../files/gate.ts'
import { headerStarts } from '../../files/line-diff.ts'
import { mergeChanges } from '../../files/merged-changes.ts'
import type { Paths, Place } from '../../files/paths.ts'
import { pictureBody, pictureOf } from '../../files/pictures.ts'
import type { SearchProgram } from '../../files/search-program.ts'
import {
  applyReturns,
  isOfLink,
  planReturns,
  redoOf,
  undoOf,
  type FileReturn,
  type PlannedReturn,
} from '../../files/undo.ts'
import { countUncovered } from '../../files/uncovered.ts'
import { hashOf } from '../../files/version.ts'
import { isHomeOrDrive } from '../../files/workspace-changes.ts'
import { changedFile } from '../../sessions/file-records.ts'
import type { Sessions } from '../../sessions/sessions.ts'
import type { Storage } from '../../storage/storage.ts'
import { checkRights, type Rights, whileMayAct } from '../../turns/requests.ts'
import { ok, signalOf, type Handlers } from '../handlers.ts'

const never = () => new AbortController().signal

export type ChangeServices = {
  storage: Storage
  sessions: Sessions
  differ: Differ
  paths: Paths
  program: SearchProgram
  gate: CommitGate
}

export function changeAnswers(services: ChangeServices): Pick<Handlers, 'changes' | 'undo'> {
  const { storage, sessions, differ, paths, gate } = services
  const deps = { paths, gate, blobs: storage.blobs, differ }

  async function changeOf(sessionId: string, changeId: string): Promise<ChangedFile> {
    const change = await storage.change(sessionId, changeId)
    if (!change) throw new LatheError('request.invalid', 'There is no such change in this session.')
    return change
  }

  const body = (hash: string | null) => (hash === null ? null : storage.blobs.get(hash).catch(() => null))

  /** The file as it is now: null where there is none, undefined where it cannot be told. */
  async function current(place: Place, change: ChangedFile): Promise<Uint8Array | null | undefined> {
    const file = await paths.resolve(place, change.path, { isEntry: isOfLink(change) }).catch(() => undefined)
    if (file === undefined || file.kind === 'folder' || file.kind === 'other') return undefined
    return readEntry(file).then(
      (found) => found?.content ?? null,
      () => undefined,
    )
  }

  /** What the change began with; of a renamed file what stood under its old name (F-906). */
  function beforeOf(view: SessionView, change: ChangedFile): string | null {
    return change.before ?? goneOf(view, change)?.before ?? null
  }

  async function diff(sessionId: string, changeId: string, signal: AbortSignal | undefined): Promise<ChangeDiff> {
    const change = await changeOf(sessionId, changeId)
    const view = await sessions.open(sessionId)
    const [before, after] = await Promise.all([body(beforeOf(view, change)), body(change.after)])
    const [made, now] = await Promise.all([differ.diff(before, after, { signal }), current(placeOf(view), change)])
    // Where line ends or encoding changed too, only the whole file can be put back byte for byte.
    const single = made.note === null && change.before !== null && change.after !== null ? (made.hunks ?? []) : []
    const states = new Map(Object.entries(change.review ?? {}))
    return {
      ...shown(change, made, before, after),
      changedSince: now === undefined || (now && (await hashOf(now))) !== change.after,
      hunks: reviewHunks(change.path, single, states).map(({ id, hunk, state }) => ({
        id,
        ...headerStarts(hunk),
        state: change.reviewed === (change.after ?? '') ? 'accepted' : state,
      })),
    }
  }

  async function compare(sessionId: string, changeId: string, signal: AbortSignal | undefined): Promise<ChangeDiff> {
    const change = await changeOf(sessionId, changeId)
    const view = await sessions.open(sessionId)
    const [after, now] = await Promise.all([body(change.after), current(placeOf(view), change)])
    if (now === undefined) throw new LatheError('file.not_regular', `${change.path} cannot be read as it is now.`)
    const made = await differ.diff(after, now, { signal })
    return { ...shown(change, made, after, now), changedSince: true, hunks: [] }
  }

  async function reject(
    sessionId: string,
    changeId: string,
    hunkId: string | null,
    rights: Rights | undefined,
  ): Promise<void> {
    const actor = await sessions.actor(sessionId)
    actor.checkMutable()
    const { view } = actor.peek()
    const change = await changeOf(sessionId, changeId)
    checkRights(rights)
    // What the file holds now was made last by that turn: its record is what goes back a little.
    const newest = view.changes.findLast(({ path, undone }) => path === change.path && !undone)
    if (!newest) throw tooFarBack()
    const author = { sessionId, turnId: newest.turnId }
    const made = [await rejectChange(deps, placeOf(view), change, hunkId, author, whileMayAct(rights))]
    // A file that moved goes back to where it was (F-906).
    const gone = change.before === null ? goneOf(view, change) : undefined
    if (gone) made.push(await rejectChange(deps, placeOf(view), gone, null, author, never()))
    const files = made.flatMap(({ changes }) => changes.map((one) => changedFile(one, newest.turnId)))
    const note = made.map((one) => one.note).join('\n')
    await actor.command({ type: 'changes.record', turnId: newest.turnId, changes: files, told: note })
    if (hunkId !== null && newest.id !== change.id) {
      await actor.command({ type: 'changes.review', changeId, hunkId, state: 'rejected' })
    }
  }

  /** Of all files, or only of the one at `path`. */
  async function planned(view: SessionView, asked: Asked, signal: AbortSignal, path?: string) {
    const { turnIds, changes } = chosen(view, asked)
    const merged = mergeChanges(changes).filter((change) => path === undefined || change.path === path)
    const returns = merged.map((change): FileReturn =>
      asked.redo ? redoOf(change, fromOf(changes, change)) : undoOf(change),
    )
    return { turns: turnIds.length, changes, files: await planReturns(deps, placeOf(view), returns, signal) }
  }

  async function compareReturn(
    view: SessionView,
    asked: Asked,
    path: string,
    signal: AbortSignal,
  ): Promise<UndoCompare> {
    const [one] = (await planned(view, asked, signal, path)).files
    if (!one) throw new LatheError('request.invalid', 'This file is not among those of the turn.')
    if (!one.file) throw new LatheError('file.not_regular', `${path} cannot be read as it is now.`)
    const [now, target] = await Promise.all([readEntry(one.file), body(one.target)])
    const { hunks, binary, note } = await differ.diff(now?.content ?? null, target, { signal })
    const sides = { before: now !== null, after: target !== null }
    return {
      patch: hunks === null ? null : patchText(path, hunks, sides),
      note: note ?? (binary ? 'Binary file' : hunks === null ? 'Too large to show line by line' : null),
    }
  }

  async function apply(
    sessionId: string,
    asked: Asked & { force: string[] },
    rights: Rights | undefined,
  ): Promise<UndoPlan> {
    const actor = await sessions.actor(sessionId)
    return actor.using(async () => {
      actor.checkMutable()
      const { view } = actor.peek()
      if (sessions.running().some((one) => one.peek().view.header.workspace === view.header.workspace)) {
        throw new LatheError('workspace.busy', 'A turn is running in this workspace.', {
          hint: 'Stop it, or wait until it has ended.',
        })
      }
      const { turns, changes, files } = await planned(view, asked, never())
      const author = { sessionId, turnId: asked.turnId }
      checkRights(rights)
      const { written, changes: made } = await applyReturns(
        deps,
        placeOf(view),
        files,
        new Set(asked.force),
        author,
        whileMayAct(rights),
      )
      const done = new Map(
        [...files.filter(({ state }) => state === 'same'), ...written].map((file) => [file.path, file]),
      )
      const marked = changes.flatMap(({ id, path }) => {
        const file = done.get(path)
        return file ? [{ changeId: id, from: file.now }] : []
      })
      if (marked.length > 0) {
        const told = `The person ${asked.redo ? 'brought back' : 'undid'} your changes of ${listed([...done.keys()])}.`
        await actor.command({
          type: 'changes.undone',
          files: marked,
          undone: !asked.redo,
          told,
          written: made.map(({ id }) => id),
        })
      }
      return plan(turns, files)
    })
  }

  return {
    changes: {
      diff: ({ sessionId, changeId }, client) => diff(sessionId, changeId, client.signal),
      compare: ({ sessionId, changeId }, client) => compare(sessionId, changeId, client.signal),
      uncovered: async ({ sessionId }, client) => {
        const root = await paths.resolve(placeOf((await sessions.actor(sessionId)).peek().view), '.')
        return isHomeOrDrive(root.real) ? null : countUncovered(services.program, root, signalOf(client))
      },
      picture: async ({ sessionId, changeId, side }) =>
        pictureBody(await body((await changeOf(sessionId, changeId))[side])),
      review: async ({ sessionId, changeId, hunkId, keep }, { rights }) =>
        sessions.command(
          sessionId,
          { type: 'changes.review', changeId, hunkId, state: keep ? 'accepted' : 'open' },
          rights,
        ),
      reject: async ({ sessionId, changeId, hunkId }, { rights }) => (
        await reject(sessionId, changeId, hunkId, rights),
        ok
      ),
    },
    undo: {
      preview: async ({ sessionId, ...asked }, client) => {
        const { turns, files } = await planned((await sessions.actor(sessionId)).peek().view, asked, signalOf(client))
        return plan(turns, files)
      },
      compare: async ({ sessionId, path, ...asked }, client) =>
        compareReturn((await sessions.actor(sessionId)).peek().view, asked, path, signalOf(client)),
      apply: ({ sessionId, ...asked }, { rights }) => apply(sessionId, asked, rights),
    },
  }
}

type Asked = { turnId: string; andLater: boolean; redo: boolean }

/** The changes of a turn, or of it and all later ones, that are still to be undone, or were. */
function chosen({ turns, changes }: SessionView, { turnId, andLater, redo }: Asked) {
  const at = turns.findIndex(({ id }) => id === turnId)
  if (at === -1) throw tooFarBack()
  const turnIds = (andLater ? turns.slice(at) : turns.slice(at, at + 1)).map(({ id }) => id)
  const ordered = turnIds.flatMap((id) => changes.filter((change) => change.turnId === id))
  return { turnIds, changes: ordered.filter(({ undone }) => (undone !== undefined) === redo) }
}

/** What the undo of this file replaced: the same in all its records. */
function fromOf(changes: readonly ChangedFile[], { path, after }: FileChange): string | null {
  const newest = changes.findLast((change) => change.path === path)
  return newest?.undone ? newest.undone.from : after
}

function plan(turns: number, files: readonly PlannedReturn[]): UndoPlan {
  return {
    turns,
    files: files.map(({ path, target, now, state }) => ({
      path,
      act: target === null ? 'delete' : now === null ? 'create' : 'restore',
      state,
    })),
  }
}

function shown(change: ChangedFile, made: FileDiff, before: Uint8Array | null, after: Uint8Array | null) {
  const text = (bytes: Uint8Array | null) =>
    made.hunks === null || bytes === null ? null : new TextDecoder().decode(bytes)
  const sides = { before: before !== null, after: after !== null }
  return {
    path: change.path,
    kind: change.kind,
    binary: made.binary,
    patch: made.hunks === null ? null : patchText(change.path, made.hunks, sides),
    before: text(before),
    after: text(after),
    added: made.added,
    removed: made.removed,
    pictures: picturesOf(before, after),
    note: [made.note, modeNote(change)].filter((note) => note !== null).join(' ') || null,
  }
}

function picturesOf(before: Uint8Array | null, after: Uint8Array | null): ChangeDiff['pictures'] {
  const [was, is] = [before && pictureOf(before), after && pictureOf(after)]
  return (was || is) && (before === null) === (was === null) && (after === null) === (is === null)
    ? { before: was, after: is }
    : null
}

/** A change of mode, which no line shows (F-906). */
function modeNote({ mode, from }: ChangedFile): string | null {
  if (from !== undefined) return `It was renamed from ${from}.`
  if (mode?.before === linkMode || mode?.after === linkMode)
    return mode.after !== linkMode && mode.after !== null
      ? 'A symbolic link became a file.'
      : mode.before !== linkMode && mode.before !== null
        ? 'A file became a symbolic link; shown is where it leads.'
        : 'A symbolic link; shown is where it leads.'
  if (!mode || mode.before === null || mode.after === null || mode.before === mode.after) return null
  return `The mode changed from ${mode.before.toString(8)} to ${mode.after.toString(8)}.`
}

/** The change that deleted a renamed file under its old name. */
function goneOf({ changes }: SessionView, { turnId, from }: ChangedFile): ChangedFile | undefined {
  if (from === undefined) return undefined
  return changes.find((one) => one.turnId === turnId && one.path === from && one.after === null)
}

function placeOf({ header: { id, workspace, extraFolders } }: SessionView): Place {
  return { sessionId: id, workspace, extraFolders }
}

function listed(paths: readonly string[]): string {
  const some = paths.slice(0, 20).join(', ')
  return paths.length > 20 ? `${some} and ${paths.length - 20} more files` : some
}

function tooFarBack(): LatheError {
  return new LatheError('request.invalid', 'This turn is too far back to be changed.')
}
