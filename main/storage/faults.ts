/** Faults that tests inject into the worker's commits; the product starts the worker without. */

const failing = 0
const stalled = 1

/** The next `failCommits` commits fail as on a full disk; while `stall` holds, no commit finishes. */
export type Faults = {
  readonly shared: SharedArrayBuffer
  failCommits(count: number): void
  stall(): void
  release(): void
}

export function createFaults(): Faults {
  const shared = new SharedArrayBuffer(8)
  const cells = new Int32Array(shared)
  return {
    shared,
    failCommits: (count) => void Atomics.store(cells, failing, count),
    stall: () => void Atomics.store(cells, stalled, 1),
    release() {
      Atomics.store(cells, stalled, 0)
      Atomics.notify(cells, stalled)
    },
  }
}

/** The worker's side: `takeFailure` says whether this commit is one that fails, `wait` returns once nothing stalls. */
export function followFaults(shared: SharedArrayBuffer): { takeFailure(): boolean; wait(): void } {
  const cells = new Int32Array(shared)
  return {
    takeFailure: () => Atomics.load(cells, failing) > 0 && Atomics.sub(cells, failing, 1) > 0,
    wait: () => void Atomics.wait(cells, stalled, 1),
  }
}
