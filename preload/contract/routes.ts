/**
 * Everything a client can ask of the workbench: one schema per request and reply (design, "The contract"), a file a subject.
 * Reviewing these files is reviewing the exposure; the handler table in main/transport is typed from this one.
 */
import { changeRoutes } from './change-routes.ts'
import { fileRoutes } from './file-routes.ts'
import { modelRoutes } from './model-routes.ts'
import { pendingRoutes } from './pending-routes.ts'
import { sessionListRoutes } from './session-list-routes.ts'
import { sessionRoutes } from './session-routes.ts'
import { storageRoutes } from './storage-routes.ts'
import { terminalRoutes } from './terminal-routes.ts'
import { workbenchRoutes } from './workbench-routes.ts'

export const contract = {
  ...workbenchRoutes,
  ...storageRoutes,
  ...sessionListRoutes,
  ...sessionRoutes,
  ...pendingRoutes,
  ...changeRoutes,
  ...fileRoutes,
  ...modelRoutes,
  ...terminalRoutes,
}
export type Contract = typeof contract
