import type { ApprovalMode } from '../../preload/contract/session.ts'

/** The modes in words, from the strictest on. */
export const approvalModes: Record<ApprovalMode, { label: string; detail: string }> = {
  'read-only': { label: 'Read only', detail: 'Reads and searches; changes and commands are refused.' },
  ask: { label: 'Ask first', detail: 'Asks before each change and each command no rule allows.' },
  edits: { label: 'Allow edits', detail: 'Edits files in the workspace freely; asks for commands.' },
  all: { label: 'Allow everything', detail: 'Asks for nothing. What your rules deny stays denied.' },
}
