/** A session's decisions driven by hand, for tests: no mailbox, no disk, no model. */
import type { StoredEvent } from '../../preload/contract/events.ts'
import type { ItemOf } from '../../preload/contract/items.ts'
import type { SessionView, Steer } from '../../preload/contract/session.ts'
import { LatheError } from '../../preload/contract/errors.ts'
import { defaultSettings, type Settings } from '../../preload/contract/settings.ts'
import type { Report } from '../agent/reports.ts'
import { decide } from './decide.ts'
import type { Decision } from './decision.ts'
import type { Command, Input, Message } from './inputs.ts'
import { newSession, type Effect, type Environment, type SessionState } from './state.ts'

/** What the answers have that tests look into; which of it is there depends on the command. */
export type Reply = {
  id: string
  notices?: string[]
  turnId: string
  steerId: string
  followUpId: string
  withdrawn: Steer[]
  steer?: Steer
}

/** A clock that ticks, ids that count, and the journal it writes. */
export class Driver {
  state: SessionState
  /** The view before the first event: what was staged while unsent (S-3). */
  empty: SessionView
  readonly journal: StoredEvent[] = []
  effects: Effect[] = []
  private clock = 1_000
  private count = 0

  private readonly settings: Settings

  constructor(mode: 'ask' | 'all' = 'ask', settings = defaultSettings) {
    this.settings = settings
    this.state = newSession({
      id: 'session',
      journalId: 'journal',
      workspace: '/work',
      model: 'lab/scripted',
      effort: null,
      approvalMode: mode,
      now: this.clock,
    })
    this.empty = this.state.view
  }

  get environment(): Environment {
    return { now: ++this.clock, newId: () => `id-${++this.count}`, settings: this.settings, rules: [] }
  }

  /** The clock is moved on. */
  passes(ms: number): void {
    this.clock += ms
  }

  input(input: Input): Reply {
    const { decision, reply } = decide(this.state, input, this.environment)
    this.take(decision)
    return reply as Reply
  }

  take(decision: Decision): void {
    if (this.journal.length === 0 && decision.events.length > 0) this.empty = this.state.view
    this.state = decision.state
    this.journal.push(...decision.events)
    this.effects = decision.effects
  }

  command(command: Command): Reply {
    return this.input({ kind: 'command', command })
  }

  report(report: Report, turnId = this.state.turn?.id ?? 'none'): Reply {
    return this.input({ kind: 'report', turnId, report })
  }

  submit(text: string, more: Partial<Message> & { whenBusy?: 'refuse' | 'queue' | 'steer' } = {}): Reply {
    const { whenBusy = 'refuse', ...rest } = more
    const requestId = `request-${++this.count}`
    return this.command({
      type: 'submit',
      whenBusy,
      message: {
        requestId,
        fingerprint: text,
        text,
        attachments: [],
        model: 'lab/scripted',
        source: 'person',
        attendance: 'attended',
        ...rest,
      },
    })
  }

  /** A turn that streams. */
  running(text = 'do it'): string {
    const { turnId } = this.submit(text)
    this.report({ type: 'preparing' })
    this.report({ type: 'running' })
    this.report({ type: 'stepStarted', stepId: `step-${++this.count}`, step: 1, model: 'lab/scripted' })
    return turnId
  }

  propose(itemId: string, command: string): void {
    this.report({ type: 'toolProposed', itemId, callId: itemId, name: 'shell', title: command, args: { command } })
    this.report({
      type: 'toolReady',
      ticket: itemId,
      itemId,
      tool: 'shell',
      title: command,
      argsHash: `hash-${command}`,
      plan: {
        effects: [{ kind: 'command', words: command.split(' '), text: command, readOnly: false }],
        preview: { title: command, detail: command, detailKind: 'command' },
      },
    })
  }

  types(): string[] {
    return this.journal.map((event) => event.type)
  }

  /** An item by its id, as a tool's, which most of them are. */
  item(id: string): ItemOf<'tool'> {
    return this.state.view.items.find((item) => item.id === id) as ItemOf<'tool'>
  }
}

/** The code of a refusal; 'none' where there was none. */
export function refusedWith(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    if (error instanceof LatheError) return error.code
    throw error
  }
  return 'none'
}

/** What the first of the queue becomes when its turn has come. */
export function followUp(id: string): Message {
  return {
    requestId: `follow-up:${id}`,
    fingerprint: id,
    text: 'later one',
    attachments: [],
    model: 'lab/scripted',
    source: 'follow_up',
    attendance: 'attended',
  }
}

/** What a subagent asks, as its own session has it. */
export function askOf(kind: 'approval' | 'question', id: string): Extract<Command, { type: 'subagent.asks' }>['ask'] {
  const frame = {
    id,
    pos: 1,
    createdAt: 1,
    endedAt: null,
    status: 'live' as const,
    source: 'agent' as const,
    contextual: false,
    visible: true,
    stepId: null,
    turnId: 'turn of the child',
    toolItemId: 'tool of the child',
    state: 'open' as const,
  }
  if (kind === 'question')
    return { ...frame, kind, ask: 'text', text: '?', choices: [], multiple: false, allowText: true, expiresAt: null }
  return {
    ...frame,
    kind,
    request: {
      tool: 'shell',
      title: 'ls',
      detail: 'ls',
      detailKind: 'command',
      reason: 'It asks.',
      rules: [],
      argsHash: id,
    },
  }
}
