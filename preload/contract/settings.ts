/** Settings a person changes in the window (S-123), each with its range and default; unknown keys are refused. */
import { z } from 'zod'
import { ApprovalMode } from './session.ts'

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
  'exec.enabled': z.boolean(),
  'exec.shell': z.string().nullable(),
  'tools.parallel': z.boolean(),
  'terminal.scrollback': z.number().int().min(100).max(50_000),
  'terminal.clipboardWrite': z.boolean(),
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
  'exec.enabled': true,
  'exec.shell': null,
  'tools.parallel': true,
  'terminal.scrollback': 5_000,
  'terminal.clipboardWrite': false,
  'notifications.enabled': true,
  'notifications.preview': false,
  'app.lastWindow': 'auto',
  'app.keepAwake': false,
  'updates.check': null,
  'app.theme': 'system',
  'app.zoom': 100,
  keys: {},
}
