/** How often a property is tried: `LATHE_RUNS=50` makes it fifty times as often, for a long night. */
export function runs(usual: number): number {
  return usual * Number(process.env['LATHE_RUNS'] ?? 1)
}
