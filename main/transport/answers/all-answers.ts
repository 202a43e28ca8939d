/** What a workbench answers to every route of the contract; each group of routes names the services it speaks to. */
import type { Handlers } from '../handlers.ts'
import { attachmentAnswers, type AttachmentServices } from './attachment-answers.ts'
import { changeAnswers, type ChangeServices } from './change-answers.ts'
import { decisionAnswers, type DecisionServices } from './decision-answers.ts'
import { fileAnswers, type FileServices } from './file-answers.ts'
import { hostAnswers, type HostServices } from './host-answers.ts'
import { listAnswers, type ListServices } from './list-answers.ts'
import { messageAnswers, type MessageServices } from './message-answers.ts'
import { modelAnswers, type ModelServices } from './model-answers.ts'
import { processAnswers, type ProcessServices } from './process-answers.ts'
import { sessionAnswers, type SessionServices } from './session-answers.ts'
import { workbenchAnswers, type WorkbenchServices } from './workbench-answers.ts'

export type Services = AttachmentServices &
  ChangeServices &
  DecisionServices &
  HostServices &
  ListServices &
  MessageServices &
  ModelServices &
  ProcessServices &
  SessionServices &
  WorkbenchServices & { files: FileServices }

export function allAnswers(services: Services): Handlers {
  return {
    ...hostAnswers(services),
    ...workbenchAnswers(services),
    ...modelAnswers(services),
    ...listAnswers(services),
    ...sessionAnswers(services),
    ...messageAnswers(services),
    ...decisionAnswers(services),
    ...attachmentAnswers(services),
    ...processAnswers(services),
    ...fileAnswers(services.files),
    ...changeAnswers(services),
  }
}
