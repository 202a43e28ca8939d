/** What asks for a turn: a message, the same again, an unfinished one going on, one that was queued, one that nobody sent. */
import { LatheError } from '../../preload/contract/errors.ts'
import { newId } from '../../preload/contract/ids.ts'
import type { Attachment, Mention, ResolvedMention } from '../../preload/contract/items.ts'
import type { SubmitReply } from '../../preload/contract/session-routes.ts'
import type { SessionView, Turn } from '../../preload/contract/session.ts'
import { distinctNames } from '../files/attachment-type.ts'
import { splitName } from '../models/config.ts'
import type { Storage } from '../storage/storage.ts'
import type { AutomaticRequest } from '../turns/automatic.ts'
import type { Message } from '../turns/inputs.ts'
import { checkText, type Rights } from '../turns/requests.ts'
import type { Attendance } from '../turns/state.ts'
import type { SessionActor } from './actor.ts'
import { type MentionSources, resolveMentions } from './mentions.ts'
import { checkAttachments, checkPlace, fingerprintOf } from './message-checks.ts'
import type { ProviderPauses } from './provider-pauses.ts'
import { choiceOfTurn, type ChoicePorts } from './turn-choice.ts'

export type TurnRequestsPorts = ChoicePorts & {
  storage: Pick<Storage, 'blobs' | 'dataFolder' | 'item' | 'items' | 'request' | 'turn'>
  actor(id: string): Promise<SessionActor>
  open(id: string): Promise<SessionView>
  /** Where files and terminals that are mentioned are looked up. */
  mentions: Pick<MentionSources, 'path' | 'terminal'>
  /** Providers that turns which start by themselves do not use now. */
  pauses: Pick<ProviderPauses, 'of'>
  /** A window or tab is connected: told to turns that no person asked for. */
  connected(): boolean
}

export type Submission = {
  requestId: string
  text: string
  attachments: Attachment[]
  mentions?: Mention[] | undefined
  whenBusy?: 'refuse' | 'queue' | 'steer' | undefined
  model?: string | undefined
  /** For this message alone; null: the built-in one. */
  agent?: string | null | undefined
  attendance: Attendance
  rights?: Rights | undefined
}

/** Each request is checked here, where waiting is allowed, and decided in one mailbox step of its session (T-12 to T-17). */
export class TurnRequests {
  private readonly ports: TurnRequestsPorts

  constructor(ports: TurnRequestsPorts) {
    this.ports = ports
  }

  /** A person's message. */
  submit(id: string, submission: Submission): Promise<SubmitReply> {
    const { requestId, text, attachments, mentions, model, agent, whenBusy = 'refuse' } = submission
    const asked = {
      action: 'submit',
      text,
      attachments: attachments.map((one) => one.hash),
      model: model ?? null,
      ...(agent === undefined ? {} : { agent }),
      ...(mentions?.length ? { mentions } : {}),
    }
    return this.once(id, requestId, asked, async (actor, fingerprint) =>
      actor.command(
        { type: 'submit', message: await this.checked(actor, submission, fingerprint), whenBusy },
        submission.rights,
      ),
    )
  }

  /**
   * A turn that no person asked for, by the same checks and refusals as theirs. Once its admission is durable it is
   * the session's; until then whoever asked keeps its work and may ask again (T-28).
   */
  async submitAutomatic(id: string, request: AutomaticRequest): Promise<SubmitReply> {
    const { completionKeys, prompt, ...shown } = request
    const actor = await this.ports.actor(id)
    return actor.using(async () => {
      const delivered = await actor.command<SubmitReply | null>({ type: 'delivered', completionKeys })
      if (delivered) return delivered
      actor.checkMutable()
      await this.checkPlace(actor)
      const chosen = await this.choiceFor(actor)
      const { provider } = splitName(chosen.model)
      if (this.ports.pauses.of(provider))
        throw new LatheError('automatic.held', `Automatic work that uses ${provider} is paused.`, {
          reason: 'provider_paused',
        })
      const window = this.ports.connected() ? 'A window is open.' : 'No window is open.'
      const message: Message = {
        ...shown,
        requestId: newId(),
        fingerprint: fingerprintOf({ action: 'automatic', completionKeys }),
        prompt: `<automatic-turn source="${request.source}" name=${JSON.stringify(request.automation.name)}>\n${prompt} ${window}\n</automatic-turn>`,
        attachments: [],
        completionKeys,
        ...chosen,
        attendance: 'attended',
      }
      return actor.command({ type: 'submit', message, whenBusy: 'refuse' })
    })
  }

  /** The same text again as a new turn (T-179). */
  retry(
    id: string,
    requestId: string,
    turnId: string,
    model: string | undefined,
    attendance: Attendance,
    rights?: Rights,
  ): Promise<SubmitReply> {
    return this.once(id, requestId, { action: 'retry', turnId, model: model ?? null }, async (actor, fingerprint) => {
      const row = await this.turnRow(actor, turnId)
      const { text, prompt, attachments, mentions } = await this.userItem(actor, row)
      await checkAttachments(attachments, this.ports.storage.blobs)
      await this.checkPlace(actor)
      const message: Message = {
        requestId,
        fingerprint,
        text,
        ...(prompt === undefined ? {} : { prompt }),
        attachments,
        // As they were: the same is asked again.
        mentions,
        ...(await this.choiceAgain(actor, row, model)),
        source: 'person',
        attendance,
        retryOf: turnId,
      }
      return actor.command({ type: 'submit', message, whenBusy: 'refuse' }, rights)
    })
  }

  /** Goes on after an unfinished end, with a fixed instruction (T-181). */
  continue(
    id: string,
    requestId: string,
    turnId: string,
    attendance: Attendance,
    rights?: Rights,
  ): Promise<SubmitReply> {
    return this.once(id, requestId, { action: 'continue', turnId }, async (actor, fingerprint) => {
      const row = await this.turnRow(actor, turnId)
      await this.checkPlace(actor)
      const message = await this.continuation(actor, { requestId, fingerprint, attendance, continues: turnId }, row)
      return actor.command({ type: 'submit', message, whenBusy: 'refuse' }, rights)
    })
  }

  continueRecovery(
    id: string,
    requestId: string,
    recoveryId: string,
    attendance: Attendance,
    rights?: Rights,
  ): Promise<SubmitReply> {
    return this.once(id, requestId, { action: 'continueRecovery', recoveryId }, async (actor, fingerprint) => {
      await this.checkPlace(actor)
      const continues = actor.peek().view.header.recovery?.turnId ?? ''
      const row = continues === '' ? null : await this.turnRow(actor, continues)
      const message = await this.continuation(actor, { requestId, fingerprint, attendance, continues }, row)
      return actor.command({ type: 'recovery.continue', recoveryId, message }, rights)
    })
  }

  /** Starts one queued message now, by the person's wish or because its turn has come (T-46, T-128). */
  async startFollowUp(
    id: string,
    followUpId: string,
    byPerson: boolean,
    attendance: Attendance,
    rights?: Rights,
  ): Promise<SubmitReply | null> {
    const actor = await this.ports.actor(id)
    return actor.using(async () => {
      actor.checkMutable()
      const followUp = actor.peek().view.header.queue.followUps.find((one) => one.id === followUpId)
      if (!followUp) throw new LatheError('follow_up.gone', 'This message has started or was removed already.')
      const { text, attachments } = followUp
      await checkAttachments(attachments, this.ports.storage.blobs)
      const mentions = await this.resolveMentions(actor, followUp.mentions)
      await this.checkPlace(actor)
      const message: Message = {
        requestId: `follow-up:${followUpId}`,
        fingerprint: fingerprintOf({ action: 'followUp', id: followUpId }),
        text,
        attachments,
        mentions,
        ...(await this.choiceFor(actor, followUp)),
        ...(followUp.agent === undefined ? {} : { asked: { agent: followUp.agent } }),
        source: 'follow_up',
        attendance,
      }
      return actor.command({ type: 'followUp.start', id: followUpId, message, byPerson }, rights)
    })
  }

  /** What the person wrote as it enters the mailbox, or why it is refused: all that has to be awaited. */
  async checked(actor: SessionActor, submission: Omit<Submission, 'whenBusy'>, fingerprint: string): Promise<Message> {
    const { requestId, text, attachments, attendance } = submission
    checkText(text, attachments)
    await checkAttachments(attachments, this.ports.storage.blobs)
    const mentions = await this.resolveMentions(actor, submission.mentions)
    await this.checkPlace(actor)
    const chosen = await this.choiceFor(actor, submission)
    const names = distinctNames(attachments.map(({ name }) => name))
    return {
      requestId,
      fingerprint,
      text,
      attachments: attachments.map((attachment, at) => ({ ...attachment, name: names[at]! })),
      mentions,
      ...chosen,
      ...askedFor(submission, chosen.model),
      source: 'person',
      attendance,
    }
  }

  /** The reply a request had already, from memory once it is durable or from long ago (T-13). Throws `request.conflict`. */
  async earlier(actor: SessionActor, requestId: string, fingerprint: string): Promise<SubmitReply | null> {
    const recent = await actor.command<SubmitReply | null>({ type: 'earlier', requestId, fingerprint })
    if (recent || !actor.stored) return recent
    const binding = await this.ports.storage.request(actor.id, requestId)
    if (binding && binding.fingerprint !== fingerprint) {
      throw new LatheError('request.conflict', 'This request id was used for another message.')
    }
    return (binding?.reply as SubmitReply | undefined) ?? null
  }

  /** What is mentioned, as it is now (S-113). Throws `mention.missing`, and `workspace.missing` where files cannot be looked for. */
  resolveMentions(
    actor: SessionActor,
    mentions: readonly Mention[] | undefined,
  ): Promise<ResolvedMention[] | undefined> {
    const { id } = actor
    const { storage } = this.ports
    const { workspace, extraFolders } = actor.peek().view.header
    const place = { sessionId: id, workspace, extraFolders }
    return resolveMentions(mentions, place, {
      ...this.ports.mentions,
      session: (other) => this.ports.open(other),
      changes: async (turnId) => {
        const known = actor.published.turns.some((turn) => turn.id === turnId)
        if (known) return actor.published.changes.filter((file) => file.turnId === turnId)
        const turn = await storage.turn(id, turnId)
        if (!turn) return null
        const { changes } = await storage.items(id, { around: turn.userItemId, limit: 1 })
        return changes.filter((file) => file.turnId === turnId)
      },
    })
  }

  /** The reply this request had already, else the one `decide` brings; refused first where nothing may change (T-14). */
  private async once(
    id: string,
    requestId: string,
    asked: Record<string, unknown>,
    decide: (actor: SessionActor, fingerprint: string) => Promise<SubmitReply>,
  ): Promise<SubmitReply> {
    const actor = await this.ports.actor(id)
    const fingerprint = fingerprintOf(asked)
    return actor.using(async () => {
      const earlier = await this.earlier(actor, requestId, fingerprint)
      if (earlier) return earlier
      actor.checkMutable()
      return decide(actor, fingerprint)
    })
  }

  private async continuation(
    actor: SessionActor,
    asked: Pick<Message, 'requestId' | 'fingerprint' | 'attendance'> & { continues: string },
    row: Turn | null,
  ): Promise<Message> {
    return {
      ...asked,
      text: 'Continue',
      prompt:
        'Your previous turn ended before it was finished. Continue the work from where it stopped. Results of calls that finished are above; do not repeat their effects. Check anything whose outcome is unknown.',
      attachments: [],
      ...(await this.choiceAgain(actor, row)),
      source: 'person',
    }
  }

  private checkPlace(actor: SessionActor): Promise<void> {
    return checkPlace(actor.peek().view.header.workspace, this.ports.storage.dataFolder)
  }

  private choiceFor(actor: SessionActor, asked: Parameters<typeof choiceOfTurn>[1] = {}) {
    return choiceOfTurn(this.ports, asked, actor.peek().view.header)
  }

  /** For the same again, or its end: an agent that was named with the message narrows that too (C-21). */
  private async choiceAgain(
    actor: SessionActor,
    row: Turn | null,
    model?: string,
  ): Promise<Pick<Message, 'model' | 'replaced' | 'agent' | 'asked'>> {
    if (!row?.agentAsked) return this.choiceFor(actor, { model })
    const { agent = null } = row
    return { ...(await this.choiceFor(actor, { model, agent })), asked: { agent } }
  }

  private async userItem(actor: SessionActor, { userItemId }: Turn) {
    const item = await this.ports.storage.item(actor.id, userItemId)
    if (item?.kind !== 'user') throw new LatheError('request.invalid', 'What began that turn is no longer there.')
    return item
  }

  /** The row of a turn, which may be older than what memory holds. */
  private async turnRow(actor: SessionActor, turnId: string): Promise<Turn> {
    const row =
      actor.published.turns.find((turn) => turn.id === turnId) ?? (await this.ports.storage.turn(actor.id, turnId))
    if (!row) throw new LatheError('request.invalid', 'That turn is not one of this session.')
    return row
  }
}

/** What a message that has to wait names of its turn; all else is the session's when it starts (T-18). */
function askedFor({ model, agent }: Omit<Submission, 'whenBusy'>, canonical: string): Pick<Message, 'asked'> {
  const asked = { ...(model === undefined ? {} : { model: canonical }), ...(agent === undefined ? {} : { agent }) }
  return Object.keys(asked).length > 0 ? { asked } : {}
}
