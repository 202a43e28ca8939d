/** Work at most once a frame. A hidden tab has no frames, so there a timer keeps the queue from growing. */

const hiddenMs = 250

export type Frames = {
  /** Asks for one run; further asks before it are the same one. */
  request(): void
  /** Runs now if asked for. */
  flush(): void
  cancel(): void
}

export function createFrames(run: () => void): Frames {
  let frame: number | null = null
  let timer: ReturnType<typeof setTimeout> | null = null

  function cancel(): void {
    if (frame !== null) cancelAnimationFrame(frame)
    if (timer !== null) clearTimeout(timer)
    frame = timer = null
  }
  function fire(): void {
    cancel()
    run()
  }
  return {
    request() {
      if (frame !== null || timer !== null) return
      // Both: a tab may be hidden between asking and the frame.
      if (!document.hidden) frame = requestAnimationFrame(fire)
      timer = setTimeout(fire, hiddenMs)
    },
    flush() {
      if (frame !== null || timer !== null) fire()
    },
    cancel,
  }
}
