/** What a person can do to a session, as one object: each call carries its own request id and throws `LatheError` (S-27). */
import type { StoreApi } from 'zustand/vanilla'
import { newId } from '../../preload/contract/ids.ts'
import { heldItemsMax, sliceItems } from '../../preload/contract/limits.ts'
import type { ApprovalDecision, Attachment, Item, ItemOf, Mention } from '../../preload/contract/items.ts'
import type { Prompt, StopReply, SubmitReply } from '../../preload/contract/session-routes.ts'
import type {
  ApprovalMode,
  FollowUp,
  ItemSlice,
  SessionHeader,
  SessionView,
  Steer,
} from '../../preload/contract/session.ts'
import { cutView, joinOlder, meets, trimView, withNewer, withOlder } from '../../preload/contract/stretch.ts'
import { asLatheError, type SessionClient } from './session-client.ts'
import { shownView, type SessionState, type Unsent } from './session-state.ts'

export type Message = { text: string; attachments: Attachment[]; mentions?: Mention[] | undefined }
type WhenBusy = 'refuse' | 'queue' | 'steer'
type Answer = { choices?: string[]; text?: string; secret?: string; declined?: boolean }

export type SessionController = {
  /** Sends a message. It is on screen before the host has answered; a refusal stays with it as "Not sent" and is thrown too. */
  submit(message: Message, whenBusy: WhenBusy): Promise<SubmitReply>
  /** The same message under the same request id, so that a lost answer cannot send it twice (T-13). */
  tryAgain(requestId: string): Promise<SubmitReply>
  /** Takes a refused message off the screen and answers it, for the composer. */
  takeUnsent(requestId: string): Message | null
  /** Stops the running turn; null where none runs. */
  stop(): Promise<StopReply | null>
  retry(turnId: string, model?: string): Promise<SubmitReply>
  continueTurn(turnId: string): Promise<SubmitReply>
  editSteer(steerId: string, message: Message): Promise<{ done: boolean }>
  /** Null where the agent has taken it already. */
  withdrawSteer(steerId: string): Promise<Steer | null>
  sendSteerNow(steerId: string): Promise<'delivered' | 'next_step' | 'taken' | 'not_running'>
  editFollowUp(id: string, revision: number, message: Message): Promise<FollowUp>
  moveFollowUp(id: string, before: string | null): Promise<void>
  removeFollowUp(id: string): Promise<FollowUp>
  clearFollowUps(): Promise<FollowUp[]>
  steerFollowUp(id: string): Promise<void>
  startFollowUp(id: string): Promise<SubmitReply>
  pauseQueue(): Promise<void>
  resumeQueue(): Promise<void>
  answerApproval(
    approval: ItemOf<'approval'>,
    decision: ApprovalDecision,
    more?: { scope?: 'workspace' | 'always'; feedback?: string },
  ): Promise<void>
  answerQuestion(questionId: string, answer: Answer): Promise<void>
  /** The person types or chooses: the count of the question begins anew, at most once a second (T-149). */
  touchQuestion(questionId: string): void
  /** Tries at once to store what could not be stored (T-41). */
  retrySaving(): Promise<void>
  continueRecovery(recoveryId: string): Promise<SubmitReply>
  dismissRecovery(recoveryId: string): Promise<void>
  releaseHold(): Promise<void>
  configure(settings: {
    model?: string | null
    effort?: string | null
    agent?: string | null
    approvalMode?: ApprovalMode
    forApproval?: string
  }): Promise<SessionHeader>
  /** Gives the agent a folder outside the workspace, or changes whether it may write there (F-104). */
  putFolder(path: string, writable: boolean): Promise<void>
  removeFolder(path: string): Promise<void>
  /** Runs the person's own command line (T-25). */
  runCommand(line: string): Promise<{ itemId: string }>
  stopCommand(itemId: string): Promise<void>
  /** Ends that subagent and no other (C-102). */
  stopSubagent(itemId: string): Promise<void>
  /** A command that answers without a turn (S-108); null where its answer stands in the transcript, else the answer. */
  sideCommand(name: string, argument: string): Promise<string | null>
  /** Replaces older turns by a summary in what the model is sent; resolves once that is done. */
  compact(focus: string): Promise<'compacted' | 'nothing' | 'cancelled'>
  cancelCompaction(jobId: string): Promise<void>
  /** Loads the slice before what is shown. What is far below it is let go of: that much is held at most (K-14). */
  loadOlder(): Promise<void>
  /** Loads the slice after what is shown, up to the end; what is far above it is let go of. */
  loadNewer(): Promise<void>
  /** Shows the end again, where the reader was apart from it. */
  showEnd(): void
  /** Lets go of what is far above the end, for a reader who follows it. */
  trimEnd(): void
  /** Shows the stretch around the item where it is not shown yet; false where the session has no such item. */
  reveal(itemId: string): Promise<boolean>
  /** Entries of the whole session that show a text, oldest first (S-69). */
  find(text: string): Promise<{ matches: { itemId: string; pos: number }[]; more: boolean }>
  /** The item with its full text (S-58); the view holds it whole from then on. */
  loadItem(itemId: string): Promise<Item>
  /** Prompts to recall, newest first: this session's, then its workspace's (S-103). */
  prompts(): Promise<Prompt[]>
  /** Sets a message of the person's and all after it aside; with `edited`, that text is the next turn (S-79, S-80). */
  rewind(itemId: string, more?: { edited?: Message; withFiles?: boolean }): Promise<SubmitReply | null>
  /** What a mark set aside, oldest first (S-81). */
  setAside(markItemId: string): Promise<ItemSlice>
  restoreSetAside(markItemId: string): Promise<void>
  deleteSetAside(markItemId: string): Promise<void>
}

export function createSessionController(
  sessionId: string,
  store: StoreApi<SessionState>,
  client: SessionClient,
  showAround: (itemId: string) => Promise<boolean>,
): SessionController {
  const act = () => ({ requestId: newId(), sessionId })
  let touchedAt = -Infinity
  /** Settles with the answer to the message that was sent last. */
  let answered: Promise<unknown> = Promise.resolve()

  async function asked<T>(call: Promise<T>): Promise<T> {
    try {
      return await call
    } catch (thrown) {
      throw asLatheError(thrown)
    }
  }

  function setUnsent(requestId: string, change: (one: Unsent) => Unsent | null): void {
    store.setState(({ unsent }) => ({
      unsent: unsent.flatMap((one) => (one.requestId === requestId ? (change(one) ?? []) : one)),
    }))
  }

  async function send(one: Unsent): Promise<SubmitReply> {
    const whenBusy = one.as === 'followUp' ? 'queue' : one.as === 'steer' ? 'steer' : 'refuse'
    const { requestId, text, attachments, mentions } = one
    try {
      const reply = await client.session.submit({ requestId, sessionId, text, attachments, mentions, whenBusy })
      // A started turn's bubble waits for the event that replaces it; what joined a list is drawn by that list.
      if (reply.accepted !== 'started') setUnsent(requestId, () => null)
      return reply
    } catch (thrown) {
      const error = asLatheError(thrown)
      // The turn ended under the steer: it becomes the next message (T-115).
      if (one.as === 'steer' && error.code === 'steer.not_running') {
        const next: Unsent = { ...one, requestId: newId(), as: 'followUp' }
        setUnsent(requestId, () => next)
        return await send(next)
      }
      setUnsent(requestId, (sent) => ({ ...sent, refusal: error.toBody() }))
      throw error
    }
  }

  /** Of an unsent session no event tells (S-3): it shows at once, and other windows open it anew. */
  function shown(header: SessionHeader): SessionHeader {
    store.setState(({ view }) => (view?.header.lastSeq === 0 ? { view: { ...view, header } } : {}))
    return header
  }

  /** Messages reach the host in the order they were sent in: each once the one before it is answered. */
  function sendInTurn(one: Unsent): Promise<SubmitReply> {
    const reply = answered.then(() => send(one))
    answered = reply.catch(() => {})
    return reply
  }

  const controller: SessionController = {
    submit({ text, attachments, mentions }, whenBusy) {
      const running = store.getState().view?.header.currentTurnId != null
      const as = !running || whenBusy === 'refuse' ? 'turn' : whenBusy === 'queue' ? 'followUp' : 'steer'
      const one: Unsent = { requestId: newId(), text, attachments, mentions, as, at: Date.now(), refusal: null }
      store.setState(({ unsent }) => ({ unsent: [...unsent, one] }))
      return sendInTurn(one)
    },
    tryAgain(requestId) {
      const one = store.getState().unsent.find((each) => each.requestId === requestId)
      if (!one) return Promise.reject(asLatheError(new Error('This message is no longer waiting.')))
      setUnsent(requestId, (each) => ({ ...each, refusal: null }))
      return sendInTurn(one)
    },
    takeUnsent(requestId) {
      const one = store.getState().unsent.find((each) => each.requestId === requestId)
      if (!one?.refusal) return null
      setUnsent(requestId, () => null)
      return { text: one.text, attachments: one.attachments, mentions: one.mentions }
    },
    async stop() {
      const turnId = store.getState().view?.header.currentTurnId
      return turnId ? await asked(client.session.stop({ ...act(), turnId })) : null
    },
    retry: (turnId, model) =>
      asked(client.session.retry({ ...act(), turnId, ...(model === undefined ? {} : { model }) })),
    continueTurn: (turnId) => asked(client.session.continue({ ...act(), turnId })),
    editSteer: (steerId, message) => asked(client.steers.edit({ ...act(), steerId, ...message })),
    async withdrawSteer(steerId) {
      const { done, steer } = await asked(client.steers.withdraw({ ...act(), steerId }))
      return done ? (steer ?? null) : null
    },
    async sendSteerNow(steerId) {
      const { sent } = await asked(client.steers.sendNow({ ...act(), steerId }))
      return sent
    },
    editFollowUp: (id, revision, message) => asked(client.followUps.edit({ ...act(), id, revision, ...message })),
    async moveFollowUp(id, before) {
      await asked(client.followUps.move({ ...act(), id, before }))
    },
    removeFollowUp: (id) => asked(client.followUps.remove({ ...act(), id })),
    clearFollowUps: () => asked(client.followUps.clear(act())),
    async steerFollowUp(id) {
      await asked(client.followUps.steerNow({ ...act(), id }))
    },
    startFollowUp: (id) => asked(client.followUps.startNow({ ...act(), id })),
    async pauseQueue() {
      await asked(client.followUps.pause(act()))
    },
    async resumeQueue() {
      await asked(client.followUps.resume(act()))
    },
    async answerApproval({ id, request }, decision, more = {}) {
      await asked(client.approvals.answer({ ...act(), approvalId: id, argsHash: request.argsHash, decision, ...more }))
    },
    async answerQuestion(questionId, answer) {
      await asked(client.questions.answer({ ...act(), questionId, ...answer }))
    },
    touchQuestion(questionId) {
      const now = performance.now()
      if (now - touchedAt < 1_000) return
      touchedAt = now
      void client.questions.touch({ ...act(), questionId }).catch(() => {})
    },
    async retrySaving() {
      await asked(client.session.retrySaving(act()))
    },
    continueRecovery: (recoveryId) => asked(client.recovery.continue({ ...act(), recoveryId })),
    async dismissRecovery(recoveryId) {
      await asked(client.recovery.dismiss({ ...act(), recoveryId }))
    },
    async releaseHold() {
      await asked(client.session.releaseHold(act()))
    },
    async configure(settings) {
      return shown(await asked(client.session.settings({ ...act(), ...settings })))
    },
    async putFolder(path, writable) {
      shown(await asked(client.session.putFolder({ ...act(), path, writable })))
    },
    async removeFolder(path) {
      shown(await asked(client.session.removeFolder({ ...act(), path })))
    },
    runCommand: (line) => asked(client.session.command({ ...act(), line })),
    async stopSubagent(itemId) {
      await asked(client.session.stopSubagent({ ...act(), itemId }))
    },
    async stopCommand(itemId) {
      await asked(client.session.stopCommand({ ...act(), itemId }))
    },
    async sideCommand(name, argument) {
      const { text, stored } = await asked(client.session.sideCommand({ ...act(), name, argument }))
      return stored ? null : text
    },
    async compact(focus) {
      const { came } = await asked(client.session.compact({ ...act(), ...(focus === '' ? {} : { focus }) }))
      return came
    },
    async cancelCompaction(jobId) {
      await asked(client.session.cancelCompaction({ ...act(), jobId }))
    },
    async loadOlder() {
      const first = shownView(store.getState())?.items[0]
      if (!first || shownView(store.getState())!.itemsBefore === 0 || store.getState().older === 'loading') return
      store.setState({ older: 'loading' })
      try {
        const slice = await client.session.items({ sessionId, before: first.id, limit: sliceItems })
        const { view, apart } = store.getState()
        const shown = apart ?? view
        store.setState({ older: 'idle' })
        // The view may have been opened anew meanwhile; a slice that no longer joins it is dropped.
        if (!view || shown?.items[0]?.id !== first.id) return
        const joined = withOlder(shown, slice)
        if (joined.items.length <= heldItemsMax) store.setState(apart ? { apart: joined } : { view: joined })
        else store.setState({ view: apart ? view : trimView(view), apart: cutView(joined, 0, heldItemsMax) })
      } catch (thrown) {
        store.setState({ older: 'failed' })
        throw asLatheError(thrown)
      }
    },
    async loadNewer() {
      const last = store.getState().apart?.items.at(-1)
      if (!last || store.getState().newer === 'loading') return
      store.setState({ newer: 'loading' })
      try {
        const slice = await client.session.items({ sessionId, after: last.id, limit: sliceItems })
        const { view, apart } = store.getState()
        store.setState({ newer: 'idle' })
        if (!view || apart?.items.at(-1)?.id !== last.id) return
        const joined = withNewer(apart, slice)
        if (meets(joined, view)) store.setState({ apart: null, view: cutHead(joinOlder(joined, view)) })
        else store.setState({ apart: cutHead(joined) })
      } catch (thrown) {
        store.setState({ newer: 'failed' })
        throw asLatheError(thrown)
      }
    },
    showEnd() {
      store.setState({ apart: null })
    },
    trimEnd() {
      store.setState(({ view }) =>
        view && view.items.length > heldItemsMax ? { view: cutView(view, view.items.length - heldItemsMax / 2) } : {},
      )
    },
    async reveal(itemId) {
      if (shownView(store.getState())?.items.some((item) => item.id === itemId)) return true
      try {
        return await showAround(itemId)
      } catch (thrown) {
        throw asLatheError(thrown)
      }
    },
    find: (text) => asked(client.session.find({ sessionId, text })),
    async loadItem(itemId) {
      const whole = await asked(client.session.item({ sessionId, itemId }))
      const holding = (held: SessionView | null) =>
        held && { ...held, items: held.items.map((item) => (item.id === itemId ? whole : item)) }
      store.setState(({ view, apart }) => ({ view: holding(view), apart: holding(apart) }))
      return whole
    },
    async rewind(itemId, more = {}) {
      const { submitted } = await asked(client.session.rewind({ ...act(), itemId, ...more }))
      return submitted
    },
    setAside: (markItemId) => asked(client.session.setAside({ sessionId, markItemId })),
    async restoreSetAside(markItemId) {
      await asked(client.session.restoreSetAside({ ...act(), markItemId }))
    },
    async deleteSetAside(markItemId) {
      await asked(client.session.deleteSetAside({ ...act(), markItemId }))
    },
    prompts: () => asked(client.session.prompts({ sessionId })),
  }
  return controller
}

function cutHead(view: SessionView): SessionView {
  return cutView(view, Math.max(0, view.items.length - heldItemsMax))
}
