/** Settings a person changes in the window (S-123), each with its range and default; unknown keys are refused. */
import { z } from 'zod'
import { ApprovalMode } from './session.ts'

export const profileIcons = ['terminal', 'box', 'cloud', 'database', 'flask', 'server', 'wrench'] as const

/** A way to start a terminal. */
export const TerminalProfile = z.object({
  name: z.string().trim().min(1).max(40),
  /** A path, or a name that is looked for on PATH. */
  program: z.string().trim().min(1).max(1_000),
  args: z.array(z.string().max(4_096)).max(50),
  env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string().max(32_768)),
  icon: z.enum(profileIcons),
})
export type TerminalProfile = z.infer<typeof TerminalProfile>

export const Settings = z.object({
  model: z.string().nullable(),
  effort: z.string().nullable(),
  approvalMode: ApprovalMode,
  'composer.whileRunning': z.enum(['steer', 'queue']),
  'composer.tabQueues': z.boolean(),
  'composer.enterSends': z.boolean(),
  'transcript.foldOver': z.number().int().min(1).max(100),
  'transcript.foldReasoning': z.boolean(),
  'titles.auto': z.boolean(),
  'queue.pauseOnFailure': z.boolean(),
  'questions.timeoutSeconds': z.number().int().min(0).max(86_400),
  'turns.maxConcurrent': z.number().int().min(1).max(8),
  'turns.maxSteps': z.number().int().min(1).max(1_000),
  'turns.maxStepsBackground': z.number().int().min(1).max(1_000),
  /** Subagents of one session that run at once, how deep they may have their own, and steps of each (C-95, C-96, C-98). */
  'subagents.max': z.number().int().min(1).max(8),
  'subagents.depth': z.number().int().min(1).max(3),
  'subagents.maxSteps': z.number().int().min(1).max(200),
  'automations.maxConcurrent': z.number().int().min(1).max(8),
  /** Minutes an approval or question of a background turn waits; 0 does not wait. */
  'automations.answerMinutes': z.number().int().min(0).max(1_440),
  /** Shares of what one request may hold: summarised before a turn, after it, and what stays whole (C-45). */
  'compaction.compactAt': z.number().min(0.5).max(0.95),
  'compaction.compactAfter': z.number().min(0.2).max(0.9),
  'compaction.retain': z.number().min(0.1).max(0.7),
  'exec.enabled': z.boolean(),
  'exec.shell': z.string().nullable(),
  'tools.parallel': z.boolean(),
  'terminal.scrollback': z.number().int().min(100).max(50_000),
  'terminal.clipboardWrite': z.boolean(),
  /** Pixels at 100 % zoom. */
  'terminal.fontSize': z.number().min(6).max(40),
  /** Shells mark prompts, commands and output; for terminals opened from now on. */
  'terminal.shellIntegration': z.boolean(),
  /** New output is offered as text to a screen reader. */
  'terminal.screenReader': z.boolean(),
  'terminal.profiles': z.array(TerminalProfile).max(20),
  /** Name of the profile new terminals start with; null: the person's own shell. */
  'terminal.profile': z.string().max(40).nullable(),
  'notifications.enabled': z.boolean(),
  'notifications.preview': z.boolean(),
  'app.lastWindow': z.enum(['auto', 'quit', 'stay']),
  /** The machine does not fall asleep by itself while a turn runs (desktop). */
  'app.keepAwake': z.boolean(),
  /** Whether newer versions are looked for (desktop); null until the person was asked (Z-231). */
  'updates.check': z.boolean().nullable(),
  'app.theme': z.enum(['system', 'light', 'dark', 'contrast']),
  'app.zoom': z.number().min(50).max(300),
  keys: z.record(z.string(), z.string().nullable()),
})
export type Settings = z.infer<typeof Settings>

export const defaultSettings: Settings = {
  model: null,
  effort: null,
  approvalMode: 'ask',
  'composer.whileRunning': 'steer',
  'composer.tabQueues': true,
  'composer.enterSends': true,
  'transcript.foldOver': 5,
  'transcript.foldReasoning': true,
  'titles.auto': true,
  'queue.pauseOnFailure': true,
  'questions.timeoutSeconds': 0,
  'turns.maxConcurrent': 8,
  'turns.maxSteps': 200,
  'turns.maxStepsBackground': 50,
  'subagents.max': 4,
  'subagents.depth': 1,
  'subagents.maxSteps': 100,
  'automations.maxConcurrent': 2,
  'automations.answerMinutes': 30,
  'compaction.compactAt': 0.9,
  'compaction.compactAfter': 0.8,
  'compaction.retain': 0.5,
  'exec.enabled': true,
  'exec.shell': null,
  'tools.parallel': true,
  'terminal.scrollback': 5_000,
  'terminal.clipboardWrite': false,
  'terminal.fontSize': 12.5,
  'terminal.shellIntegration': true,
  'terminal.screenReader': false,
  'terminal.profiles': [],
  'terminal.profile': null,
  'notifications.enabled': true,
  'notifications.preview': false,
  'app.lastWindow': 'auto',
  'app.keepAwake': false,
  'updates.check': null,
  'app.theme': 'system',
  'app.zoom': 100,
  keys: {},
}
