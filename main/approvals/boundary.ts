/** What the agent is told that keeps running into the boundary of the workspace (X-711): the third time, to stop trying. */

const plainTimes = 2

/** Counts with the time now; `target` is what the call was about. */
export function boundaryRefusal(message: string, times: number): { message: string; escalated: boolean } {
  if (times <= plainTimes) return { message, escalated: false }
  return {
    message: `${message} This is the ${times === 3 ? 'third' : `${times}th`} time. Do not try it another way or with another tool: ask the person, or go on without it.`,
    escalated: true,
  }
}

export function isBoundaryCode(code: string | undefined): boolean {
  return code?.startsWith('path.') === true
}

/** What a call is about, as far as the boundary is concerned. */
export function boundaryTarget(args: unknown): string {
  if (typeof args !== 'object' || args === null) return ''
  const { path, working_dir: folder, command } = args as Record<string, unknown>
  return [path, command, folder].find((one): one is string => typeof one === 'string') ?? ''
}
