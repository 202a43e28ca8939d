/** Their text is what is used: they run in a page. */
export function isolatedWorld(config: { secret: string }, preload: unknown): void
export function mainWorld(config: { secret: string }): void
