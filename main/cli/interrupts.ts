/** Ctrl+C and the polite kill: the first asks for an end that settles everything, the second ends at once (S-129). */
export type Interrupts = {
  /** Fires with the first signal. */
  readonly signal: AbortSignal
  /** As if the person had pressed Ctrl+C, for where the terminal was reading a line. */
  interrupt(): void
  dispose(): void
}

const stopped = 130

export function listenForInterrupts(): Interrupts {
  const first = new AbortController()
  const interrupt = (): void => {
    if (first.signal.aborted) process.exit(stopped)
    first.abort()
  }
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, interrupt)
  return {
    signal: first.signal,
    interrupt,
    dispose() {
      for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, interrupt)
    },
  }
}
