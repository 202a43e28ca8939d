/** Lines of a document: one source for reading, searching and previews, so that numbers and places agree (F-401). */

export type DocumentLine = {
  text: string
  /** Where it stands: `page=3,line=7`, `sheet='Name',row=4`, `slide=2,line=1`, `paragraph=9`; null of what only separates. */
  locator: string | null
}

/** A heading or a blank line between others: it is shown and never matches a search (F-408). */
export function separator(text: string): DocumentLine {
  return { text, locator: null }
}

/** The place of a hit: in a sheet the cell too, by the tabs before it (F-817). */
export function placeOfHit({ text, locator }: DocumentLine, at: number): string {
  const row = /^sheet=.*,row=(\d+)$/.exec(locator ?? '')?.[1]
  if (row === undefined) return locator ?? ''
  const column = text.slice(0, at).split('\t').length
  return `${locator} ${lettersOf(column)}${row}`
}

/** Of a name in a locator; quotes are doubled as in a formula. */
export function quoted(name: string): string {
  return `'${name.replaceAll("'", "''")}'`
}

/** 1 is A, 27 is AA. */
function lettersOf(column: number): string {
  let letters = ''
  for (let left = column; left > 0; left = Math.floor((left - 1) / 26))
    letters = String.fromCharCode(65 + ((left - 1) % 26)) + letters
  return letters
}
