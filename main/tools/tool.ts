/**
 * What a tool is: a name, a description and schema for the model, a pure look at what a call would touch (its effects,
 * judged by approvals/policy.ts), and the work itself. A tool never asks for permission and never decides where it runs.
 */
import type { z } from 'zod'
import type { ErrorCode, LatheError } from '../../preload/contract/errors.ts'
import type { Choice, Plan } from '../../preload/contract/items.ts'
import type { ExtraFolder, Parent } from '../../preload/contract/session.ts'
import type { FileChange } from '../files/change.ts'

/** What a call would touch, as the policy judges it (Z-80). Paths are real absolute paths. */
export type Effect =
  | { kind: 'read'; path: string; inside: boolean; secret: boolean }
  | {
      kind: 'write'
      path: string
      inside: boolean
      change: 'edit' | 'create' | 'move' | 'delete'
      protected: boolean
      secret: boolean
    }
  /** One simple command of the line; `words` are literal words, or null where one is not literal. `readOnly` by Z-65. */
  | {
      kind: 'command'
      words: (string | null)[]
      text: string
      readOnly: boolean
      /** Why nothing may be remembered. */
      opaque?: string | undefined
      neverAutomatic?: string | undefined
    }
  /** Refused in every mode (Z-70). */
  | { kind: 'forbidden'; reason: string }
  | { kind: 'network'; host: string; port: number; loopback: boolean }
  /** Text for a program that runs: it may do with it what it likes. */
  | { kind: 'input'; text: string }
  | { kind: 'person' }
  | { kind: 'none' }

/** What the approval card shows of a call. `detail` is the exact command, or the path and a diff. */
export type CallPreview = {
  title: string
  detail: string
  detailKind: 'command' | 'diff' | 'path' | 'url' | 'text'
  folder?: string | undefined
}

export type CallPlan = { effects: Effect[]; preview: CallPreview }

/** Sections of a tool card, bounded: long output stays a blob (`outputRef`). */
export type ToolView = {
  stdout?: string | undefined
  stderr?: string | undefined
  exitCode?: number | null | undefined
  signal?: string | null | undefined
  path?: string | undefined
  /** First line shown, for "open at line". */
  line?: number | undefined
  outputRef?: string | undefined
  /** A picture the model is shown with the result (F-307): a prepared blob. */
  image?: { hash: string; mediaType: string; width: number; height: number } | undefined
  truncated?: boolean | undefined
  exec?: ExecView | undefined
}

/** What a reply about an exec session says as data. */
export type ExecView = {
  id: string
  state: 'running' | 'stopping' | 'ended'
  elapsedMs: number
  remainingMs: number | null
  omitted: number
  matched?: boolean | undefined
}

export type ToolResult = {
  /** What the model reads; already within the tool's own cap. */
  text: string
  isError: boolean
  code?: ErrorCode | undefined
  /** At most 4,000 characters, for the card, search and export (T-76). */
  summary?: string | undefined
  view?: ToolView | undefined
  changes?: FileChange[] | undefined
  /** The exec session whose end this tells the agent. */
  toldEndOf?: string | undefined
  /** Called once the result is recorded: what it gave is not given again. */
  recorded?: (() => void) | undefined
  /** Set when the result ends the turn's wait on a person (ask_person). */
  questionId?: string | undefined
}

export type ToolProgress = { message: string; done?: number | undefined; total?: number | undefined }

/** What the agent asks of a person (T-147); a secret is answered in memory only. */
export type Question = {
  ask: 'choice' | 'text' | 'secret'
  text: string
  choices: Choice[]
  multiple: boolean
  allowText: boolean
}
export type QuestionAnswer =
  | { answer: { choices: string[]; text: string | null; secret: string | null } }
  | { noAnswer: 'declined' | 'blank' | 'expired' | 'unattended' | 'cancelled' }

/** Everything a call may use; nothing is global (T-7). */
export type ToolContext = {
  sessionId: string
  turnId: string
  callId: string
  /** Of a subagent: whose it is (C-95). */
  parent?: Parent | undefined
  workspace: string
  extraFolders: readonly ExtraFolder[]
  signal: AbortSignal
  /** Live output for the card; bounded and coalesced by the caller. */
  output(text: string, stream?: 'stdout' | 'stderr'): void
  progress(progress: ToolProgress): void
  /** Waits for the person; resolves `cancelled` when the turn is stopped meanwhile. */
  ask(question: Question): Promise<QuestionAnswer>
  /** Replaces the turn's plan (T-83). */
  setPlan(plan: Plan): void
}

// A registry holds tools of every input, so the parameter must be bivariant here.
// oxlint-disable-next-line typescript/no-explicit-any
export type Tool<Input = any> = {
  name: string
  description: string
  input: z.ZodType<Input>
  /** Other names models know for fields; where both are given the name wins. */
  aliases?: Readonly<Record<string, string>>
  /** Short title of a call for its card, at most 80 characters. */
  title(input: Input): string
  /** May run beside neighbouring calls that say the same. */
  concurrent: boolean
  /** Has a queue of its own: any number of neighbouring calls begins at once. */
  queues?: boolean
  /** The same call would bring the result again, so it may leave the model's context for its size (C-50). */
  reproducible?: boolean
  /** Milliseconds; null where the tool has a limit of its own. Default 120,000. */
  timeLimitMs?: number | null
  /** Characters the model gets at most. Default 16,000. */
  resultCap?: number
  /** What a look-up asks for: asked a third time in a turn it brings nothing new and does not run. */
  lookup?(input: Input): string
  /** Looks, touches nothing, never throws but LatheError (a refusal that goes to the model as this call's result). */
  plan(input: Input, context: ToolContext): Promise<CallPlan>
  /** Throws LatheError for a tool error; any other throw is `tool.failed`. */
  run(input: Input, context: ToolContext): Promise<ToolResult>
}

/** The part of JSON Schema that casting looks at. */
export type ToolSpecSchema = {
  type?: string | string[]
  properties?: Record<string, ToolSpecSchema>
  required?: string[]
  items?: ToolSpecSchema
  anyOf?: ToolSpecSchema[]
  [more: string]: unknown
}

/** A tool error as the model's answer. */
export function toolFailure(error: LatheError): ToolResult {
  return {
    text: error.hint ? `${error.message}\n${error.hint}` : error.message,
    isError: true,
    code: error.code,
    summary: error.message,
  }
}
