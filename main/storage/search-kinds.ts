/** What can be found, with the weight of a match in it (S-97); the order is that of the index's columns. */
export const searchWeights = { title: 5, user: 2, text: 1.5, tool: 0.5, reasoning: 0.5 }

export type SearchKind = keyof typeof searchWeights

export const searchKinds = Object.keys(searchWeights) as SearchKind[]

export function isSearchable(itemKind: string): boolean {
  return itemKind !== 'title' && searchKinds.includes(itemKind as SearchKind)
}
