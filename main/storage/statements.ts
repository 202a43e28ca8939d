import type { Database, Statement } from 'better-sqlite3'

/** Prepared statements by their text, each compiled at its first use and kept. `Row` names the columns the text selects. */
export type Statements = <Row = unknown>(text: string) => Statement<unknown[], Row>

export function keepStatements(db: Database): Statements {
  const kept = new Map<string, Statement<unknown[], unknown>>()
  return <Row>(text: string) => {
    const known = kept.get(text) ?? db.prepare<unknown[], unknown>(text)
    kept.set(text, known)
    return known as Statement<unknown[], Row>
  }
}
