/** One step of the schema. A released one is never edited: a later one changes what it made. */
export type Migration = { version: number; sql: string }
