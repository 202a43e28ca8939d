/** One value to many readers, each with a bounded queue in which a newer value of the same thing replaces the older. */
export class Broadcast<T> {
  private readonly readers = new Set<(value: T) => void>()
  private readonly streams = new Set<AbortSignal>()
  private readonly keyOf: (value: T) => string
  private readonly inPlaceOf: (value: T) => T
  private readonly most: number

  /**
   * `keyOf` names what a value is about, `inPlaceOf` answers what stands for one that replaces another; `most` values wait
   * for a slow reader, then its oldest go.
   */
  constructor(keyOf: (value: T) => string, inPlaceOf: (value: T) => T = (value) => value, most = 2_000) {
    this.keyOf = keyOf
    this.inPlaceOf = inPlaceOf
    this.most = most
  }

  /** Somebody reads: a window, a tab. */
  get isRead(): boolean {
    return this.streams.size > 0
  }

  send(value: T): void {
    for (const reader of this.readers) reader(value)
  }

  /** Hears every value at once, until the returned function is called. */
  listen(reader: (value: T) => void): () => void {
    this.readers.add(reader)
    return () => this.readers.delete(reader)
  }

  /** Values from the call on, until `signal` aborts. */
  read(signal: AbortSignal): AsyncIterable<T> {
    const waiting = new Map<string, T>()
    let wake: (() => void) | null = null
    const stop = this.listen((value) => {
      const key = this.keyOf(value)
      const replaces = waiting.delete(key)
      waiting.set(key, replaces ? this.inPlaceOf(value) : value)
      if (waiting.size > this.most) waiting.delete(waiting.keys().next().value!)
      wake?.()
    })
    this.streams.add(signal)
    const end = () => {
      stop()
      this.streams.delete(signal)
      wake?.()
    }
    signal.addEventListener('abort', end, { once: true })
    async function* values() {
      try {
        while (!signal.aborted) {
          const next = waiting.entries().next()
          if (!next.done) {
            waiting.delete(next.value[0])
            yield next.value[1]
            continue
          }
          await new Promise<void>((resolve) => {
            wake = resolve
          })
          wake = null
        }
      } finally {
        end()
        signal.removeEventListener('abort', end)
      }
    }
    return values()
  }
}

/** What `told` says and what `more` says meanwhile, each in its order; ends with `told`. */
export async function* joined<T>(
  told: AsyncIterable<T>,
  more: (signal: AbortSignal) => AsyncIterable<T>,
): AsyncGenerator<T> {
  const ending = new AbortController()
  const sources = [told, more(ending.signal)].map((source) => source[Symbol.asyncIterator]())
  // At most one of each source. Racing their promises would leave something behind on the quiet one with every value.
  const arrived: { source: AsyncIterator<T>; next: Promise<IteratorResult<T>> }[] = []
  let arrival = Promise.withResolvers<void>()
  const take = (source: AsyncIterator<T>): void => {
    const next = source.next()
    const tell = (): void => {
      arrived.push({ source, next })
      arrival.resolve()
    }
    next.then(tell, tell)
  }
  for (const source of sources) take(source)
  try {
    for (;;) {
      await arrival.promise
      arrival = Promise.withResolvers()
      for (const { source, next } of arrived.splice(0)) {
        const { done, value } = await next
        if (done) return
        take(source)
        yield value
      }
    }
  } finally {
    ending.abort()
    await sources[0]!.return?.()
  }
}
