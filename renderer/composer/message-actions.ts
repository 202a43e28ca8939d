/** What keys and buttons do with the message as it stands: sent, steered, queued, run, saved, recalled, taken back. */
import { joinMessages, movedBy } from '../../preload/contract/mentions.ts'
import { readSlash, unknownCommand } from '../../preload/contract/slash-commands.ts'
import { attempt } from '../app/attempt.ts'
import { asLatheError } from '../state/session-client.ts'
import { isSessionFile, offerImport } from '../sessions/session-import.ts'
import { openSession } from '../state/session-store.ts'
import { editMessage, goBack } from '../transcript/item-actions.ts'
import { composerOf } from './composer-store.ts'
import { type DroppedFile, offerFolder, pathsInside } from './drop-target.tsx'
import { standing } from './mentions.ts'
import { type Recall, recalledPrompt, startRecall, stepRecall } from './recall.ts'
import { type ComposerHands, runSlash } from './slash-actions.ts'

export type SendAs = 'refuse' | 'steer' | 'queue'

/** Sends it, or runs it where it is a slash command; what is `blocked` stays. */
export async function sendMessage(
  sessionId: string,
  as: SendAs,
  { hands, blocked }: { hands: ComposerHands; blocked: boolean },
): Promise<void> {
  if (await ranAsCommand(sessionId, hands)) return
  const { store, message: written, clear } = composerOf(sessionId)
  if (store.getState().chips.some((chip) => chip.state.kind === 'refused'))
    return store.setState({ remark: { text: 'Remove the file that cannot be sent.' } })
  const message = written()
  if (!message) return store.setState({ remark: { text: 'A file is still on its way.', untilThere: true } })
  if (message.text.trim() === '' && message.attachments.length === 0) return
  if (blocked) return
  const read = readSlash(message.text)
  clear()
  // A refusal is shown with the message itself, as "Not sent".
  const words = read.kind === 'text' ? read.text : message.text
  const moved = movedBy(message.mentions ?? [], words.length - message.text.length)
  void openSession(sessionId)
    .controller.submit({ ...message, text: words, mentions: moved }, as)
    .catch(() => {})
}

/** Runs a slash command; true where the text was one, whatever came of it. */
async function ranAsCommand(sessionId: string, hands: ComposerHands): Promise<boolean> {
  const { store } = composerOf(sessionId)
  const read = readSlash(store.getState().text)
  if (read.kind === 'text') return false
  if (read.kind === 'unknown') {
    store.setState({ remark: { text: unknownCommand(read), sendAsText: true } })
    return true
  }
  await takeLine(sessionId, () => runSlash(sessionId, read.command, read.argument, hands))
  return true
}

/**
 * Takes the line out of the text and runs it, so that what it brings, or what is typed meanwhile, stands alone. A refusal,
 * thrown or answered, gives the line back unless something else has been begun.
 */
async function takeLine(sessionId: string, run: () => Promise<string | null>): Promise<void> {
  const { store, place } = composerOf(sessionId)
  const { text } = store.getState()
  place('')
  const why = await run().catch((thrown: unknown) => {
    const { message, hint } = asLatheError(thrown)
    return [message, hint].filter(Boolean).join(' ')
  })
  if (why === null) return
  if (store.getState().text === '') place(text)
  store.setState({ remark: { text: why } })
}

/** Sends what looked like a command as it was typed. */
export function sendAsText(sessionId: string): void {
  const composer = composerOf(sessionId)
  const message = composer.message()
  if (!message) return
  composer.clear()
  void openSession(sessionId)
    .controller.submit(message, 'refuse')
    .catch(() => {})
}

/** Runs the person's own command: the line without its `!`. */
export function runCommandLine(sessionId: string, line: string): Promise<void> {
  return takeLine(sessionId, async () => {
    await openSession(sessionId).controller.runCommand(line)
    return null
  })
}

/** Stops the turn; what it had not read yet comes back into the text (T-125). */
export async function stopTurn(sessionId: string): Promise<void> {
  const reply = await attempt('Could not stop the turn', () => openSession(sessionId).controller.stop())
  if (reply?.stopped && reply.withdrawn.length > 0) composerOf(sessionId).restore(joinMessages(reply.withdrawn))
}

/** Saves what is edited in its place. */
export async function saveEdit(sessionId: string): Promise<void> {
  const { controller } = openSession(sessionId)
  const composer = composerOf(sessionId)
  const { editing } = composer.store.getState()
  const message = composer.message()
  if (!editing || !message) return
  if (message.text.trim() === '' && message.attachments.length === 0) return
  const done = await attempt(editing.kind === 'message' ? 'Could not send it' : 'Could not change it', async () => {
    if (editing.kind === 'followUp')
      return Boolean(await controller.editFollowUp(editing.id, editing.revision, message))
    if (editing.kind === 'message') return (await goBack(sessionId, editing, 'edit', message)) ? true : undefined
    return (await controller.editSteer(editing.id, message)).done
  })
  if (done) composer.endEdit()
  else if (done === false)
    composer.store.setState({
      remark: { text: 'The agent has read it already. What you wrote stays here.' },
      editing: null,
      setAside: null,
    })
}

/**
 * One earlier (1) or later (-1) prompt takes the place of the text. What is typed while prompts are on their way is the
 * person's newest word and stays; what else is done then has to wait for `recalling`.
 */
export async function recallPrompt(sessionId: string, step: 1 | -1): Promise<void> {
  const { store } = composerOf(sessionId)
  const { recall, recalling, text } = store.getState()
  if (recall) return showRecalled(sessionId, recall, step)
  if (recalling) {
    await recalling
    const { recall: begun } = store.getState()
    return begun ? showRecalled(sessionId, begun, step) : undefined
  }
  const { controller } = openSession(sessionId)
  const loading = attempt('Could not load earlier prompts', () => controller.prompts()).then((prompts) => {
    const now = store.getState()
    store.setState({ recalling: null })
    if (prompts && now.text === text) {
      const draft = { text, mentions: standing(text, now.mentions) }
      showRecalled(sessionId, startRecall(prompts, draft), step)
    }
    return prompts !== undefined
  })
  store.setState({ recalling: loading })
  await loading
}

function showRecalled(sessionId: string, recall: Recall, step: 1 | -1): void {
  const next = stepRecall(recall, step)
  if (!next) return
  const { text, mentions = [] } = recalledPrompt(next)
  composerOf(sessionId).place(text, { mentions, recall: next.at < 0 ? null : next })
}

/** The newest of what waits comes back to be changed. */
export async function takeBack(sessionId: string): Promise<void> {
  const { view } = openSession(sessionId).store.getState()
  if (!view) return
  const composer = composerOf(sessionId)
  const followUp = view.header.queue.followUps.at(-1)
  const steer = view.turn?.steers.findLast((one) => one.actions.includes('edit'))
  if (followUp) composer.beginEdit({ kind: 'followUp', id: followUp.id, revision: followUp.revision }, followUp)
  else if (steer) composer.beginEdit({ kind: 'steer', id: steer.id }, steer)
  else if (view.header.currentTurnId === null) {
    const last = view.items.findLast((item) => item.kind === 'user' && item.source === 'person' && item.visible)
    if (last?.kind === 'user') await editMessage(sessionId, last)
  }
}

/** What the session reaches is mentioned, other files attached (S-114), with `copies` all of them; a folder is asked about. */
export async function takeFiles(sessionId: string, files: DroppedFile[], copies: boolean): Promise<void> {
  const composer = composerOf(sessionId)
  const [first, ...more] = files
  const isSession = first && more.length === 0 && !first.folder && !copies && (await isSessionFile(first.file))
  if (isSession && (await offerImport(first.file, 'Attach the file'))) return
  // Files can be dropped on a session that is still being opened.
  const workspace = openSession(sessionId).store.getState().view?.header.workspace
  const paths = copies ? [] : files.flatMap(({ path }) => path ?? [])
  const inside = workspace === undefined ? new Map<string, string>() : await pathsInside(sessionId, workspace, paths)
  for (const label of inside.values()) composer.mention({ kind: 'file', ref: label, label })
  const others = files.filter(({ path }) => path === null || !inside.has(path))
  composer.addFiles(others.flatMap(({ file, folder }) => (folder ? [] : file)))
  const folder = others.find((one) => one.folder)
  if (!folder || !(await offerFolder(sessionId, folder.path)) || folder.path === null || workspace === undefined) return
  for (const label of (await pathsInside(sessionId, workspace, [folder.path])).values())
    composer.mention({ kind: 'file', ref: label, label })
}
