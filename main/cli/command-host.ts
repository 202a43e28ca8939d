/** The workbench a command asks, in this process or in its owner's; opened by the front door. */
import type { ClientContext, Handlers } from '../transport/handlers.ts'

export type CommandHost = {
  handlers: Handlers
  owns: boolean
  ended: AbortSignal
  announce(): Promise<void>
  /** Resolves once no other process is attached to this one. */
  alone(): Promise<void>
  close(): Promise<void>
}

export type OpenHost = (asked: {
  attendance: ClientContext['attendance']
  signal?: AbortSignal
}) => Promise<CommandHost>
