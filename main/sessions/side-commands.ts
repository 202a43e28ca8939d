/** Commands that answer without a turn (S-107, S-108), the same for a window and for `lathe run`. */
import { errorBody } from '../../preload/contract/errors.ts'
import type { Item } from '../../preload/contract/items.ts'
import { builtInAgent } from '../../preload/contract/agents.ts'
import type { ContextReport } from '../../preload/contract/session-routes.ts'
import { ApprovalMode, type SessionView } from '../../preload/contract/session.ts'
import type { Usage } from '../../preload/contract/usage.ts'
import type { ProviderState } from '../models/models.ts'
import type { Storage } from '../storage/storage.ts'
import { addUsage } from '../agent/usage.ts'
import type { Rights } from '../turns/requests.ts'
import type { Forks } from './forks.ts'
import { saidBy } from './export.ts'
import type { Sessions } from './sessions.ts'
import { agentNames, agentSettings, type AgentPorts } from './turn-choice.ts'

export type SidePorts = AgentPorts & {
  sessions: Pick<Sessions, 'actor' | 'open' | 'command' | 'delete'>
  forks: Pick<Forks, 'fork'>
  storage: Pick<Storage, 'items' | 'item' | 'contextItems'>
  providers(): Promise<readonly ProviderState[]>
  context(sessionId: string): Promise<ContextReport>
  version: string
  /** Milliseconds since the host began. */
  uptime(): number
}

/** What it says, and whether it stands in the transcript. */
export type SideAnswer = { text: string; stored: boolean }

const historyDefault = 20
const historyMax = 200
const answerCharsMax = 60_000

export class SideCommands {
  private readonly ports: SidePorts

  constructor(ports: SidePorts) {
    this.ports = ports
  }

  /** A bad argument answers with usage and changes nothing; a refusal is the answer. */
  async run(sessionId: string, name: string, argument: string, rights?: Rights): Promise<SideAnswer> {
    const { sessions } = this.ports
    const actor = await sessions.actor(sessionId)
    return actor.using(async () => {
      actor.checkMutable()
      const said = await this.answer(sessionId, name, argument, rights).catch((error: unknown) => {
        const { message, hint } = errorBody(error)
        return [message, hint].filter(Boolean).join(' ')
      })
      const text = said.length > answerCharsMax ? `${said.slice(0, answerCharsMax)}…` : said
      const line = `/${name}${argument === '' ? '' : ` ${argument}`}`
      // A deleted session says nothing any more.
      const stored =
        name !== 'delete' && (await actor.command<boolean>({ type: 'side.answered', line, answer: text }, rights))
      return { text, stored }
    })
  }

  private async answer(sessionId: string, name: string, argument: string, rights: Rights | undefined): Promise<string> {
    const { sessions } = this.ports
    const view = await sessions.open(sessionId)
    const { header } = view
    switch (name) {
      case 'status':
        return this.status(view)
      case 'usage':
        return this.usage(view)
      case 'context':
        return contextText(await this.ports.context(sessionId))
      case 'history':
        return this.history(sessionId, argument)
      case 'model':
        return this.model(view, argument, rights)
      case 'effort':
        return this.effort(view, argument, rights)
      case 'agent':
        return this.agent(view, argument, rights)
      case 'mode': {
        const mode = ApprovalMode.safeParse(argument.toLowerCase())
        const modes = ApprovalMode.options.join(', ')
        if (argument === '') return `Approval mode: ${header.approvalMode}. There are ${modes}.`
        if (!mode.success) return `There is no mode "${argument}". There are ${modes}.`
        await sessions.command(sessionId, { type: 'settings', approvalMode: mode.data }, rights)
        return `Approval mode: ${mode.data}.`
      }
      case 'rename':
        if (argument === '') return `This session is called "${header.title}". Usage: /rename TITLE`
        await sessions.command(sessionId, { type: 'rename', title: argument }, rights)
        return 'Renamed.'
      case 'pin':
        await sessions.command(sessionId, { type: 'pin', pinned: header.pinnedAt === null }, rights)
        return header.pinnedAt === null ? 'Pinned.' : 'No longer pinned.'
      case 'archive':
        await sessions.command(sessionId, { type: 'archive', archived: true }, rights)
        return 'Archived. A new message takes it out again.'
      case 'delete':
        await sessions.delete(sessionId, rights)
        return 'Deleted. It can be restored for 7 days.'
      case 'branch': {
        const { id, title } = await this.ports.forks.fork(sessionId, argument === '' ? {} : { title: argument }, rights)
        return `Forked as "${title}" (${id}).`
      }
      case 'stop': {
        const turnId = header.currentTurnId ?? header.lastTurnId
        if (turnId !== null) await sessions.command(sessionId, { type: 'stop', turnId, reason: 'person' }, rights)
        return header.currentTurnId === null ? 'Nothing is running.' : 'Stopped.'
      }
      default:
        return `/${name} cannot be used here.`
    }
  }

  private async status(view: SessionView): Promise<string> {
    const { header, turns, execSessions } = view
    const report = await this.ports.context(header.id)
    const model = header.model ?? this.chosen() ?? 'none'
    const running = execSessions.filter((one) => one.state === 'running').length
    return lines([
      ['Lathe', this.ports.version],
      ['Running for', durationText(this.ports.uptime())],
      ['Session', header.id],
      ['Folder', header.workspace],
      ['Model', model + (header.effort === null ? '' : `, effort ${header.effort}`)],
      ['Agent', header.agent ?? builtInAgent],
      ['Approval mode', header.approvalMode],
      ['State', header.currentTurnId === null ? 'idle' : 'a turn is running'],
      ['Last turn', turns.at(-1)?.outcome ?? 'none'],
      ['Usage', usageText(header.usage)],
      ['Context', fillText(report)],
      ['Entries', String(header.itemCount)],
      ['Running commands', String(running)],
    ])
  }

  /** By turn, in all, and by day. */
  private async usage({ header }: SessionView): Promise<string> {
    const { turns } = await this.ports.storage.contextItems(header.id)
    const days = new Map<string, Usage[]>()
    for (const turn of turns) {
      const day = new Date(turn.startedAt).toISOString().slice(0, 10)
      days.set(day, [...(days.get(day) ?? []), turn.usage])
    }
    const last = turns.at(-1)
    return lines([
      ['Last turn', last ? usageText(last.usage) : 'none'],
      ['This session', usageText(header.usage)],
      ...[...days].slice(-7).map(([day, usages]): [string, string] => [day, usageText(sumOf(usages))]),
    ])
  }

  private async history(sessionId: string, argument: string): Promise<string> {
    const wanted = argument === '' ? historyDefault : Number(argument)
    if (!Number.isInteger(wanted) || wanted < 1 || wanted > historyMax)
      return `Usage: /history N, with N from 1 to ${historyMax}.`
    const found: string[] = []
    let exchanges = 0
    let before: string | undefined
    while (exchanges < wanted) {
      const page = await this.ports.storage.items(sessionId, {
        ...(before === undefined ? {} : { before }),
        limit: 200,
      })
      for (const item of page.items.toReversed()) {
        if (exchanges === wanted) break
        const said = saidText(item)
        if (said === null) continue
        found.unshift(said)
        if (item.kind === 'user') exchanges++
      }
      before = page.items[0]?.id
      if (page.before === 0 || before === undefined) break
    }
    return found.join('\n\n') || 'Nothing was said yet.'
  }

  private async model({ header }: SessionView, argument: string, rights: Rights | undefined): Promise<string> {
    const names = await this.modelNames()
    const known = names.length === 0 ? 'No model is configured.' : `Models: ${names.join(', ')}.`
    if (argument === '') return `Model: ${header.model ?? this.chosen() ?? 'none'}. ${known}`
    const exact = names.find((name) => name === argument)
    const partial = names.filter((name) => name.toLowerCase().includes(argument.toLowerCase()))
    const wanted = exact ?? (partial.length === 1 ? partial[0]! : argument)
    let model: string
    try {
      model = this.ports.chooseModel(wanted)
    } catch {
      return `There is no model "${argument}". ${known}`
    }
    await this.ports.sessions.command(header.id, { type: 'settings', model }, rights)
    return `Model: ${model}, from the next turn on.`
  }

  private async effort({ header }: SessionView, argument: string, rights: Rights | undefined): Promise<string> {
    const efforts = await this.efforts(header.model ?? this.chosen())
    if (efforts.length === 0) return 'This model does not offer a choice of effort.'
    const names = efforts.join(', ')
    if (argument === '') return `Effort: ${header.effort ?? 'standard'}. There are ${names}.`
    const effort = efforts.find((one) => one.toLowerCase() === argument.toLowerCase())
    if (effort === undefined) return `There is no effort "${argument}". There are ${names}.`
    await this.ports.sessions.command(header.id, { type: 'settings', effort }, rights)
    return `Effort: ${effort}, from the next turn on.`
  }

  private async agent({ header }: SessionView, argument: string, rights: Rights | undefined): Promise<string> {
    const { id, workspace } = header
    if (argument === '') {
      const known = await this.ports.agents.list(workspace)
      return `Agent: ${header.agent ?? builtInAgent}. There are ${agentNames(known)}.`
    }
    const settings = await agentSettings(this.ports, argument, workspace)
    await this.ports.sessions.command(id, { type: 'settings', ...settings }, rights)
    return `Agent: ${settings.agent ?? builtInAgent}, from the next turn on.`
  }

  private chosen(): string | null {
    try {
      return this.ports.chooseModel(null)
    } catch {
      return null
    }
  }

  private async modelNames(): Promise<string[]> {
    const providers = await this.ports.providers()
    return providers.flatMap((provider) => provider.models.map((model) => model.name))
  }

  private async efforts(model: string | null): Promise<string[]> {
    const providers = await this.ports.providers()
    const found = providers.flatMap((provider) => provider.models).find((one) => one.name === model)
    return found?.efforts ?? []
  }
}

/** What a person or the agent said; blocks made by the host are not shown. */
function saidText(item: Item): string | null {
  if (!item.visible) return null
  if (item.kind === 'user' && item.source !== 'command') return `${saidBy(item)}: ${item.text}`
  if (item.kind === 'text' && item.text.trim() !== '') return `Lathe: ${item.text}`
  return null
}

function contextText(report: ContextReport): string {
  return lines([
    ['Context', fillText(report)],
    ...report.sections.map((section): [string, string] => [section.name, `${section.tokens} tokens`]),
  ])
}

function fillText({ used, window, estimated }: ContextReport): string {
  if (used === null) return 'unknown'
  return `${estimated ? 'about ' : ''}${used}${window === null ? '' : ` of ${window}`} tokens`
}

function usageText({ input, output, total, cost }: Usage): string {
  if (total === null && input === null && output === null) return 'none reported'
  const sum = total ?? (input ?? 0) + (output ?? 0)
  return `${sum} tokens (${input ?? 0} in, ${output ?? 0} out)${cost === null ? '' : `, $${cost.toFixed(4)}`}`
}

function sumOf(usages: readonly Usage[]): Usage {
  return usages.reduce(addUsage)
}

function durationText(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 1) return `${Math.floor(ms / 1_000)} s`
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

function lines(rows: readonly [string, string][]): string {
  return rows.map(([name, value]) => `${name}: ${value}`).join('\n')
}
