/** Agents a person chooses for a session: Markdown files with front matter (sessions.md 2). Nobody chosen is the built-in one. */
import { z } from 'zod'
import { ApprovalMode } from './session.ts'

/** What the built-in agent is called where one is chosen; no file has this name. */
export const builtInAgent = 'built-in'

/** One there is, as lists show it. Its instructions are what its file says. */
export const AgentEntry = z.object({
  name: z.string(),
  description: z.string(),
  /** Whose it is: the person's, for every folder, or the workspace's. */
  origin: z.enum(['person', 'workspace']),
  /** Its file; `place` is what that is called in the workspace. */
  path: z.string(),
  place: z.string().nullable(),
  /** What it asks for; null leaves the session's. */
  model: z.string().nullable(),
  effort: z.string().nullable(),
  /** The widest mode its turns work in. */
  mode: ApprovalMode.nullable(),
  /** The only tools it is offered; null for all. */
  tools: z.array(z.string()).nullable(),
  /** Why it cannot be used; a sentence. */
  problem: z.string().nullable(),
})
export type AgentEntry = z.infer<typeof AgentEntry>
