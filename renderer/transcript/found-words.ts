/** Marks words in what is on screen (S-69, S-98), by ranges of the browser's own: no element is changed for it. */

const name = 'found'

/** Marks every place below `root` that holds one of `words`; nothing where the browser cannot. */
export function markWords(root: HTMLElement, words: readonly string[]): void {
  if (!('highlights' in CSS)) return
  const wanted = words.map((word) => word.toLowerCase()).filter((word) => word !== '')
  if (wanted.length === 0) return unmarkWords()
  const ranges: Range[] = []
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.textContent?.toLowerCase() ?? ''
    for (const word of wanted) {
      for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
        const range = new Range()
        range.setStart(node, at)
        range.setEnd(node, at + word.length)
        ranges.push(range)
      }
    }
  }
  CSS.highlights.set(name, new Highlight(...ranges))
}

export function unmarkWords(): void {
  if ('highlights' in CSS) CSS.highlights.delete(name)
}
