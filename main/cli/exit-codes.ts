/** Exit codes (design, "Stable names"). */
export const exitCodes = { completed: 0, failed: 1, wrongUsage: 2, personNeeded: 3, stopped: 130 } as const
